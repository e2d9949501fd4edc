import { useMemo, useState } from 'preact/hooks';
import { useEntities, useScopedRouters, type View } from '../app';
import { isInternal, label } from '../model/address';
import { verdict, type Destinations, type Verdict } from '../model/blocked';
import { count, perSecond } from '../model/format';
import { items, type Item } from '../model/items';
import { remembered } from '../model/memo';
import type { RouterNode } from '../model/network';
import type { Row } from '../model/operations';
import type { Source } from '../model/source';
import { TYPES } from '../model/types';
import { href } from '../route';
import { AttributeChart, Attributes } from '../ui/entity';
import { Failures, waiting } from '../ui/failures';
import { Badge, Drawer, Filter, Page, Toggle, useFilter, useToggle } from '../ui/parts';
import { DataTable, type Column } from '../ui/table';

const LINK_ATTRIBUTES = [
  'name', 'linkName', 'linkType', 'linkDir', 'owningAddr', 'capacity', 'peer', 'undeliveredCount', 'unsettledCount', 'deliveryCount', 'connectionId',
  'adminStatus', 'operStatus', 'presettledCount', 'droppedPresettledCount', 'acceptedCount', 'rejectedCount', 'releasedCount', 'modifiedCount',
  'deliveriesDelayed1Sec', 'deliveriesDelayed10Sec', 'deliveriesStuck', 'priority', 'settleRate', 'creditAvailable', 'zeroCreditSeconds',
];
const ADDRESS_ATTRIBUTES = ['key', 'subscriberCount', 'remoteCount', 'containerCount', 'inProcess'];
const CONNECTION_ATTRIBUTES = ['container', 'role'];

/** A link with what the page has found out about it. */
interface Judged extends Item {
  container: string;
  verdict: Verdict;
  rate: number | null;
  /** Of routers among themselves, or of consoles with their management. */
  internal: boolean;
}

/** Links: credit, what is unsettled, how fast they go, and why they do not. */
export function LinksPage() {
  const routers = useScopedRouters();
  const links = useEntities(routers, TYPES.link, LINK_ATTRIBUTES);
  const addresses = useEntities(routers, TYPES.address, ADDRESS_ATTRIBUTES, 5_000);
  const connections = useEntities(routers, TYPES.connection, CONNECTION_ATTRIBUTES, 10_000);
  const internal = useToggle('internal');
  const blocked = useToggle('blocked');
  const filter = useFilter();
  const [open, setOpen] = useState<string | null>(null);
  const version = links.map(({ source }) => source.at).join() + addresses.map(({ source }) => source.at).join() + connections.map(({ source }) => source.at).join();
  const all = useMemo(() => judge(links, addresses, connections), [version]);
  const shown = all.filter((link) => (internal || !link.internal) && (!blocked || link.verdict.tone !== 'fine'));
  const opened = all.find(({ key }) => key === open);
  return (
    <Page
      fill
      title="Links"
      note={`${shown.length} of ${all.length}`}
      tools={<><Toggle name="blocked" label="only held up" /><Toggle name="internal" label="internal ones too" /><Filter label="Filter links" /></>}
    >
      <Failures views={links} />
      <div class="with-drawer">
        <DataTable
          label="Links"
          rows={shown}
          columns={COLUMNS}
          keyOf={({ key }) => key}
          onOpen={({ key }) => setOpen(key)}
          open={open}
          sort={{ column: 'rate', down: true }}
          filter={filter}
          empty={waiting(links) ? 'Asking the routers…' : blocked ? 'No link is held up.' : 'No clients have links.'}
        />
        {opened && (
          <Drawer title={label(String(opened.row['owningAddr'] ?? '')) || String(opened.row['linkName'] ?? 'anonymous link')} subtitle={`Link ${opened.identity} at ${opened.router.id}, ${direction(opened)}`} onClose={() => setOpen(null)}>
            {opened.verdict.tone !== 'fine' && <p class={`message ${opened.verdict.tone === 'stuck' ? 'bad' : 'warn'}`}>{opened.verdict.text}</p>}
            <p><a href={href('connections', '', { q: opened.container })}>Connection of {opened.container}</a></p>
            <AttributeChart key={`r${opened.key}`} item={opened} attribute="deliveryCount" title="Deliveries" />
            <AttributeChart key={`u${opened.key}`} item={opened} attribute="unsettledCount" title="Unsettled" />
            <h3>Attributes</h3>
            <Attributes item={opened} />
          </Drawer>
        )}
      </div>
    </Page>
  );
}

const direction = ({ row }: Item) => (row['linkDir'] === 'in' ? 'from a sender' : 'to a receiver');

function judge(links: readonly View[], addresses: readonly View[], connections: readonly View[]): Judged[] {
  return links.flatMap((view, index) => judged(view, addresses[index]!.source, connections[index]!.source));
}

/** Thousands of links are judged again only where something has been heard of them. */
function judged({ router, source }: View, addresses: Source, connections: Source): Judged[] {
  let judge = judges.get(router);
  if (!judge) judges.set(router, (judge = remembered((...sources) => judgedNow(router, ...sources))));
  return judge(source, addresses, connections);
}

type Judge = (...sources: [Source, Source, Source]) => Judged[];
const judges = new WeakMap<RouterNode, Judge>();

function judgedNow(router: RouterNode, links: Source, addresses: Source, connections: Source): Judged[] {
  const destinations = new Map(addresses.rows.map((row) => [String(row['key']), reach(row)]));
  return items([{ router, source: links }]).map((item) => {
    const rate = links.rate(item.identity, 'deliveryCount');
    const connection = connections.find(String(item.row['connectionId']));
    return {
      ...item,
      container: String(connection?.['container'] ?? `connection ${item.row['connectionId']}`),
      verdict: verdict(item.row, destinations.get(String(item.row['owningAddr'])) ?? null, rate),
      rate,
      internal: isAmongRouters(item.row, connection),
    };
  });
}

function isAmongRouters(link: Row, connection: Row | undefined): boolean {
  if (link['linkType'] !== 'endpoint' && link['linkType'] !== 'link-route') return true;
  const container = String(connection?.['container'] ?? '');
  return connection?.['role'] === 'edge' || /^console-/.test(container) || (typeof link['owningAddr'] === 'string' && isInternal(link['owningAddr']));
}

function reach(row: Readonly<Record<string, unknown>>): Destinations {
  const number = (name: string) => Number(row[name] ?? 0);
  return { local: number('subscriberCount') + number('inProcess') + number('containerCount'), remote: number('remoteCount') };
}

const RANK = { fine: 0, waiting: 1, stuck: 2 };
const number = (id: string, title: string, name: string, width: number, hint?: string): Column<Judged> => ({
  id, title, width, numeric: true, ...(hint && { hint }), value: ({ row }) => row[name] as number, cell: ({ row }) => count(row[name]),
});

const COLUMNS: Column<Judged>[] = [
  { id: 'router', title: 'Router', width: 76, value: ({ router }) => router.id },
  { id: 'address', title: 'Address', value: ({ row }) => label(row['owningAddr'] as string) || String(row['linkName'] ?? ''), cell: ({ row }) => (row['owningAddr'] ? <b>{label(row['owningAddr'] as string)}</b> : <span class="note">{row['linkType'] === 'endpoint' ? 'anonymous' : String(row['linkType'])}</span>) },
  { id: 'direction', title: 'Direction', width: 84, hint: 'As the router sees it: in from a sender, out to a receiver', value: ({ row }) => String(row['linkDir'] ?? ''), cell: ({ row }) => (row['linkDir'] === 'in' ? '→ in' : '← out') },
  { id: 'container', title: 'Container', value: ({ container }) => container },
  { id: 'rate', title: 'Rate /s', width: 76, numeric: true, hint: 'Deliveries a second', value: ({ rate }) => rate, cell: ({ rate }) => perSecond(rate) },
  number('credit', 'Credit', 'creditAvailable', 72, 'What the sender of the link may still send'),
  number('unsettled', 'Unsettled', 'unsettledCount', 84),
  number('undelivered', 'Waiting', 'undeliveredCount', 76, 'Deliveries that wait at the router for this link'),
  {
    id: 'why', title: 'Held up because', width: 260, value: ({ verdict: { tone, text } }) => (RANK[tone] ? text : ''),
    cell: ({ verdict: { tone, text } }) => (tone === 'fine' ? '' : <Badge tone={tone === 'stuck' ? 'bad' : 'warn'}>{text}</Badge>),
  },
  number('deliveries', 'Deliveries', 'deliveryCount', 104),
  number('rejected', 'Rejected', 'rejectedCount', 80),
  number('released', 'Released', 'releasedCount', 80),
  {
    id: 'late', title: 'Late /s', width: 74, numeric: true, hint: 'Deliveries a second that took longer than a second to be settled',
    value: ({ source, identity }) => source.rate(identity, 'deliveriesDelayed1Sec'), cell: ({ source, identity }) => perSecond(source.rate(identity, 'deliveriesDelayed1Sec')),
  },
];
