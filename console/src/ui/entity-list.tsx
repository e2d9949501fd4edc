// A page's list of entities of one type, with everything that can be done to them.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { useEntities, useOwnType, useSchema, useScopedRouters } from '../app';
import { items, type Item } from '../model/items';
import { can, type EntityType } from '../model/schema';
import { TYPES } from '../model/types';
import { CloseDialog } from './close-connection';
import { Attributes } from './entity';
import { CreateDialog, DeleteDialog, UpdateDialog } from './entity-form';
import { Failures, waiting } from './failures';
import { Drawer, Filter, Page, useFilter } from './parts';
import { DataTable, type Column } from './table';

interface Properties {
  title: string;
  /** Said below the heading. */
  intro?: ComponentChildren;
  /** Fully qualified. */
  type: string;
  columns: readonly Column<Item>[];
  empty: string;
  period?: number;
  tools?: ComponentChildren;
  keep?(item: Item): boolean;
  details?(item: Item): ComponentChildren;
  sort?: { column: string; down?: boolean };
  /** Only routers of this kind know the type: those that do not have no such entities, and nothing is wrong with that. */
  own?: boolean;
  /** What can be done beside changing and deleting. */
  actions?(item: Item): ComponentChildren;
}

/** How a router says that it does not know a type. */
const UNKNOWN = /No such entity type/;

type Doing = { what: 'create' } | { what: 'update' | 'delete' | 'close'; item: Item } | null;

export function EntityList(properties: Properties) {
  const inScope = useScopedRouters();
  const asked = useEntities(inScope, properties.type, [], properties.period);
  const views = properties.own ? asked.filter(({ source }) => !UNKNOWN.test(source.error ?? '')) : asked;
  const routers = properties.own ? views.filter(({ source }) => source.at > 0).map(({ router }) => router) : inScope;
  const first = routers.find(({ own }) => own) ?? routers[0];
  const { schema } = useSchema(first);
  const ownType = useOwnType(first, properties.own ? properties.type : undefined);
  const type = [...(schema?.values() ?? [])].find(({ full }) => full === properties.type) ?? ownType;
  const filter = useFilter();
  const [open, setOpen] = useState<string | null>(null);
  const [doing, setDoing] = useState<Doing>(null);
  const all = items(views);
  const shown = properties.keep ? all.filter(properties.keep) : all;
  const opened = all.find(({ key }) => key === open);
  const close = () => setDoing(null);
  return (
    <Page
      fill
      title={properties.title}
      note={shown.length === all.length ? `${all.length}` : `${shown.length} of ${all.length}`}
      tools={
        <>
          {properties.tools}
          <Filter label={`Filter ${properties.title.toLowerCase()}`} />
          {type && can(type, 'CREATE') && routers.length > 0 && <button type="button" class="primary" onClick={() => setDoing({ what: 'create' })}>Create…</button>}
        </>
      }
    >
      {properties.intro && <p class="note intro">{properties.intro}</p>}
      <Failures views={views} />
      <div class="with-drawer">
        <DataTable
          label={properties.title}
          rows={shown}
          columns={properties.columns}
          keyOf={({ key }) => key}
          onOpen={({ key }) => setOpen(key)}
          open={open}
          filter={filter}
          empty={waiting(asked) && waiting(views) ? 'Asking the routers…' : properties.empty}
          {...(properties.sort && { sort: properties.sort })}
        />
        {opened && (
          <Drawer
            title={nameOf(opened)}
            subtitle={`${type?.short ?? ''} on ${opened.router.id}`}
            onClose={() => setOpen(null)}
            actions={type && <>{properties.actions?.(opened)}<Actions type={type} item={opened} onDo={setDoing} /></>}
          >
            {properties.details?.(opened)}
            <h3>Attributes</h3>
            <Attributes item={opened} />
          </Drawer>
        )}
      </div>
      {type && doing?.what === 'create' && <CreateDialog type={type} routers={routers} views={views} onClose={close} />}
      {type && doing?.what === 'update' && <UpdateDialog type={type} item={doing.item} onClose={close} />}
      {type && doing?.what === 'delete' && <DeleteDialog type={type} item={doing.item} onClose={close} />}
      {doing?.what === 'close' && <CloseDialog item={doing.item} onClose={close} />}
    </Page>
  );
}

/** A connection is called by its container; its name is only where it comes from. */
function nameOf({ source, row, identity }: Item): string {
  return String((source.type === TYPES.connection && row['container']) || (row['name'] ?? identity));
}

/** Connections between routers are not for management to close. */
const closable = ({ row }: Item) => row['role'] !== 'inter-router' && row['role'] !== 'edge';

function Actions({ type, item, onDo }: { type: EntityType; item: Item; onDo(doing: Doing): void }) {
  const buttons = [];
  const changeable = type.attributes.some(({ updatable }) => updatable);
  if (can(type, 'UPDATE') && changeable) buttons.push(<button key="update" type="button" onClick={() => onDo({ what: 'update', item })}>Change…</button>);
  if (item.source.type === TYPES.connection && closable(item)) buttons.push(<button key="close" type="button" class="danger" onClick={() => onDo({ what: 'close', item })}>Close connection…</button>);
  if (can(type, 'DELETE')) buttons.push(<button key="delete" type="button" class="danger" onClick={() => onDo({ what: 'delete', item })}>Delete…</button>);
  return buttons.length ? <>{buttons}</> : <span class="note">Only to be read.</span>;
}
