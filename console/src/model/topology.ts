// The network as a graph: routers, what is attached to them, and how much goes each way.
import { remembered } from './memo';
import type { Network } from './network';
import type { Row } from './operations';
import type { Source } from './source';

export type VertexKind = 'interior' | 'edge' | 'broker' | 'senders' | 'receivers' | 'clients' | 'console';

export interface Vertex {
  id: string;
  kind: VertexKind;
  label: string;
  /** The router that this is, or that it is attached to. */
  router: string;
  /** How many connections a group stands for. */
  count: number;
  own: boolean;
  /** The router did not answer when it was last asked. */
  silent: boolean;
  /** The connections of a group or of a broker: router and identity. */
  connections: { router: string; identity: string }[];
}

export interface Edge {
  id: string;
  a: string;
  b: string;
  cost: number | null;
  /** Deliveries a second, or null where they are not known. */
  forth: number | null;
  back: number | null;
}

export interface Topology {
  vertices: Vertex[];
  edges: Edge[];
  /** The edge that each connection is a part of, by `wireOf` its router and identity. */
  wires: ReadonlyMap<string, string>;
}

export const wireOf = (router: string, connection: string) => `${router}\n${connection}`;

export interface Seen {
  router: string;
  connections: Source;
  links: Source;
}

export const CONNECTION_ATTRIBUTES = ['container', 'role', 'dir', 'host', 'properties', 'user', 'active', 'operStatus'];
export const LINK_ATTRIBUTES = ['connectionId', 'linkDir', 'linkType', 'deliveryCount'];

/** Rates of one connection's links: `out` is what the router sends. */
interface Traffic {
  in: number | null;
  out: number | null;
  senders: number;
  receivers: number;
}

export const routerVertex = (id: string) => `router:${id}`;

export function topology(network: Network, nodes: readonly Row[], seen: readonly Seen[]): Topology {
  const graph = new Graph();
  for (const router of network.routers) {
    const view = seen.find((each) => each.router === router.id);
    graph.vertex({
      id: routerVertex(router.id),
      kind: router.kind === 'edge' ? 'edge' : 'interior',
      label: router.id,
      router: router.id,
      count: 1,
      own: router.own,
      silent: Boolean(view?.connections.error),
      connections: [],
    });
    if (router.via) graph.edge(routerVertex(router.via), routerVertex(router.id));
  }
  linkState(graph, nodes);
  for (const view of seen) attached(graph, view);
  return graph.finish();
}

/** The routers next door to each, as the routing protocol has them. */
function linkState(graph: Graph, nodes: readonly Row[]) {
  for (const node of nodes) {
    if (!Array.isArray(node['linkState'])) continue;
    for (const neighbour of node['linkState']) graph.edge(routerVertex(String(node['id'])), routerVertex(String(neighbour)));
  }
}

function attached(graph: Graph, { router, connections, links }: Seen) {
  const traffic = trafficOf(links);
  for (const connection of connections.rows) {
    const identity = String(connection['identity']);
    const flow = traffic.get(identity) ?? { in: null, out: null, senders: 0, receivers: 0 };
    const properties = (connection['properties'] ?? {}) as Record<string, unknown>;
    const container = String(connection['container'] ?? connection['host'] ?? identity);
    const here = routerVertex(router);
    switch (connection['role']) {
      case 'inter-router': {
        // A cost of 1 is not said.
        const cost = typeof properties['qd.inter-router-cost'] === 'number' ? (properties['qd.inter-router-cost'] as number) : 1;
        graph.wire(router, identity, graph.edge(here, routerVertex(container), flow, cost));
        break;
      }
      case 'edge':
        graph.wire(router, identity, graph.edge(here, routerVertex(container), flow));
        break;
      case 'route-container': {
        const id = `broker:${container}`;
        graph.group(id, 'broker', container, router, identity);
        graph.wire(router, identity, graph.edge(here, id, flow));
        break;
      }
      default: {
        const kind = clientKind(properties, flow);
        const id = `${kind}:${router}`;
        graph.group(id, kind, kind, router, identity);
        graph.wire(router, identity, graph.edge(here, id, flow));
      }
    }
  }
}

function clientKind(properties: Record<string, unknown>, flow: Traffic): VertexKind {
  if (properties['console_identifier'] || /console/.test(String(properties['product'] ?? ''))) return 'console';
  if (flow.senders && !flow.receivers) return 'senders';
  if (flow.receivers && !flow.senders) return 'receivers';
  return 'clients';
}

const trafficOf = remembered((links: Source): Map<string, Traffic> => {
  const result = new Map<string, Traffic>();
  for (const link of links.rows) {
    const connection = String(link['connectionId']);
    const entry = result.get(connection) ?? { in: null, out: null, senders: 0, receivers: 0 };
    result.set(connection, entry);
    const endpoint = link['linkType'] === 'endpoint';
    if (link['linkDir'] === 'in') entry.senders += endpoint ? 1 : 0;
    else entry.receivers += endpoint ? 1 : 0;
    if (link['linkType'] === 'router-control') continue;
    const rate = links.rate(String(link['identity']), 'deliveryCount');
    if (rate === null) continue;
    if (link['linkDir'] === 'in') entry.in = (entry.in ?? 0) + rate;
    else entry.out = (entry.out ?? 0) + rate;
  }
  return result;
});

class Graph {
  private readonly vertices = new Map<string, Vertex>();
  private readonly wires = new Map<string, string>();
  private readonly edges = new Map<string, Edge & { seenFrom: Set<string> }>();

  vertex(vertex: Vertex) {
    this.vertices.set(vertex.id, vertex);
  }

  wire(router: string, connection: string, edge: string) {
    this.wires.set(wireOf(router, connection), edge);
  }

  group(id: string, kind: VertexKind, label: string, router: string, identity: string) {
    const vertex = this.vertices.get(id) ?? { id, kind, label, router, count: 0, own: false, silent: false, connections: [] };
    vertex.count += 1;
    vertex.connections.push({ router, identity });
    this.vertices.set(id, vertex);
  }

  /**
   * Joins two vertices; `traffic` is as the first sees it. Both ends of a connection between routers report it: the sender's
   * count of what it sent is taken, and the receiver's only where the sender does not answer.
   */
  edge(from: string, to: string, traffic?: Traffic, cost: number | null = null): string {
    const [a, b] = from < to ? [from, to] : [to, from];
    const id = `${a}|${b}`;
    const edge = this.edges.get(id) ?? { id, a, b, cost: null, forth: null, back: null, seenFrom: new Set<string>() };
    this.edges.set(id, edge);
    edge.cost = cost === null ? edge.cost : Math.max(cost, edge.cost ?? 1);
    if (!traffic) return id;
    const again = edge.seenFrom.has(from);
    const other = edge.seenFrom.size > (again ? 1 : 0);
    edge.seenFrom.add(from);
    const sent = from === a ? 'forth' : 'back';
    const received = from === a ? 'back' : 'forth';
    if (traffic.out !== null) edge[sent] = again ? (edge[sent] ?? 0) + traffic.out : traffic.out;
    if (traffic.in !== null && !other) edge[received] = again ? (edge[received] ?? 0) + traffic.in : traffic.in;
    return id;
  }

  finish(): Topology {
    const edges = [...this.edges.values()].filter((edge) => this.vertices.has(edge.a) && this.vertices.has(edge.b));
    return { vertices: [...this.vertices.values()], edges: edges.map(({ seenFrom: _, ...edge }) => edge), wires: this.wires };
  }
}

/** Beside each other in the graph, by vertex. */
export function neighbours({ edges }: Topology, id: string): { id: string; edge: Edge }[] {
  return edges.filter((edge) => edge.a === id || edge.b === id).map((edge) => ({ id: edge.a === id ? edge.b : edge.a, edge }));
}

export function describe(vertex: Vertex): string {
  switch (vertex.kind) {
    case 'interior':
      return `router ${vertex.label}${vertex.silent ? ', does not answer' : ''}`;
    case 'edge':
      return `edge router ${vertex.label}${vertex.silent ? ', does not answer' : ''}`;
    case 'broker':
      return `broker ${vertex.label}`;
    default: {
      const what = { senders: 'sender', receivers: 'receiver', clients: 'client', console: 'console' }[vertex.kind];
      return `${vertex.count} ${what}${vertex.count === 1 ? '' : 's'} at ${vertex.router}`;
    }
  }
}
