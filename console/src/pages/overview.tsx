import { useMemo, useRef, useState } from 'preact/hooks';
import { ALL, scope, useEntities, useScope, useScopedRouters, type View } from '../app';
import { addresses, ADDRESS_ATTRIBUTES } from '../model/addresses';
import { concerns, type Concern } from '../model/attention';
import { bytes, count, duration, perSecond } from '../model/format';
import { items, type Item } from '../model/items';
import { inFlight } from '../model/links';
import type { RouterNode } from '../model/network';
import type { Sample } from '../model/series';
import { TYPES } from '../model/types';
import { href } from '../route';
import { LineChart } from '../ui/chart';
import { Failures, waiting } from '../ui/failures';
import { Badge, Page, Select, Tile } from '../ui/parts';
import { DataTable, type Column } from '../ui/table';

const SLOWLY = 10_000;
/** Links and addresses are looked at here only where there are no more links than this: the other pages have them all. */
const FEW_LINKS = 2_000;
const LINK_ATTRIBUTES = ['linkType', 'linkDir', 'undeliveredCount', 'unsettledCount'];
/** So many of the busiest addresses are listed. */
const BUSIEST = 5;
const CONNECTOR_ATTRIBUTES = ['name', 'connectionStatus', 'connectionMsg'];
const AUTO_LINK_ATTRIBUTES = ['name', 'address', 'direction', 'operStatus', 'lastError'];
const LINK_ROUTE_ATTRIBUTES = ['name', 'prefix', 'pattern', 'direction', 'operStatus'];

/** The network at a glance: how much goes through it, what is wrong with it, and its routers. */
export function OverviewPage() {
  const routers = useScopedRouters();
  const selves = useEntities(routers, TYPES.router, []);
  const connectors = useEntities(routers, TYPES.connector, CONNECTOR_ATTRIBUTES, SLOWLY);
  const autoLinks = useEntities(routers, TYPES.autoLink, AUTO_LINK_ATTRIBUTES, SLOWLY);
  const linkRoutes = useEntities(routers, TYPES.linkRoute, LINK_ROUTE_ATTRIBUTES, SLOWLY);
  const looked = useFewLinks(routers, selves);
  const links = useEntities(looked, TYPES.link, LINK_ATTRIBUTES, 5_000);
  const [span, setSpan] = useState(SPANS[0]!.value);
  const conditions = routers.map((router, index) => ({
    router,
    self: selves[index]!.source,
    connectors: connectors[index]!.source,
    autoLinks: autoLinks[index]!.source,
    linkRoutes: linkRoutes[index]!.source,
  }));
  const total = (name: string) => selves.reduce((sum, { source }) => sum + Number(source.rows[0]?.[name] ?? 0), 0);
  const silent = selves.filter(({ source }) => source.error).length;
  return (
    <Page title="Overview" tools={<Select label="Charts of the last" value={span} options={SPANS} onChange={setSpan} />}>
      <Failures views={selves} />
      <section class="tiles" aria-label="Totals">
        <Tile label="Routers" value={count(routers.length)} note={silent ? <Badge tone="bad">{silent} not answering</Badge> : 'all answer'} href={href('topology')} />
        <Tile label="Connections" value={count(total('connectionCount'))} href={href('connections')} />
        <Tile label="Links" value={count(total('linkCount'))} href={href('links')} note={<BlockedNote blocked={total('linksBlocked')} />} />
        <Tile label="Addresses" value={count(Math.max(0, ...selves.map(({ source }) => Number(source.rows[0]?.['addrCount'] ?? 0))))} note="most on one router" href={href('addresses')} />
        <RateTile label="In" name="deliveriesIngress" views={selves} />
        <RateTile label="Out" name="deliveriesEgress" views={selves} />
      </section>
      <div class="two-charts four-charts">
        <Rates title="Deliveries" views={selves} names={DELIVERIES} span={Number(span)} />
        <Rates title="Outcomes" views={selves} names={OUTCOMES} span={Number(span)} />
        <Rates title="Settled late" views={selves} names={DELAYS} span={Number(span)} />
        {looked.length > 0 && <InFlight views={links} span={Number(span)} />}
      </div>
      <Attention all={concerns(conditions)} />
      {looked.length > 0 && <Busiest routers={looked} />}
      <Routers views={selves} />
    </Page>
  );
}

/** A line, and the counters that it sums. */
type Counters = [label: string, ...names: string[]];

const DELIVERIES: Counters[] = [['in', 'deliveriesIngress'], ['out', 'deliveriesEgress'], ['transit', 'deliveriesTransit']];
const DELAYS: Counters[] = [['after 1 s', 'deliveriesDelayed1Sec'], ['after 10 s', 'deliveriesDelayed10Sec']];
const OUTCOMES: Counters[] = [['accepted', 'acceptedDeliveries'], ['returned', 'releasedDeliveries', 'modifiedDeliveries'], ['rejected', 'rejectedDeliveries']];

function BlockedNote({ blocked }: { blocked: number }) {
  return blocked ? <Badge tone="warn">{count(blocked)} blocked</Badge> : <>none blocked</>;
}

/** What edge routers take in and put out counts again at the routers they are attached to: with those in view, only theirs is summed. */
function counting(views: readonly View[]): readonly View[] {
  const interior = views.filter(({ router }) => router.kind !== 'edge');
  return interior.length ? interior : views;
}

/** Null until all that answer have a rate: a sum of a part would look like a jump later. */
function sumOfRates(views: readonly View[], name: string): number | null {
  const heard = counting(views).filter(({ source }) => !source.error);
  const rates = heard.map(({ source }) => source.rate(String(source.rows[0]?.['identity'] ?? ''), name));
  return rates.length ? all(rates) : null;
}

function RateTile({ label, name, views }: { label: string; name: string; views: readonly View[] }) {
  return <Tile label={label} value={perSecond(sumOfRates(views, name))} unit="deliveries/s" note={`${count(counting(views).reduce((sum, { source }) => sum + Number(source.rows[0]?.[name] ?? 0), 0))} in all`} />;
}

/** What the charts have shown so far, by scope: it is there again when one comes back to the page. */
const pasts = new Map<string, Map<string, Sample[]>>();
/** Two points of a chart are at least this far apart, in milliseconds. */
const APART = 2_000;
/** What routers said longer ago than this before the last answer is not summed with it, in milliseconds. */
const RECENT = 15_000;
const SPANS = [{ value: '300000', label: '5 minutes' }, { value: '3600000', label: 'hour' }];
const LONGEST = 3_600_000;

/** The lines of a chart as they have been so far; a value is taken whenever something was heard. */
function usePast(views: readonly View[], labels: readonly string[], value: (label: string) => number | null) {
  const chosen = useScope();
  const past = pasts.get(chosen) ?? new Map<string, Sample[]>();
  pasts.set(chosen, past);
  const latest = Math.max(0, ...views.map(({ source }) => source.at));
  const seen = useRef(0);
  if (latest > seen.current) {
    for (const label of labels) record(past, label, latest, value(label));
    seen.current = latest;
  }
  return labels.map((label) => ({ label, samples: past.get(label) ?? [] }));
}

function Rates({ title, views, names, span }: { title: string; views: readonly View[]; names: Counters[]; span: number }) {
  const counters = new Map(names.map(([label, ...rest]) => [label, rest]));
  const lines = usePast(views, [...counters.keys()], (label) => all(counters.get(label)!.map((name) => sumOfRates(views, name))));
  return <LineChart title={title} lines={lines} height={130} span={span} />;
}

/** What is on its way to receivers: kept by routers for them, or with them and not settled. */
function InFlight({ views, span }: { views: readonly View[]; span: number }) {
  const heard = views.map(({ source }) => source).filter((source) => !source.error);
  const latest = Math.max(0, ...heard.map(({ at }) => at));
  // A sum of a part, or of what was long ago, would look like a jump.
  const now = heard.every(({ at }) => at > 0 && at > latest - RECENT) ? inFlight(heard.map(({ rows }) => rows)) : null;
  const lines = usePast(views, ['waiting', 'unsettled'], (label) => now?.[label as 'waiting' | 'unsettled'] ?? null);
  return <LineChart title="In flight" unit="deliveries" format={count} lines={lines} height={130} span={span} />;
}

/** The routers, if they are so few and small that their links can be asked for all the time. */
function useFewLinks(routers: readonly RouterNode[], selves: readonly View[]): readonly RouterNode[] {
  const known = selves.every(({ source }) => source.at || source.error);
  const few = known && selves.reduce((sum, { source }) => sum + Number(source.rows[0]?.['linkCount'] ?? 0), 0) <= FEW_LINKS;
  return useMemo(() => (few ? routers : []), [few, routers]);
}

function Busiest({ routers }: { routers: readonly RouterNode[] }) {
  const views = useEntities(routers, TYPES.address, ADDRESS_ATTRIBUTES, 5_000);
  const known = addresses(views.map(({ router, source }) => ({ router: router.id, edge: router.kind === 'edge', source, consumers: null }))).filter(({ internal }) => !internal);
  const active = known
    .filter((address) => (address.in ?? 0) + (address.out ?? 0) > 0)
    .sort((a, b) => (b.in ?? 0) + (b.out ?? 0) - (a.in ?? 0) - (a.out ?? 0));
  return (
    <section aria-label="Busiest addresses">
      <h2>Busiest addresses</h2>
      {active.length === 0 && <p class="note">{waiting(views) ? 'Asking the routers…' : known.some((address) => address.in === null) ? 'Collecting…' : 'No messages come or go now.'}</p>}
      {active.length > 0 && (
        <table class="small busiest">
          <thead><tr><th scope="col">Address</th><th scope="col" class="numeric">In /s</th><th scope="col" class="numeric">Out /s</th><th scope="col" class="numeric">In</th><th scope="col" class="numeric">Out</th></tr></thead>
          <tbody>
            {active.slice(0, BUSIEST).map((address) => (
              <tr key={address.key}>
                <th scope="row"><a href={href('addresses', '', { q: address.text })}>{address.text}</a></th>
                <td class="numeric">{perSecond(address.in)}</td><td class="numeric">{perSecond(address.out)}</td>
                <td class="numeric">{count(address.totalIn)}</td><td class="numeric">{count(address.totalOut)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

/** The sum, or null if a part of it is not known. */
function all(parts: readonly (number | null)[]): number | null {
  return parts.every((part) => part !== null) ? parts.reduce((sum, part) => sum + part, 0) : null;
}

function record(past: Map<string, Sample[]>, name: string, at: number, value: number | null) {
  const samples = past.get(name) ?? [];
  past.set(name, samples);
  const last = samples[samples.length - 1];
  if (value === null || (last && at < last.at + APART)) return;
  samples.push({ at, value });
  while (samples.length && samples[0]!.at < at - LONGEST) samples.shift();
}

function Attention({ all }: { all: readonly Concern[] }) {
  const order = [...all].sort((a, b) => (a.tone === b.tone ? 0 : a.tone === 'bad' ? -1 : 1));
  return (
    <section class="attention" aria-label="Attention">
      <h2>Attention</h2>
      {order.length === 0 && <p class="empty-line"><Badge tone="good">Nothing to report</Badge></p>}
      <ul>
        {order.slice(0, 12).map((concern) => (
          <li key={concern.key}>
            <Badge tone={concern.tone}>{concern.tone === 'bad' ? 'failure' : 'warning'}</Badge>
            <b>{concern.router}</b>
            <span>{concern.text}</span>
            {concern.page !== 'overview' && <a href={href(concern.page)} onClick={() => scope.set(concern.router)}>Show<span class="sr-only"> {concern.page} of {concern.router}</span></a>}
          </li>
        ))}
      </ul>
      {order.length > 12 && <p class="note">And {order.length - 12} more.</p>}
    </section>
  );
}

function Routers({ views }: { views: readonly View[] }) {
  const chosen = useScope();
  // A router that never answered has no row of its own; it is shown all the same.
  const rows = views.map((view) => items([view])[0] ?? { key: view.router.id, router: view.router, source: view.source, identity: '', row: {} });
  const columns = useMemo(() => COLUMNS, []);
  return (
    <section aria-label="Routers">
      <h2>Routers</h2>
      <DataTable
        flow={rows.length <= 40}
        label="Routers"
        rows={rows}
        columns={columns}
        keyOf={(item) => item.router.id}
        onOpen={(item) => scope.set(chosen === item.router.id ? ALL : item.router.id)}
        open={chosen}
        empty={waiting(views) ? 'Asking the routers…' : 'No routers.'}
      />
      <p class="note">Choose a router to see it alone; choose it again to see all.</p>
    </section>
  );
}

const number = (id: string, title: string, name: string, width: number, hint?: string): Column<Item> => ({
  id, title, numeric: true, width, ...(hint && { hint }), value: ({ row }) => row[name] as number, cell: ({ row }) => count(row[name]),
});
const rated = (id: string, title: string, name: string, width: number, hint = 'Deliveries a second'): Column<Item> => ({
  id, title, hint, numeric: true, width, value: ({ source, identity }) => source.rate(identity, name), cell: ({ source, identity }) => perSecond(source.rate(identity, name)),
});

const COLUMNS: Column<Item>[] = [
  { id: 'id', title: 'Router', value: ({ router }) => router.id, cell: ({ router, source }) => (source.error ? <Badge tone="bad">{router.id}</Badge> : <><b>{router.id}</b>{router.own && <span class="note"> connected</span>}</>) },
  { id: 'mode', title: 'Mode', width: 84, value: ({ row, router }) => String(row['mode'] ?? router.kind) },
  { id: 'version', title: 'Version', width: 76, value: ({ row }) => String(row['version'] ?? '') },
  { id: 'uptime', title: 'Up for', width: 80, numeric: true, value: ({ row }) => row['uptimeSeconds'] as number, cell: ({ row }) => duration(row['uptimeSeconds']) },
  number('connections', 'Conn.', 'connectionCount', 76, 'Connections'),
  number('links', 'Links', 'linkCount', 66),
  number('addresses', 'Addresses', 'addrCount', 98),
  rated('in', 'In /s', 'deliveriesIngress', 68),
  rated('out', 'Out /s', 'deliveriesEgress', 76),
  rated('transit', 'Transit', 'deliveriesTransit', 80, 'Deliveries a second that came from another router and went on to another'),
  number('blocked', 'Blocked', 'linksBlocked', 82, 'Links that have had no credit for more than 10 seconds'),
  number('stuck', 'Stuck', 'deliveriesStuck', 70, 'Deliveries unsettled for more than 10 seconds'),
  { id: 'memory', title: 'Memory', width: 88, numeric: true, hint: 'Virtual size of the process', value: ({ row }) => row['memoryUsage'] as number, cell: ({ row }) => bytes(row['memoryUsage']) },
];
