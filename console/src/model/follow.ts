// The way that messages of one address take over the map.
import type { Flow } from './flow';
import type { Row } from './operations';
import { routerVertex, wireOf, type Topology } from './topology';

/** The edges that messages to an address go over: from router to router, and to and from clients, brokers and edge routers. */
export function followed(graph: Topology, key: string, flows: readonly Flow[], links: readonly { router: string; rows: readonly Row[] }[]): Set<string> {
  const edges = new Set<string>();
  const ways = new Ways(graph);
  for (const { ingress, egress } of flows) for (const id of ways.between(routerVertex(ingress), routerVertex(egress))) edges.add(id);
  for (const { router, rows } of links) {
    for (const link of rows) {
      if (link['owningAddr'] !== key || link['linkType'] !== 'endpoint') continue;
      const wire = graph.wires.get(wireOf(router, String(link['connectionId'])));
      if (wire) edges.add(wire);
    }
  }
  return edges;
}

/** The edges of the cheapest way between two routers, as the routing protocol has it; none if there is no way. */
export function shortest(graph: Topology, from: string, to: string): string[] {
  return new Ways(graph).between(from, to);
}

interface Step {
  edge: string;
  before: string;
}

/** Cheapest ways between routers; those from one router are found together. */
class Ways {
  private readonly beside = new Map<string, { to: string; edge: string; cost: number }[]>();
  private readonly trees = new Map<string, Map<string, Step>>();

  constructor({ edges }: Topology) {
    for (const { id, a, b, cost } of edges) {
      // Only routers pass messages on.
      if (!a.startsWith('router:') || !b.startsWith('router:')) continue;
      for (const [from, to] of [[a, b], [b, a]] as const) {
        const list = this.beside.get(from) ?? [];
        list.push({ to, edge: id, cost: cost ?? 1 });
        this.beside.set(from, list);
      }
    }
  }

  between(from: string, to: string): string[] {
    let tree = this.trees.get(from);
    if (!tree) this.trees.set(from, (tree = this.tree(from)));
    const way = [];
    for (let step = tree.get(to); step; step = tree.get(step.before)) way.push(step.edge);
    return way.reverse();
  }

  /** For each router, the last step of the cheapest way to it. */
  private tree(root: string): Map<string, Step> {
    const steps = new Map<string, Step>();
    const open = new Map([[root, 0]]);
    const done = new Set<string>();
    while (open.size) {
      const [here, cost] = [...open].reduce((least, each) => (each[1] < least[1] ? each : least));
      open.delete(here);
      done.add(here);
      for (const next of this.beside.get(here) ?? []) {
        const total = cost + next.cost;
        if (done.has(next.to) || total >= (open.get(next.to) ?? Infinity)) continue;
        open.set(next.to, total);
        steps.set(next.to, { edge: next.edge, before: here });
      }
    }
    return steps;
  }
}
