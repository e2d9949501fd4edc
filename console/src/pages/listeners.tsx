import type { Item } from '../model/items';
import { TYPES } from '../model/types';
import { EntityList } from '../ui/entity-list';
import { Badge } from '../ui/parts';
import type { Column } from '../ui/table';

const string = (id: string, title: string, width?: number): Column<Item> => ({ id, title, ...(width && { width }), value: ({ row }) => (row[id] === null || row[id] === undefined ? '' : String(row[id])) });
const router: Column<Item> = { id: 'router', title: 'Router', width: 86, value: ({ router: { id } }) => id };
const name: Column<Item> = { id: 'name', title: 'Name', value: ({ row, identity }) => String(row['name'] ?? identity), cell: ({ row, identity }) => <b>{String(row['name'] ?? identity)}</b> };

const http = ({ row }: Item) => {
  if (!row['http'] && !row['httpRootDir']) return '';
  return ['websockets', 'healthz', 'metrics'].filter((part) => row[part]).join(', ') || 'files only';
};

const LISTENERS: Column<Item>[] = [
  router, name, string('host', 'Host', 110), string('port', 'Port', 80), string('role', 'Role', 116),
  { id: 'http', title: 'HTTP', width: 200, value: http },
  string('saslMechanisms', 'SASL mechanisms', 160),
  { id: 'sslProfile', title: 'TLS profile', width: 110, value: ({ row }) => String(row['sslProfile'] ?? '') },
  { id: 'requireSsl', title: 'TLS required', width: 96, value: ({ row }) => Boolean(row['requireSsl'] ?? false) },
  { id: 'authenticatePeer', title: 'Sign-in required', width: 116, value: ({ row }) => Boolean(row['authenticatePeer'] ?? false) },
  { id: 'cost', title: 'Cost', width: 60, numeric: true, value: ({ row }) => row['cost'] as number },
];

/** Where the routers take connections. */
export function ListenersPage() {
  return <EntityList title="Listeners" type={TYPES.listener} columns={LISTENERS} empty="These routers take no connections." period={10_000} sort={{ column: 'router' }} />;
}

const STATUS: Record<string, 'good' | 'warn' | 'bad' | 'quiet'> = { SUCCESS: 'good', CONNECTING: 'warn', INITIALIZING: 'quiet', FAILED: 'bad', CLOSING: 'quiet' };
const WORDS: Record<string, string> = { SUCCESS: 'connected', CONNECTING: 'connecting', INITIALIZING: 'starting', FAILED: 'failed', CLOSING: 'closing' };

export function ConnectorStatus({ status }: { status: unknown }) {
  const text = String(status ?? '');
  return text ? <Badge tone={STATUS[text] ?? 'quiet'}>{WORDS[text] ?? text}</Badge> : <>–</>;
}

const CONNECTORS: Column<Item>[] = [
  router, name,
  { id: 'status', title: 'Status', width: 112, value: ({ row }) => WORDS[String(row['connectionStatus'])] ?? String(row['connectionStatus'] ?? ''), cell: ({ row }) => <ConnectorStatus status={row['connectionStatus']} /> },
  string('host', 'Host', 120), string('port', 'Port', 72), string('role', 'Role', 116),
  { id: 'cost', title: 'Cost', width: 60, numeric: true, value: ({ row }) => row['cost'] as number },
  { id: 'sslProfile', title: 'TLS profile', width: 100, value: ({ row }) => String(row['sslProfile'] ?? '') },
  { id: 'message', title: 'Last message', value: ({ row }) => String(row['connectionMsg'] ?? ''), width: 360 },
];

/** Which connections the routers make, and how they fare. */
export function ConnectorsPage() {
  return (
    <EntityList
      title="Connectors"
      type={TYPES.connector}
      columns={CONNECTORS}
      empty="These routers open no connections themselves."
      period={5_000}
      sort={{ column: 'router' }}
      details={({ row }) => (
        <>
          <p><ConnectorStatus status={row['connectionStatus']} /></p>
          {Boolean(row['connectionMsg']) && <p class={`message ${row['connectionStatus'] === 'SUCCESS' ? '' : 'warn'}`}>{String(row['connectionMsg'])}</p>}
        </>
      )}
    />
  );
}
