import { useMemo, useState } from 'preact/hooks';
import { useSchema, useScopedRouters } from '../app';
import { text } from '../model/format';
import type { Item } from '../model/items';
import { can, listed, type EntityType } from '../model/schema';
import { href, useRoute } from '../route';
import { EntityList } from '../ui/entity-list';
import { ExportDialog } from '../ui/export-dialog';
import { Page, Select } from '../ui/parts';
import type { Column } from '../ui/table';

/** How many attributes have a column of their own; the others show in the details. */
const COLUMNS = 7;

/** Every entity there is, by type: to look at, create, change and delete. */
export function EntitiesPage() {
  const routers = useScopedRouters();
  const { schema, error } = useSchema(routers.find(({ own }) => own) ?? routers[0]);
  const { argument } = useRoute();
  const [exporting, setExporting] = useState(false);
  const types = useMemo(() => (schema ? listed(schema) : []), [schema]);
  const type = types.find(({ short }) => short === argument) ?? types.find(({ short }) => short === 'address') ?? types[0];
  if (!type) {
    return <Page title="Entities"><p class="empty">{error ?? 'Asking the router for its schema…'}</p></Page>;
  }
  const tools = (
    <>
      <button type="button" onClick={() => setExporting(true)}>As a file…</button>
      <Select
        label="Type"
        value={type.short}
        options={types.map((each) => ({ value: each.short, label: `${each.short}${each.deprecated ? ' (deprecated)' : ''}` }))}
        onChange={(short) => { location.hash = href('entities', short); }}
      />
    </>
  );
  return (
    <>
      <EntityList key={type.full} title="Entities" intro={allowed(type)} type={type.full} columns={columns(type)} empty={`There is no ${type.short}.`} tools={tools} period={5_000} />
      {exporting && <ExportDialog routers={routers} onClose={() => setExporting(false)} />}
    </>
  );
}

function allowed(type: EntityType) {
  const verbs = [can(type, 'CREATE') && 'created', can(type, 'UPDATE') && 'changed', can(type, 'DELETE') && 'deleted'].filter(Boolean);
  return <>{type.description} {verbs.length ? `Can be ${verbs.join(', ')}.` : 'Only to be read.'} <a href={href('schema', type.short)}>Schema</a></>;
}

function columns(type: EntityType): Column<Item>[] {
  const shown = type.attributes.filter(({ name, deprecated }) => !['name', 'identity', 'type'].includes(name) && !deprecated).slice(0, COLUMNS);
  return [
    { id: 'router', title: 'Router', width: 86, value: ({ router }) => router.id },
    { id: 'name', title: 'Name', width: 220, value: ({ row, identity }) => String(row['name'] ?? identity), cell: ({ row, identity }) => <b>{String(row['name'] ?? identity)}</b> },
    ...shown.map(({ name, type: kind }): Column<Item> => ({
      id: name, title: name, width: 150, numeric: kind === 'integer',
      value: ({ row }) => (typeof row[name] === 'number' ? (row[name] as number) : row[name] === null || row[name] === undefined ? '' : text(row[name])),
    })),
  ];
}
