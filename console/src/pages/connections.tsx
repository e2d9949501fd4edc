import { useEntities } from '../app';
import { label } from '../model/address';
import { verdict } from '../model/blocked';
import { count, duration, perSecond } from '../model/format';
import { items, type Item } from '../model/items';
import { TYPES } from '../model/types';
import { EntityList } from '../ui/entity-list';
import { Badge, Facts } from '../ui/parts';
import type { Column } from '../ui/table';

const product = ({ row }: Item) => {
  const properties = (row['properties'] ?? {}) as Record<string, unknown>;
  return [properties['product'], properties['version']].filter(Boolean).join(' ');
};
const security = ({ row }: Item) => (row['isEncrypted'] ? `${row['sslProto'] ?? 'encrypted'}` : 'none');

const COLUMNS: Column<Item>[] = [
  { id: 'router', title: 'Router', width: 86, value: ({ router }) => router.id },
  { id: 'container', title: 'Container', value: ({ row }) => String(row['container'] ?? ''), cell: ({ row }) => <b>{String(row['container'] ?? '–')}</b> },
  { id: 'host', title: 'Host', width: 150, value: ({ row }) => String(row['host'] ?? '') },
  { id: 'role', title: 'Role', width: 110, value: ({ row }) => String(row['role'] ?? '') },
  { id: 'direction', title: 'Opened', width: 92, hint: 'Who opened it: the peer (in) or the router (out)', value: ({ row }) => String(row['dir'] ?? ''), cell: ({ row }) => (row['dir'] === 'in' ? '→ by peer' : '← by router') },
  { id: 'product', title: 'Product', width: 200, value: product },
  { id: 'user', title: 'User', width: 110, value: ({ row }) => String(row['user'] ?? '') },
  { id: 'encryption', title: 'TLS', width: 80, value: security },
  { id: 'idle', title: 'Idle for', width: 84, numeric: true, hint: 'How long ago the last delivery was', value: ({ row }) => row['lastDlvSeconds'] as number, cell: ({ row }) => duration(row['lastDlvSeconds']) },
  { id: 'uptime', title: 'Open for', width: 84, numeric: true, value: ({ row }) => row['uptimeSeconds'] as number, cell: ({ row }) => duration(row['uptimeSeconds']) },
];

/** Who is connected. */
export function ConnectionsPage() {
  return <EntityList title="Connections" type={TYPES.connection} columns={COLUMNS} empty="No connections." sort={{ column: 'container' }} details={(item) => <Details key={item.key} item={item} />} />;
}

const LINK_ATTRIBUTES = ['name', 'linkName', 'linkType', 'linkDir', 'owningAddr', 'connectionId', 'deliveryCount', 'unsettledCount', 'undeliveredCount', 'creditAvailable', 'capacity', 'zeroCreditSeconds', 'operStatus', 'deliveriesStuck'];

function Details({ item }: { item: Item }) {
  const [view] = useEntities([item.router], TYPES.link, LINK_ATTRIBUTES);
  const all = items([view!]).filter(({ row }) => String(row['connectionId']) === item.identity);
  // Routers have many links with each other, of which most rest.
  const links = all.filter(({ row, source, identity }) => row['linkType'] === 'endpoint' || source.rate(identity, 'deliveryCount') || Number(row['undeliveredCount']) > 0);
  return (
    <>
      <Facts
        facts={[
          ['Security', `${security(item)}${item.row['sslCipher'] ? `, ${item.row['sslCipher']}` : ''}`],
          ['Authentication', `${item.row['user'] ?? 'nobody'}${item.row['sasl'] ? ` by ${item.row['sasl']}` : ''}`],
          ['Protocol trace', item.row['enableProtocolTrace'] ? <Badge tone="warn">on</Badge> : 'off (Change… turns it on)'],
        ]}
      />
      <h3>Links</h3>
      {links.length === 0 && <p class="note">{!view!.source.at ? 'Asking…' : all.length ? `${all.length} links, all at rest.` : 'This connection has no links.'}</p>}
      {links.length > 0 && (
        <table class="small">
          <thead><tr><th scope="col">Address</th><th scope="col">Dir.</th><th scope="col" class="numeric">Rate /s</th><th scope="col" class="numeric">Credit</th><th scope="col" class="numeric">Unsettled</th></tr></thead>
          <tbody>
            {links.map((link) => {
              const judged = verdict(link.row, null, link.source.rate(link.identity, 'deliveryCount'));
              return (
                <tr key={link.key}>
                  <th scope="row">
                    {label(link.row['owningAddr'] as string) || String(link.row['linkType'])}
                    {judged.tone !== 'fine' && <div><Badge tone={judged.tone === 'stuck' ? 'bad' : 'warn'}>{judged.text}</Badge></div>}
                  </th>
                  <td>{String(link.row['linkDir'])}</td>
                  <td class="numeric">{perSecond(link.source.rate(link.identity, 'deliveryCount'))}</td>
                  <td class="numeric">{count(link.row['creditAvailable'])}</td>
                  <td class="numeric">{count(link.row['unsettledCount'])}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      )}
      {all.length > links.length && links.length > 0 && <p class="note">{all.length - links.length} more at rest.</p>}
    </>
  );
}
