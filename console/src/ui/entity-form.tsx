// Creating, changing and deleting any entity, by forms that are made from the schema.
import { useId, useMemo, useState } from 'preact/hooks';
import { session, useEntities, type View } from '../app';
import type { Item } from '../model/items';
import { fields, submit, typed, type Errors, type Field, type Texts } from '../model/form';
import type { RouterNode } from '../model/network';
import * as operations from '../model/operations';
import type { EntityType } from '../model/schema';
import { Dialog, Select } from './parts';

const EVERYWHERE = '*';

interface Result {
  router: string;
  text: string;
}

/** Asks several routers in turn for the same; resolves with what went wrong where. */
async function onEach(routers: readonly RouterNode[], act: (router: RouterNode) => Promise<unknown>): Promise<Result[]> {
  const failed: Result[] = [];
  for (const router of routers) {
    try {
      await act(router);
    } catch (error) {
      failed.push({ router: router.id, text: (error as Error).message });
    }
  }
  return failed;
}

function Problems({ results }: { results: readonly Result[] }) {
  return (
    <div role="alert">
      {results.map(({ router, text }) => (
        <p key={router} class="message bad">■ {router}: {text}</p>
      ))}
    </div>
  );
}

export function CreateDialog({ type, routers, views, onClose }: { type: EntityType; routers: readonly RouterNode[]; views: readonly View[]; onClose(): void }) {
  const own = routers.find((router) => router.own) ?? routers[0];
  const [where, setWhere] = useState(own?.id ?? '');
  const options = [...routers.map(({ id }) => ({ value: id, label: id })), ...(routers.length > 1 ? [{ value: EVERYWHERE, label: `each of ${routers.length} routers` }] : [])];
  const chosen = routers.filter(({ id }) => where === EVERYWHERE || id === where);
  const send = async (attributes: operations.Row) => {
    const failed = await onEach(chosen, (router) => operations.create(session.client, router.address, type.full, attributes));
    if (failed.length < chosen.length) session.notify('good', `Created ${type.short}${attributes['name'] ? ` ${attributes['name']}` : ''} on ${where === EVERYWHERE ? `${chosen.length - failed.length} routers` : where}.`);
    return failed;
  };
  return (
    <Dialog title={`Create ${type.short}`} onClose={onClose}>
      <p class="note">{type.description}</p>
      {routers.length > 1 && <Select label="On" value={where} options={options} onChange={setWhere} />}
      <Form type={type} purpose="create" router={chosen[0]} original={null} action="Create" send={send} done={() => finish(views, onClose)} onClose={onClose} />
    </Dialog>
  );
}

export function UpdateDialog({ type, item, onClose }: { type: EntityType; item: Item; onClose(): void }) {
  const send = async (attributes: operations.Row) => {
    const failed = await onEach([item.router], (router) => operations.update(session.client, router.address, type.full, item.identity, attributes));
    if (!failed.length) session.notify('good', `Changed ${type.short} ${item.row['name'] ?? item.identity} on ${item.router.id}.`);
    return failed;
  };
  return (
    <Dialog title={`Change ${type.short} ${String(item.row['name'] ?? item.identity)}`} onClose={onClose}>
      <p class="note">On router {item.router.id}. What is not listed here cannot be changed while the router runs.</p>
      <Form type={type} purpose="update" router={item.router} original={item.row} action="Save" send={send} done={() => finish([item], onClose)} onClose={onClose} />
    </Dialog>
  );
}

export function DeleteDialog({ type, item, onClose }: { type: EntityType; item: Item; onClose(): void }) {
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState<Result[]>([]);
  const [force, setForce] = useState(false);
  const name = String(item.row['name'] ?? item.identity);
  const lasting = LASTING.includes(type.short);
  const act = async () => {
    setBusy(true);
    const results = await onEach([item.router], (router) => operations.remove(session.client, router.address, type.full, item.identity, force));
    setBusy(false);
    setFailed(results);
    if (results.length) return;
    session.notify('good', `Deleted ${type.short} ${name} on ${item.router.id}.`);
    finish([item], onClose);
  };
  return (
    <Dialog title={`Delete ${type.short}?`} onClose={onClose}>
      <p>Delete <b>{name}</b> on router <b>{item.router.id}</b>? {CONSEQUENCES[type.short] ?? ''} {!lasting && 'This lasts until the router starts again with its configuration file.'}</p>
      {lasting && (
        <label class="toggle">
          <input type="checkbox" checked={force} onChange={() => setForce(!force)} />
          even if it has messages, which are lost, or consumers, which are detached
        </label>
      )}
      <Problems results={failed} />
      <footer>
        <button type="button" onClick={onClose}>Cancel</button>
        <button type="button" class="danger" disabled={busy} onClick={act}>Delete</button>
      </footer>
    </Dialog>
  );
}

/** What is deleted from the disk as well. */
const LASTING: readonly string[] = ['queue', 'topic'];

const CONSEQUENCES: Readonly<Record<string, string>> = {
  listener: 'No new connections will be taken; those that are open stay.',
  connector: 'Its connection will be closed.',
  autoLink: 'Its link will be closed.',
  linkRoute: 'Links that it routes stay until they are closed.',
};

function finish(views: readonly { source: View['source'] }[], onClose: () => void) {
  for (const { source } of views) session.poller.refresh(source.node, source.type);
  onClose();
}

interface FormProperties {
  type: EntityType;
  purpose: 'create' | 'update';
  router: RouterNode | undefined;
  original: operations.Row | null;
  action: string;
  send(attributes: operations.Row): Promise<Result[]>;
  done(): void;
  onClose(): void;
}

function Form({ type, purpose, router, original, action, send, done, onClose }: FormProperties) {
  const asked = useMemo(() => fields(type, purpose), [type, purpose]);
  const [texts, setTexts] = useState<Texts>(() => Object.fromEntries(asked.map(({ attribute }) => [attribute.name, original ? typed(original[attribute.name]) : ''])));
  const [errors, setErrors] = useState<Errors>({});
  const [failed, setFailed] = useState<Result[]>([]);
  const [busy, setBusy] = useState(false);
  const seldom = asked.filter(({ attribute }) => attribute.deprecated);

  const act = async (event: Event) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const { attributes, errors: wrong } = submit(asked, texts, original);
    setErrors(wrong);
    const first = Object.keys(wrong)[0];
    if (first) {
      form.querySelector<HTMLElement>(`[name="${first}"]`)?.focus();
      return;
    }
    if (original && !Object.keys(attributes).length) return onClose();
    setBusy(true);
    const results = await send(attributes);
    setBusy(false);
    setFailed(results);
    if (!results.length) done();
  };
  const row = (field: Field) => (
    <Input
      key={field.attribute.name}
      field={field}
      router={router}
      text={texts[field.attribute.name] ?? ''}
      error={errors[field.attribute.name]}
      original={original !== null}
      onText={(text) => setTexts((all) => ({ ...all, [field.attribute.name]: text }))}
    />
  );
  return (
    <form class="entity-form" onSubmit={act} noValidate>
      <div class="fields">
        {asked.filter(({ attribute }) => !attribute.deprecated).map(row)}
        {seldom.length > 0 && (
          <details>
            <summary>{seldom.length} deprecated</summary>
            {seldom.map(row)}
          </details>
        )}
      </div>
      <Problems results={failed} />
      <footer>
        <button type="button" onClick={onClose}>Cancel</button>
        <button type="submit" class="primary" disabled={busy}>{action}</button>
      </footer>
    </form>
  );
}

interface InputProperties {
  field: Field;
  router: RouterNode | undefined;
  text: string;
  error: string | undefined;
  original: boolean;
  onText(text: string): void;
}

function Input({ field, router, text, error, original, onText }: InputProperties) {
  const { attribute, placeholder, secret, names } = field;
  const id = useId();
  // The whole description shows once the field has been gone to, and stays: what is below must not move away from under a click.
  const [visited, setVisited] = useState(false);
  const common = {
    id,
    name: attribute.name,
    'aria-required': attribute.required,
    'aria-invalid': error ? true : undefined,
    'aria-describedby': `${id}-help`,
  };
  const unset = original ? 'not set' : attribute.preset === null ? (attribute.required ? 'choose…' : 'not given') : `default: ${String(attribute.preset)}`;
  const words = attribute.type === 'boolean' ? ['true', 'false'] : attribute.type === 'enum' ? attribute.words : null;
  let control;
  if (words) {
    control = (
      <select {...common} value={text} onChange={(event) => onText(event.currentTarget.value)}>
        <option value="" selected={text === ''}>{unset}</option>
        {words.map((word) => <option key={word} value={word} selected={word === text}>{attribute.type === 'boolean' ? (word === 'true' ? 'yes' : 'no') : word}</option>)}
      </select>
    );
  } else if (['map', 'properties', 'list'].includes(attribute.type)) {
    control = <textarea {...common} rows={text.length > 60 ? 8 : 2} spellcheck={false} placeholder={attribute.type === 'list' ? '[ … ]' : '{ … }'} value={text} onInput={(event) => onText(event.currentTarget.value)} />;
  } else {
    const typing = { ...common, spellcheck: false, placeholder, value: text, onInput: (event: { currentTarget: HTMLInputElement }) => onText(event.currentTarget.value) };
    control = secret ? (
      <input {...typing} type="password" autocomplete="new-password" />
    ) : names ? (
      <input {...typing} type="text" autocomplete="off" list={`${id}-names`} />
    ) : (
      <input {...typing} type="text" autocomplete="off" inputMode={attribute.type === 'integer' ? 'numeric' : 'text'} />
    );
  }
  return (
    <div class={`field${error ? ' wrong' : ''}${visited ? ' visited' : ''}`} onFocusCapture={() => setVisited(true)}>
      <label for={id}>
        {attribute.name}
        {attribute.required && <span class="required"> required</span>}
        <span class="type">{attribute.type}</span>
      </label>
      <div>
        {control}
        {names && router && <Names id={`${id}-names`} router={router} short={names} />}
        <p id={`${id}-help`} class="help">{error && <b class="bad-text">{error} </b>}{attribute.description}</p>
      </div>
    </div>
  );
}

/** The names of entities that may be referred to. */
function Names({ id, router, short }: { id: string; router: RouterNode; short: string }) {
  const prefix = 'org.apache.qpid.dispatch.';
  const full = short === 'exchange' ? `${prefix}router.config.exchange` : prefix + short;
  const routers = useMemo(() => [router], [router]);
  const views = useEntities(routers, full, ['name'], 30_000);
  return (
    <datalist id={id}>
      {views[0]!.source.rows.map((row) => <option key={String(row['name'])} value={String(row['name'])} />)}
    </datalist>
  );
}
