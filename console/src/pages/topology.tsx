import { useMemo, useState } from 'preact/hooks';
import { scope, session, useEntities, useScopedRouters, useStore, type View } from '../app';
import { count, duration, perSecond, short } from '../model/format';
import { items } from '../model/items';
import { CONNECTION_ATTRIBUTES, describe, LINK_ATTRIBUTES, neighbours, topology, type Edge, type Topology, type Vertex } from '../model/topology';
import { TYPES } from '../model/types';
import { isInternal, label } from '../model/address';
import { followed } from '../model/follow';
import type { RouterNode } from '../model/network';
import { href, setParameter, useRoute } from '../route';
import { Failures } from '../ui/failures';
import { NetworkMap } from '../ui/map';
import { useFlows } from './flow';
import { Badge, Drawer, Facts, Page, Select, Toggle, useToggle } from '../ui/parts';
import { DataTable, type Column } from '../ui/table';

/** The network as it is wired: routers, edge routers, brokers and clients, with what goes over each link. */
export function TopologyPage() {
  const network = useStore(session.network);
  const scoped = useScopedRouters();
  const clients = useToggle('clients', true);
  const asList = useToggle('list');
  const [selected, setSelected] = useState<string | null>(null);
  const interior = network.routers.find((router) => router.own && router.kind !== 'edge') ?? network.routers.find(({ id }) => id === network.own?.via) ?? network.own;
  const one = useMemo(() => (interior ? [interior] : []), [interior]);
  const nodes = useEntities(one, TYPES.node, ['id', 'linkState'], 5_000);
  const connections = useEntities(scoped, TYPES.connection, CONNECTION_ATTRIBUTES, 4_000);
  const links = useEntities(scoped, TYPES.link, LINK_ATTRIBUTES, 4_000);
  const version = [...nodes, ...connections, ...links].map(({ source }) => source.at + (source.error ?? '')).join();
  const whole = useMemo(
    () => topology(network, nodes[0]?.source.rows ?? [], scoped.map((router, index) => ({ router: router.id, connections: connections[index]!.source, links: links[index]!.source }))),
    [network, version, scoped],
  );
  const shown = useMemo(() => (clients ? whole : withoutClients(whole)), [whole, clients]);
  const key = useRoute().parameters.get('follow') ?? '';
  const { ways, edges } = useFollowed(key, whole, scoped);
  const vertex = whole.vertices.find(({ id }) => id === selected);
  const edge = whole.edges.find(({ id }) => id === selected);
  const close = () => setSelected(null);
  return (
    <Page fill title="Topology" note={summary(whole)} tools={<><Follow chosen={key} routers={one} /><Toggle name="clients" label="clients" preset /><Toggle name="list" label="as a list" /></>}>
      <Failures views={connections} />
      {key && <p class="note" role="status">{ways}</p>}
      <div class="with-drawer">
        {asList ? <Neighbourhoods topology={shown} selected={selected} onSelect={setSelected} /> : <NetworkMap topology={shown} selected={selected} followed={edges} onSelect={setSelected} />}
        {vertex && <VertexDetails key={vertex.id} vertex={vertex} topology={whole} connections={connections} onSelect={setSelected} onClose={close} />}
        {edge && <EdgeDetails key={edge.id} edge={edge} topology={whole} onSelect={setSelected} onClose={close} />}
      </div>
      {!asList && <Legend />}
    </Page>
  );
}

const NO_LINKS: string[] = ['linkType'];
const FOLLOWED_LINKS = ['linkType', 'linkDir', 'owningAddr', 'ingressHistogram', 'connectionId'];

/** Choosing an address whose way is to be shown. */
function Follow({ chosen, routers }: { chosen: string; routers: readonly RouterNode[] }) {
  const [view] = useEntities(routers, TYPES.address, ['key'], 10_000);
  const keys = (view?.source.rows ?? []).map((row) => String(row['key'])).filter((key) => key.startsWith('M') && !isInternal(key));
  if (chosen && !keys.includes(chosen)) keys.push(chosen);
  const options = [{ value: '', label: 'all traffic' }, ...keys.sort().map((key) => ({ value: key, label: `only ${label(key)}` }))];
  return <Select hideLabel label="Traffic shown" value={chosen} options={options} onChange={(key) => setParameter('follow', key)} />;
}

/** The edges that an address is followed over, and its ways in words; nothing more is asked of the routers while none is followed. */
function useFollowed(key: string, graph: Topology, scoped: readonly RouterNode[]) {
  const interior = useMemo(() => (key ? scoped.filter(({ kind }) => kind !== 'edge') : []), [key, scoped]);
  const links = useEntities(key ? scoped : [], TYPES.link, key ? FOLLOWED_LINKS : NO_LINKS, 4_000);
  const places = useEntities(interior, TYPES.node, ['id', 'index'], 30_000);
  const inside = links.filter(({ router }) => router.kind !== 'edge');
  const flows = useFlows(places, inside).filter(({ address }) => address === label(key));
  const version = links.map(({ source }) => source.at).join();
  const edges = useMemo(() => (key ? followed(graph, key, flows, links.map(({ router, source }) => ({ router: router.id, rows: source.rows }))) : null), [key, graph, version]);
  const moving = flows.filter(({ rate }) => rate).sort((a, b) => b.rate! - a.rate!);
  const ways = moving.slice(0, 6).map(({ ingress, egress, rate }) => `${ingress} → ${egress} ${perSecond(rate)}/s`).join(', ');
  return { edges, ways: `${label(key)}: ${ways || 'nothing is delivered now'}${moving.length > 6 ? `, and ${moving.length - 6} more ways` : ''}.` };
}

function withoutClients({ vertices, edges, wires }: Topology): Topology {
  const kept = vertices.filter(({ kind }) => kind === 'interior' || kind === 'edge' || kind === 'broker');
  const ids = new Set(kept.map(({ id }) => id));
  return { vertices: kept, edges: edges.filter(({ a, b }) => ids.has(a) && ids.has(b)), wires };
}

function summary({ vertices }: Topology): string {
  const amount = (...kinds: string[]) => vertices.filter(({ kind }) => kinds.includes(kind)).reduce((sum, vertex) => sum + (vertex.kind === 'interior' || vertex.kind === 'edge' || vertex.kind === 'broker' ? 1 : vertex.count), 0);
  const parts: [number, string][] = [[amount('interior'), 'router'], [amount('edge'), 'edge router'], [amount('broker'), 'broker'], [amount('senders', 'receivers', 'clients'), 'client']];
  return parts.filter(([number]) => number).map(([number, word]) => `${number} ${word}${number === 1 ? '' : 's'}`).join(', ');
}

const LEGEND = [
  ['Router', <circle cx="8" cy="8" r="6" class="fill-accent" />],
  ['Edge router', <path d="M8 1l7 7-7 7-7-7z" class="fill-edge" />],
  ['Broker', <rect x="1.5" y="3" width="13" height="10" rx="2.5" class="fill-broker" />],
  ['Senders', <path d="M8 2l6 11H2z" class="hollow" />],
  ['Receivers', <path d="M8 14L2 3h12z" class="hollow" />],
  ['Both', <circle cx="8" cy="8" r="5.5" class="hollow" />],
  ['Console', <rect x="2" y="3.5" width="12" height="9" rx="1" class="hollow" />],
  ['Does not answer', <circle cx="8" cy="8" r="6" class="hollow bad" stroke-dasharray="3 2" />],
] as const;

function Legend() {
  return (
    <ul class="map-legend" aria-label="Shapes">
      {LEGEND.map(([name, shape]) => <li key={name}><svg width="16" height="16" aria-hidden="true">{shape}</svg>{name}</li>)}
      <li class="note">Numbers are deliveries a second, beside the end they come from. Drag to arrange, double-click to let go.</li>
    </ul>
  );
}

/** The rates of an edge as one of its ends sees them. */
function seenFrom(edge: Edge, id: string) {
  return edge.a === id ? { out: edge.forth, in: edge.back } : { out: edge.back, in: edge.forth };
}

function Neighbours({ vertex, topology: graph, onSelect }: { vertex: Vertex; topology: Topology; onSelect(id: string): void }) {
  const beside = neighbours(graph, vertex.id)
    .map(({ id, edge }) => ({ edge, other: graph.vertices.find((each) => each.id === id) }))
    .filter((each): each is { edge: Edge; other: Vertex } => each.other !== undefined);
  return (
    <table class="small">
      <thead><tr><th scope="col">Linked with</th><th scope="col" class="numeric">Cost</th><th scope="col" class="numeric">Out /s</th><th scope="col" class="numeric">In /s</th></tr></thead>
      <tbody>
        {beside.map(({ edge, other }) => {
          const rates = seenFrom(edge, vertex.id);
          return (
            <tr key={edge.id}>
              <th scope="row"><button type="button" class="link" onClick={() => onSelect(other.id)}>{describe(other)}</button></th>
              <td class="numeric">{count(edge.cost)}</td>
              <td class="numeric">{perSecond(rates.out)}</td>
              <td class="numeric">{perSecond(rates.in)}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

interface DetailsProperties {
  topology: Topology;
  onSelect(id: string): void;
  onClose(): void;
}

function VertexDetails({ vertex, topology: graph, connections, onSelect, onClose }: DetailsProperties & { vertex: Vertex; connections: readonly View[] }) {
  const router = vertex.kind === 'interior' || vertex.kind === 'edge';
  const rows = items(connections);
  const members = vertex.connections.map((each) => rows.find(({ router: { id }, identity }) => id === each.router && identity === each.identity)).filter((item) => item !== undefined);
  return (
    <Drawer title={router || vertex.kind === 'broker' ? vertex.label : describe(vertex)} subtitle={router || vertex.kind === 'broker' ? describe(vertex) : undefined} onClose={onClose}>
      {router && <RouterFacts vertex={vertex} />}
      <h3>Links</h3>
      <Neighbours vertex={vertex} topology={graph} onSelect={onSelect} />
      {members.length > 0 && (
        <>
          <h3>Connections</h3>
          <table class="small">
            <thead><tr><th scope="col">Container</th><th scope="col">Host</th><th scope="col">User</th><th scope="col">Router</th></tr></thead>
            <tbody>
              {members.slice(0, 200).map((item) => (
                <tr key={item.key}>
                  <th scope="row"><a href={href('connections', '', { q: String(item.row['container'] ?? '') })}>{String(item.row['container'] ?? '–')}</a></th>
                  <td>{String(item.row['host'] ?? '–')}</td>
                  <td>{String(item.row['user'] ?? '–')}</td>
                  <td>{item.router.id}</td>
                </tr>
              ))}
            </tbody>
          </table>
          {members.length > 200 && <p class="note">And {members.length - 200} more.</p>}
        </>
      )}
    </Drawer>
  );
}

function RouterFacts({ vertex }: { vertex: Vertex }) {
  const network = useStore(session.network);
  const router = network.routers.find(({ id }) => id === vertex.router);
  const one = useMemo(() => (router ? [router] : []), [router]);
  const [view] = useEntities(one, TYPES.router, []);
  const row = view?.source.rows[0];
  const show = (page: string, text: string) => <a href={href(page)} onClick={() => scope.set(vertex.router)}>{text}</a>;
  const rate = (name: string) => perSecond(view?.source.rate(String(row?.['identity']), name));
  return (
    <>
      {vertex.silent && <p class="message bad">■ {view?.source.error ?? 'This router does not answer.'}</p>}
      <Facts
        facts={[
          ['Version', String(row?.['version'] ?? '–')],
          ['Up for', duration(row?.['uptimeSeconds'])],
          ['Deliveries', `${rate('deliveriesIngress')}/s in, ${rate('deliveriesEgress')}/s out, ${rate('deliveriesTransit')}/s through`],
          ['Connections', <>{count(row?.['connectionCount'])} · {show('connections', 'show')}</>],
          ['Links', <>{count(row?.['linkCount'])} · {show('links', 'show')} {Number(row?.['linksBlocked'] ?? 0) > 0 && <Badge tone="warn">{count(row?.['linksBlocked'])} blocked</Badge>}</>],
          ['Addresses', <>{count(row?.['addrCount'])} · {show('addresses', 'show')}</>],
          ['More', <>{show('logs', 'Logs')} · {show('connectors', 'Connectors')} · {show('overview', 'Overview')}</>],
        ]}
      />
    </>
  );
}

function EdgeDetails({ edge, topology: graph, onSelect, onClose }: DetailsProperties & { edge: Edge }) {
  const [a, b] = [edge.a, edge.b].map((id) => graph.vertices.find((vertex) => vertex.id === id)!);
  const name = (vertex: Vertex) => <button type="button" class="link" onClick={() => onSelect(vertex.id)}>{describe(vertex)}</button>;
  const total = (edge.forth ?? 0) + (edge.back ?? 0);
  return (
    <Drawer title={`${a!.label} – ${b!.label}`} subtitle={`${short(Math.round(total))} deliveries a second, both ways`} onClose={onClose}>
      <Facts facts={[['Between', <>{name(a!)} and {name(b!)}</>], [`${a!.label} → ${b!.label}`, `${perSecond(edge.forth)}/s`], [`${b!.label} → ${a!.label}`, `${perSecond(edge.back)}/s`], ['Cost', count(edge.cost)]]} />
    </Drawer>
  );
}

interface Neighbourhood {
  vertex: Vertex;
  beside: string;
  in: number;
  out: number;
}

const LIST: Column<Neighbourhood>[] = [
  { id: 'name', title: 'Name', value: ({ vertex }) => describe(vertex), cell: ({ vertex }) => (vertex.silent ? <Badge tone="bad">{describe(vertex)}</Badge> : <b>{describe(vertex)}</b>) },
  { id: 'kind', title: 'Kind', width: 100, value: ({ vertex }) => vertex.kind },
  { id: 'beside', title: 'Linked with', value: ({ beside }) => beside },
  { id: 'in', title: 'In /s', width: 90, numeric: true, value: (each) => each.in, cell: (each) => perSecond(each.in) },
  { id: 'out', title: 'Out /s', width: 90, numeric: true, value: (each) => each.out, cell: (each) => perSecond(each.out) },
];

/** The same network for those who do not look at maps. */
function Neighbourhoods({ topology: graph, selected, onSelect }: { topology: Topology; selected: string | null; onSelect(id: string): void }) {
  const names = new Map(graph.vertices.map((vertex) => [vertex.id, describe(vertex)]));
  const rows = graph.vertices.map((vertex) => {
    const around = neighbours(graph, vertex.id);
    const sum = (way: 'in' | 'out') => around.reduce((total, { edge }) => total + (seenFrom(edge, vertex.id)[way] ?? 0), 0);
    return { vertex, beside: around.map(({ id }) => names.get(id) ?? '').join(', '), in: sum('in'), out: sum('out') };
  });
  return <DataTable label="Topology" rows={rows} columns={LIST} keyOf={({ vertex }) => vertex.id} onOpen={({ vertex }) => onSelect(vertex.id)} open={selected} empty="No routers are known yet." />;
}
