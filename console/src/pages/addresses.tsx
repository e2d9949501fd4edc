import { useState } from 'preact/hooks';
import { useEntities, useScopedRouters } from '../app';
import { addresses, ADDRESS_ATTRIBUTES, consumersOf, type NetworkAddress, type PerRouter } from '../model/addresses';
import { count, perSecond } from '../model/format';
import { items } from '../model/items';
import { TYPES } from '../model/types';
import { href } from '../route';
import { AttributeChart } from '../ui/entity';
import { Failures, waiting } from '../ui/failures';
import { Drawer, Facts, Filter, Page, Toggle, useFilter, useToggle } from '../ui/parts';
import { DataTable, type Column } from '../ui/table';

/** Enough to tell a client's receiver from the links that routers have for each other. */
const LINK_ATTRIBUTES = ['linkType', 'linkDir', 'owningAddr', 'connectionId'];
const CONNECTION_ATTRIBUTES = ['role'];

/** What messages are sent to, who takes them, and how many come and go. */
export function AddressesPage() {
  const routers = useScopedRouters();
  const views = useEntities(routers, TYPES.address, ADDRESS_ATTRIBUTES);
  const links = useEntities(routers, TYPES.link, LINK_ATTRIBUTES, 5_000);
  const connections = useEntities(routers, TYPES.connection, CONNECTION_ATTRIBUTES, 5_000);
  const internal = useToggle('internal');
  const filter = useFilter();
  const [open, setOpen] = useState<string | null>(null);
  const all = addresses(views.map(({ router, source }, index) => ({ router: router.id, edge: router.kind === 'edge', source, consumers: consumersOf(links[index]!.source, connections[index]!.source) })));
  const shown = all.filter((address) => internal || !address.internal);
  const opened = all.find((address) => address.key === open);
  return (
    <Page fill title="Addresses" note={`${shown.length} of ${all.length}`} tools={<><Toggle name="internal" label="internal ones too" /><Filter label="Filter addresses" /></>}>
      <Failures views={views} />
      <div class="with-drawer">
        <DataTable
          label="Addresses"
          rows={shown}
          columns={COLUMNS}
          keyOf={(address) => address.key}
          onOpen={(address) => setOpen(address.key)}
          open={open}
          sort={{ column: 'in', down: true }}
          filter={filter}
          empty={waiting(views) ? 'Asking the routers…' : 'No clients have attached to any address.'}
        />
        {opened && (
          <Drawer title={opened.text} subtitle={`${opened.class}${opened.phase !== null ? `, phase ${opened.phase}` : ''} · key ${opened.key}`} onClose={() => setOpen(null)}>
            <Details key={opened.key} address={opened} views={views} />
          </Drawer>
        )}
      </div>
    </Page>
  );
}

const rated = (id: 'in' | 'out', title: string, hint: string): Column<NetworkAddress> => ({
  id, title, hint, numeric: true, width: 84, value: (address) => address[id], cell: (address) => perSecond(address[id]),
});

const COLUMNS: Column<NetworkAddress>[] = [
  { id: 'address', title: 'Address', value: ({ text }) => text, cell: ({ text }) => <b>{text}</b> },
  { id: 'distribution', title: 'Distribution', width: 104, value: ({ distribution }) => distribution },
  { id: 'consumers', title: 'Consumers', width: 100, numeric: true, hint: 'Receivers of clients, over all routers shown, and brokers', value: ({ consumers }) => consumers, cell: ({ consumers, containers }) => `${count(consumers)}${containers ? ` + ${containers}` : ''}` },
  rated('in', 'In /s', 'Deliveries that come into the network for this address'),
  rated('out', 'Out /s', 'Deliveries that leave the network from this address'),
  { id: 'where', title: 'Consumers per router', value: ({ routers }) => where(routers), cell: ({ routers }) => where(routers) || <span class="note">none</span> },
  { id: 'totalIn', title: 'In', width: 96, numeric: true, value: ({ totalIn }) => totalIn, cell: ({ totalIn }) => count(totalIn) },
  { id: 'totalOut', title: 'Out', width: 96, numeric: true, value: ({ totalOut }) => totalOut, cell: ({ totalOut }) => count(totalOut) },
  { id: 'class', title: 'Class', width: 110, value: ({ class: kind }) => kind },
  { id: 'phase', title: 'Phase', width: 70, value: ({ phase }) => phase },
];

function where(routers: readonly PerRouter[]): string {
  return routers.filter(({ consumers, containers }) => consumers + containers > 0).map(({ router, consumers, containers }) => `${router} ${consumers + containers}`).join(', ');
}

function Details({ address, views }: { address: NetworkAddress; views: Parameters<typeof items>[0] }) {
  const parts = items(views).filter(({ row }) => String(row['key'] ?? row['name']) === address.key);
  const [first, setFirst] = useState<string | null>(null);
  const busiest = [...address.routers].sort((a, b) => (b.in ?? 0) + (b.out ?? 0) - (a.in ?? 0) - (a.out ?? 0))[0]?.router;
  const charted = parts.find(({ router }) => router.id === (first ?? busiest));
  return (
    <>
      <Facts
        facts={[
          ['Distribution', address.distribution || '–'],
          ['Priority', address.priority ?? 'of the messages'],
          ['Consumers', `${count(address.consumers)} attached, ${count(address.containers)} brokers`],
          ['Links', <a href={href('links', '', { q: address.text })}>Links of this address</a>],
          ...(address.class === 'mobile' && !address.internal ? [['Messages', <a href={href('messages', '', { address: address.text })}>Send or receive</a>] as const] : []),
        ]}
      />
      <h3>On each router, deliveries a second</h3>
      <table class="small">
        <thead><tr><th scope="col">Router</th><th scope="col" class="numeric">Consumers</th><th scope="col" class="numeric">In</th><th scope="col" class="numeric">Out</th><th scope="col" class="numeric">Transit</th><th scope="col">On to</th></tr></thead>
        <tbody>
          {address.routers.map((part) => (
            <tr key={part.router}>
              <th scope="row"><button type="button" class="link" aria-pressed={charted?.router.id === part.router} onClick={() => setFirst(part.router)}>{part.router}</button></th>
              <td class="numeric">{count(part.consumers + part.containers)}</td>
              <td class="numeric">{perSecond(part.in)}</td>
              <td class="numeric">{perSecond(part.out)}</td>
              <td class="numeric">{perSecond(part.transit)}</td>
              <td>{part.remotes.join(', ') || '–'}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {charted && (
        <>
          <AttributeChart key={`in ${charted.key}`} item={charted} attribute="deliveriesIngress" title={`In at ${charted.router.id}`} />
          <AttributeChart key={`out ${charted.key}`} item={charted} attribute="deliveriesEgress" title={`Out at ${charted.router.id}`} />
        </>
      )}
    </>
  );
}
