// Makes a message and sends it, and says what became of it.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { session, useStore } from '../app';
import type { SendReport, TypedProperty } from '../amqp/protocol';
import { EMPTY, sendingSaid, sendOrder, type BodyKind, type PropertyText, type SendTexts, type Wrong as Wrongs } from '../model/message';
import { MessageField, useLeadToWrong, Wrong } from './message-field';
import { Badge, Select } from './parts';

const KINDS: { value: BodyKind; label: string }[] = [
  { value: 'text', label: 'text (AMQP string)' },
  { value: 'json', label: 'JSON (AMQP map, list or value)' },
  { value: 'utf8', label: 'text (bytes, UTF-8)' },
  { value: 'hex', label: 'bytes (hexadecimal)' },
];
const TYPES: TypedProperty['type'][] = ['string', 'boolean', 'int', 'long', 'double', 'timestamp'];
const HINTS: Readonly<Record<BodyKind, string>> = { text: '', json: '{"key": "value"}', utf8: '', hex: '00 ff 10' };

/** What was typed stays while one looks at other pages. */
let kept: SendTexts = EMPTY;

export function SendForm({ address }: { address: string }) {
  const state = useStore(session.state);
  const [texts, setTexts] = useState<SendTexts>(kept);
  const [wrong, setWrong] = useState<Wrongs>({});
  const form = useLeadToWrong(wrong);
  const [report, setReport] = useState<{ now: SendReport; wanted: number; address: string } | null>(null);
  const stop = useRef<(() => void) | null>(null);
  useEffect(() => () => stop.current?.(), []);
  const set = (change: Partial<SendTexts>) => {
    kept = { ...kept, ...change };
    setTexts(kept);
  };
  const busy = report !== null && report.now.phase !== 'over';
  const send = (event: Event) => {
    event.preventDefault();
    const made = sendOrder({ ...texts, address });
    setWrong('wrong' in made ? made.wrong : {});
    if ('wrong' in made) return;
    const { order } = made;
    stop.current = session.client.send(order, (now) => setReport({ now, wanted: order.count, address: order.address }));
  };
  const field = (name: keyof SendTexts & string, label: string, more: { numeric?: boolean; placeholder?: string; lines?: number } = {}) => (
    <MessageField label={label} value={String(texts[name])} set={(text) => set({ [name]: text })} wrong={wrong[name]} {...more} />
  );
  return (
    <form ref={form} class="message-form" onSubmit={send} noValidate aria-label="Send">
      <h2>Send</h2>
      <div role="alert"><Wrong text={wrong['address']} /></div>
      <Select label="Body" value={texts.kind} options={KINDS} onChange={(kind) => set({ kind: kind as BodyKind })} />
      {field('body', 'Body text', { lines: 6, placeholder: HINTS[texts.kind] })}
      <fieldset>
        <legend>Properties</legend>
        <div class="message-grid">
          {field('messageId', 'Message id')}
          {field('subject', 'Subject')}
          {field('replyTo', 'Reply to')}
          {field('correlationId', 'Correlation id')}
          {field('contentType', 'Content type', { placeholder: 'such as text/plain' })}
          {field('ttl', 'Time to live, ms', { numeric: true, placeholder: 'for ever' })}
          {field('priority', 'Priority', { numeric: true, placeholder: '0 to 9; default: 4' })}
          <label class="toggle"><input type="checkbox" checked={texts.durable} onChange={(event) => set({ durable: event.currentTarget.checked })} />Durable</label>
        </div>
      </fieldset>
      <ApplicationProperties all={texts.application} wrong={wrong} set={(application) => set({ application })} />
      <footer>
        {field('count', 'How many', { numeric: true })}
        <button type="submit" class="primary" disabled={busy || state.phase !== 'open'}>Send</button>
        {busy && <button type="button" onClick={() => stop.current?.()}>Stop sending</button>}
      </footer>
      <div role="status" class="message-result">{report && <Said {...report} />}</div>
    </form>
  );
}

function Said({ now, wanted, address }: { now: SendReport; wanted: number; address: string }) {
  const { tone, text } = sendingSaid(now, wanted);
  return (
    <>
      <p><Badge tone={tone}><span><span class="note">{address}: </span>{text}</span></Badge></p>
      {now.reasons.length > 0 && <ul>{now.reasons.map((reason) => <li key={reason}>{reason}</li>)}</ul>}
    </>
  );
}

function ApplicationProperties({ all, wrong, set }: { all: readonly PropertyText[]; wrong: Wrongs; set(all: readonly PropertyText[]): void }) {
  const list = useRef<HTMLFieldSetElement>(null);
  const change = (index: number, part: Partial<PropertyText>) => set(all.map((each, place) => (place === index ? { ...each, ...part } : each)));
  const shown = useRef(all.length);
  // Where one types next. With the rendering, not after it: a key pressed at once would go nowhere.
  useLayoutEffect(() => {
    if (all.length > shown.current) list.current?.querySelector<HTMLInputElement>('.application-property:last-of-type input')?.focus();
    shown.current = all.length;
  }, [all.length]);
  const add = () => set([...all, { name: '', type: 'string', value: '' }]);
  return (
    <fieldset ref={list}>
      <legend>Application properties</legend>
      {all.map(({ name, type, value }, index) => (
        <div key={index} class="application-property">
          <input type="text" aria-label={`Name of property ${index + 1}`} placeholder="name" value={name} autocomplete="off" spellcheck={false} aria-invalid={wrong[`application.${index}`] ? true : undefined} onInput={(event) => change(index, { name: event.currentTarget.value })} />
          <select aria-label={`Type of property ${index + 1}`} value={type} onChange={(event) => change(index, { type: event.currentTarget.value as PropertyText['type'] })}>
            {TYPES.map((each) => <option key={each} value={each} selected={each === type}>{each}</option>)}
          </select>
          <input type="text" aria-label={`Value of property ${index + 1}`} placeholder="value" value={value} autocomplete="off" spellcheck={false} onInput={(event) => change(index, { value: event.currentTarget.value })} />
          <button type="button" class="icon" aria-label={`Remove property ${index + 1}`} onClick={() => set(all.filter((_, place) => place !== index))}>✕</button>
          <Wrong text={wrong[`application.${index}`]} />
        </div>
      ))}
      <button type="button" onClick={add}>Add property</button>
    </fieldset>
  );
}
