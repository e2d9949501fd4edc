import { expect, test } from 'vitest';
import type { Network } from '../src/model/network';
import { followed, shortest } from '../src/model/follow';
import { Layout } from '../src/model/layout';
import { neighbours, topology, type Seen, type Topology } from '../src/model/topology';
import { Source } from '../src/model/source';

const network = (...ids: string[]): Network => {
  const routers = ids.map((id, index) => ({ id, address: id, kind: 'interior' as const, own: index === 0 }));
  return { own: routers[0]!, routers };
};

interface Link {
  connection: string;
  dir: 'in' | 'out';
  rate: number;
  type?: string;
}

/** A router as it is seen after two answers, ten seconds apart. */
function seen(router: string, connections: Record<string, unknown>[], links: Link[] = []): Seen {
  const rows = (seconds: number) => links.map((link, index) => ({ identity: String(index), connectionId: link.connection, linkDir: link.dir, linkType: link.type ?? 'endpoint', deliveryCount: link.rate * seconds }));
  const view = { router, connections: new Source(router, 'connection'), links: new Source(router, 'link') };
  view.connections.accept(10_000, connections);
  view.links.accept(0, rows(0));
  view.links.accept(10_000, rows(10));
  return view;
}

const edge = (graph: Topology, a: string, b: string) => graph.edges.find((each) => (each.a === a && each.b === b) || (each.a === b && each.b === a));

test('routers are linked as their link state says, though none of their connections was asked for', () => {
  const graph = topology(network('A', 'B', 'C'), [{ id: 'A', linkState: ['B'] }, { id: 'B', linkState: ['A', 'C'] }], []);
  expect(graph.edges.map(({ id }) => id)).toEqual(['router:A|router:B', 'router:B|router:C']);
});

test('a link between routers counts once, though both report it', () => {
  const graph = topology(network('A', 'B'), [], [
    seen('A', [{ identity: '1', role: 'inter-router', container: 'B' }], [{ connection: '1', dir: 'out', rate: 50, type: 'inter-router' }, { connection: '1', dir: 'in', rate: 7, type: 'inter-router' }]),
    seen('B', [{ identity: '9', role: 'inter-router', container: 'A' }], [{ connection: '9', dir: 'in', rate: 50, type: 'inter-router' }, { connection: '9', dir: 'out', rate: 8, type: 'inter-router' }]),
  ]);
  expect(edge(graph, 'router:A', 'router:B')).toMatchObject({ forth: 50, back: 8, cost: 1 });
});

test('where one end is not heard the other end’s counts are taken', () => {
  const graph = topology(network('A', 'B'), [], [seen('B', [{ identity: '9', role: 'inter-router', container: 'A', properties: { 'qd.inter-router-cost': 4 } }], [{ connection: '9', dir: 'in', rate: 50, type: 'inter-router' }])]);
  expect(edge(graph, 'router:A', 'router:B')).toMatchObject({ forth: 50, back: null, cost: 4 });
});

test('clients are grouped by what they do', () => {
  const graph = topology(network('A'), [], [
    seen('A', ['1', '2', '3', '4'].map((identity) => ({ identity, role: 'normal', container: identity, properties: identity === '4' ? { product: 'waystation-console' } : {} })), [
      { connection: '1', dir: 'in', rate: 5 },
      { connection: '2', dir: 'in', rate: 6 },
      { connection: '3', dir: 'out', rate: 1 },
    ]),
  ]);
  expect(graph.vertices.filter(({ kind }) => kind !== 'interior').map(({ id, count }) => [id, count])).toEqual([['senders:A', 2], ['receivers:A', 1], ['console:A', 1]]);
  const group = neighbours(graph, 'senders:A')[0]!.edge;
  expect(group.a === 'senders:A' ? group.forth : group.back).toBe(11);
});

test('a broker that two routers are connected to is one broker', () => {
  const connection = [{ identity: '1', role: 'route-container', container: 'artemis' }];
  const graph = topology(network('A', 'B'), [], [seen('A', connection), seen('B', connection)]);
  expect(graph.vertices.filter(({ kind }) => kind === 'broker')).toMatchObject([{ label: 'artemis', count: 2 }]);
  expect(neighbours(graph, 'broker:artemis')).toHaveLength(2);
});

test('a router that is not in the network any more is not drawn', () => {
  const graph = topology(network('A'), [{ id: 'A', linkState: ['gone'] }], []);
  expect(graph.edges).toEqual([]);
});

test('messages are followed over the cheapest way, and to the clients that have links for them', () => {
  const nodes = [{ id: 'A', linkState: ['B', 'C'] }, { id: 'B', linkState: ['A', 'C'] }, { id: 'C', linkState: ['A', 'B'] }];
  const dear = seen('A', [{ identity: '1', role: 'inter-router', container: 'C', properties: { 'qd.inter-router-cost': 10 } }, { identity: '2', role: 'normal', container: 'x' }], [{ connection: '2', dir: 'in', rate: 1 }]);
  const graph = topology(network('A', 'B', 'C'), nodes, [dear]);
  expect(shortest(graph, 'router:A', 'router:C')).toEqual(['router:A|router:B', 'router:B|router:C']);
  const flow = { ingress: 'A', egress: 'C', address: 'x', total: 1, rate: 1 };
  const links = [{ router: 'A', rows: [{ owningAddr: 'M0x', linkType: 'endpoint', connectionId: '2' }, { owningAddr: 'M0y', linkType: 'endpoint', connectionId: '1' }] }];
  expect([...followed(graph, 'M0x', [flow], links)].sort()).toEqual(['router:A|router:B', 'router:A|senders:A', 'router:B|router:C']);
  expect(shortest(graph, 'router:A', 'router:nowhere')).toEqual([]);
});

/** Routers in a ring with chords, each with senders and receivers. */
export function large(routers: number): Topology {
  const names = Array.from({ length: routers }, (_, index) => `R${index}`);
  const nodes = names.map((id, index) => ({ id, linkState: [names[(index + 1) % routers], names[(index * 7 + 3) % routers]] }));
  const views = names.map((id) => seen(id, [{ identity: '1', role: 'normal', container: 'a' }, { identity: '2', role: 'normal', container: 'b' }], [{ connection: '1', dir: 'in', rate: 3 }, { connection: '2', dir: 'out', rate: 3 }]));
  return topology(network(...names), nodes, views);
}

test('three hundred routers with their clients find their places, none upon another', () => {
  const graph = large(300);
  expect(graph.vertices).toHaveLength(900);
  const layout = new Layout();
  layout.take(graph);
  while (layout.step(50));
  const places = [...layout.places.values()];
  expect(places.every(({ x, y }) => Number.isFinite(x) && Number.isFinite(y))).toBe(true);
  const tooNear = places.filter((a, index) => places.slice(index + 1).some((b) => Math.hypot(a.x! - b.x!, a.y! - b.y!) < 6));
  expect(tooNear).toEqual([]);
});

test('what is there keeps its place when something joins', () => {
  const layout = new Layout();
  layout.take(topology(network('A', 'B'), [{ id: 'A', linkState: ['B'] }], []));
  while (layout.step(50));
  const before = { ...layout.places.get('router:A')! };
  expect(layout.take(topology(network('A', 'B'), [{ id: 'A', linkState: ['B'] }], []))).toBe(false);
  layout.take(topology(network('A', 'B', 'C'), [{ id: 'A', linkState: ['B', 'C'] }], []));
  const after = layout.places.get('router:A')!;
  expect([after.x, after.y]).toEqual([before.x, before.y]);
});

test('what was put somewhere is there again the next time', () => {
  const graph = topology(network('A', 'B'), [{ id: 'A', linkState: ['B'] }], []);
  const layout = new Layout([['router:B', [300, -40]]]);
  layout.take(graph);
  while (layout.step(50));
  expect(layout.places.get('router:B')).toMatchObject({ x: 300, y: -40 });
  layout.fix('router:B', null);
  while (layout.step(50));
  expect(layout.places.get('router:B')!.x).not.toBe(300);
});
