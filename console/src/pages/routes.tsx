import type { Item } from '../model/items';
import { TYPES } from '../model/types';
import { href } from '../route';
import { EntityList } from '../ui/entity-list';
import { Badge, type Tone } from '../ui/parts';
import type { Column } from '../ui/table';

const router: Column<Item> = { id: 'router', title: 'Router', width: 86, value: ({ router: { id } }) => id };
const text = (id: string, title: string, width?: number): Column<Item> => ({ id, title, ...(width && { width }), value: ({ row }) => (row[id] === null || row[id] === undefined ? '' : String(row[id])) });

const AUTO_TONES: Record<string, Tone> = { active: 'good', attaching: 'warn', failed: 'bad', inactive: 'quiet', quiescing: 'warn', idle: 'quiet' };
const MEANING: Record<string, string> = {
  active: 'The link is attached.',
  attaching: 'The link has been asked for; the container has not answered yet.',
  failed: 'The container refused the link. It is tried again.',
  inactive: 'The connection or container that it is for is not there.',
  quiescing: 'The link is being closed and waits for its deliveries.',
  idle: 'The link waits.',
};

function Status({ row }: Item) {
  const state = String(row['operStatus'] ?? '');
  return <Badge tone={AUTO_TONES[state] ?? 'quiet'}>{state || 'unknown'}</Badge>;
}

const status: Column<Item> = { id: 'operStatus', title: 'Status', width: 104, value: ({ row }) => String(row['operStatus'] ?? ''), cell: (item) => <Status {...item} /> };
const through: Column<Item> = { id: 'through', title: 'Connection or container', width: 180, value: ({ row }) => String(row['connection'] ?? row['containerId'] ?? '') };

const AUTO_LINKS: Column<Item>[] = [
  router,
  { id: 'address', title: 'Address', value: ({ row }) => String(row['address'] ?? ''), cell: ({ row }) => <b>{String(row['address'] ?? '–')}</b> },
  text('direction', 'Direction', 84), text('phase', 'Phase', 64), text('externalAddress', 'External address', 150), through, status,
  { id: 'lastError', title: 'Last error', width: 300, value: ({ row }) => String(row['lastError'] ?? '') },
];

/** Links that the routers attach to brokers by themselves. */
export function AutoLinksPage() {
  return (
    <EntityList
      title="Auto-links"
      type={TYPES.autoLink}
      columns={AUTO_LINKS}
      empty="No auto-links: these routers attach to no broker’s queues by themselves."
      period={5_000}
      sort={{ column: 'router' }}
      details={(item) => (
        <>
          <p><Status {...item} /> {MEANING[String(item.row['operStatus'])]}</p>
          {Boolean(item.row['lastError']) && <p class="message bad">■ {String(item.row['lastError'])}</p>}
          <p><a href={href('links', '', { q: String(item.row['address'] ?? '') })}>Links of this address</a></p>
        </>
      )}
    />
  );
}

const LINK_ROUTES: Column<Item>[] = [
  router,
  { id: 'match', title: 'Addresses', value: ({ row }) => String(row['pattern'] ?? (row['prefix'] ? `${row['prefix']}.#` : '')), cell: ({ row }) => <b>{String(row['pattern'] ?? (row['prefix'] ? `${row['prefix']} …` : '–'))}</b> },
  text('direction', 'Direction', 84), through, text('distribution', 'Distribution', 110), text('addExternalPrefix', 'Adds prefix', 110), text('delExternalPrefix', 'Removes prefix', 120), status,
];

/** Addresses whose links are passed on to a broker whole. */
export function LinkRoutesPage() {
  return (
    <EntityList
      title="Link routes"
      type={TYPES.linkRoute}
      columns={LINK_ROUTES}
      empty="No link routes: no links are passed on to brokers."
      period={5_000}
      sort={{ column: 'router' }}
      details={(item) => (
        <p>
          <Status {...item} />{' '}
          {item.row['operStatus'] === 'active' ? 'Clients’ links for these addresses are passed on.' : 'The connection or container that it is for is not there; clients are refused.'}
        </p>
      )}
    />
  );
}
