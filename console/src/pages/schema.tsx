import { useMemo, useState } from 'preact/hooks';
import { useSchema, useScopedRouters } from '../app';
import { listed, type Attribute, type EntityType, type Schema } from '../model/schema';
import { href, useRoute } from '../route';
import { Page } from '../ui/parts';

/** What a router says about itself: its entity types, their attributes and operations. */
export function SchemaPage() {
  const routers = useScopedRouters();
  const router = routers.find(({ own }) => own) ?? routers[0];
  const { schema, error } = useSchema(router);
  const { argument } = useRoute();
  const [words, setWords] = useState('');
  const found = useMemo(() => (schema ? search(schema, words) : []), [schema, words]);
  if (!schema) return <Page title="Schema"><p class="empty">{error ?? 'Asking the router for its schema…'}</p></Page>;
  const type = schema.get(argument) ?? found[0] ?? [...schema.values()][0]!;
  const lists = listed(schema).some(({ short }) => short === type.short);
  return (
    <Page fill title="Schema" note={`${schema.size} entity types of router ${router?.id}`} tools={<input type="search" class="filter" aria-label="Filter types and attributes" placeholder="Filter types and attributes" value={words} onInput={(event) => setWords(event.currentTarget.value)} />}>
      <div class="schema">
        <ul class="type-list" aria-label="Entity types">
          {found.map((each) => (
            <li key={each.short}><a href={href('schema', each.short)} aria-current={each.short === type.short ? 'true' : undefined}>{each.short}</a></li>
          ))}
          {found.length === 0 && <li class="note">None match.</li>}
        </ul>
        <section class="type-details" aria-label={type.short} tabIndex={0}>
          <h2>{type.short} {type.deprecated && <span class="tag">deprecated</span>}{type.singleton && <span class="tag">one on each router</span>}</h2>
          <p>{type.description}</p>
          <p class="note">
            {type.full} · operations: {type.operations.join(', ') || 'none'}
            {lists && <> · <a href={href('entities', type.short)}>Entities of this type</a></>}
          </p>
          <table class="small schema-table">
            <thead><tr><th scope="col">Attribute</th><th scope="col">Type</th><th scope="col">Default</th><th scope="col">Given</th><th scope="col">Description</th></tr></thead>
            <tbody>{type.attributes.map((attribute) => <AttributeRow key={attribute.name} attribute={attribute} type={type} words={words} />)}</tbody>
          </table>
        </section>
      </div>
    </Page>
  );
}

function AttributeRow({ attribute, type, words }: { attribute: Attribute; type: EntityType; words: string }) {
  const given = [attribute.required && 'required', attribute.unique && 'unique', type.operations.includes('CREATE') && attribute.creatable && 'at creation', type.operations.includes('UPDATE') && attribute.updatable && 'later too'].filter(Boolean);
  const marked = words.trim() && attribute.name.toLowerCase().includes(words.trim().toLowerCase());
  return (
    <tr class={marked ? 'marked' : ''}>
      <th scope="row">{attribute.name}{attribute.deprecated && <span class="tag">deprecated</span>}{attribute.graph && <span class="tag">chart</span>}</th>
      <td>{attribute.type === 'enum' ? attribute.words.join(' | ') : attribute.type}</td>
      <td>{attribute.preset === null ? '–' : String(attribute.preset)}</td>
      <td>{given.join(', ') || 'reported'}</td>
      <td>{attribute.description}</td>
    </tr>
  );
}

function search(schema: Schema, words: string): EntityType[] {
  const wanted = words.trim().toLowerCase();
  return [...schema.values()]
    .filter(({ short, attributes }) => !wanted || short.toLowerCase().includes(wanted) || attributes.some(({ name }) => name.toLowerCase().includes(wanted)))
    .sort((a, b) => a.short.localeCompare(b.short));
}
