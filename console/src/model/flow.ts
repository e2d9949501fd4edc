// Who sends to whom: deliveries by the router they came in at and the router they left from.
import { label } from './address';
import type { Row } from './operations';

/** Deliveries of an address from one router to another since the links were attached, and how many a second now. */
export interface Flow {
  ingress: string;
  egress: string;
  address: string;
  total: number;
  rate: number | null;
}

/** The ids of routers by their place in an ingress histogram of the router whose `router.node` rows these are. */
export function places(nodes: readonly Row[]): Map<number, string> {
  const result = new Map<number, string>();
  for (const node of nodes) if (typeof node['index'] === 'number') result.set(node['index'] as number, String(node['id']));
  return result;
}

/** What left the network at this router, by where it had come in. Links of the console's own are left out. */
export function flows(egress: string, nodes: readonly Row[], links: readonly Row[]): Omit<Flow, 'rate'>[] {
  const ids = places(nodes);
  const sums = new Map<string, Omit<Flow, 'rate'>>();
  for (const link of links) {
    const histogram = link['ingressHistogram'];
    const key = link['owningAddr'];
    if (link['linkDir'] !== 'out' || link['linkType'] !== 'endpoint' || !Array.isArray(histogram)) continue;
    if (typeof key !== 'string' || key.startsWith('Ltemp.') || key.startsWith('M0$')) continue;
    histogram.forEach((amount, place) => {
      const ingress = ids.get(place) ?? (ids.size === 0 && place === 0 ? egress : undefined);
      if (!ingress || typeof amount !== 'number' || amount <= 0) return;
      const address = label(key);
      const cell = `${ingress}\n${address}`;
      const entry = sums.get(cell) ?? { ingress, egress, address, total: 0 };
      entry.total += amount;
      sums.set(cell, entry);
    });
  }
  return [...sums.values()];
}

/** A square matrix: `cells[from][to]`, over the routers in this order. */
export interface Matrix {
  routers: string[];
  cells: number[][];
}

export function matrix(all: readonly Flow[], value: (flow: Flow) => number): Matrix {
  const routers = [...new Set(all.flatMap((flow) => [flow.ingress, flow.egress]))].sort((a, b) => a.localeCompare(b));
  const place = new Map(routers.map((id, index) => [id, index]));
  const cells = routers.map(() => routers.map(() => 0));
  for (const flow of all) cells[place.get(flow.ingress)!]![place.get(flow.egress)!]! += value(flow);
  return { routers, cells };
}

/** One end of a ribbon: a piece of its router's arc, from angle to angle in radians. */
export interface Arc {
  router: number;
  from: number;
  to: number;
}

export interface Ribbon {
  source: Arc;
  target: Arc;
  value: number;
}

export interface Chord {
  arcs: Arc[];
  ribbons: Ribbon[];
}

const GAP = 0.04;

/** Lays a matrix out on a circle: each router has an arc as long as what it takes in and puts out. */
export function chord({ routers, cells }: Matrix): Chord {
  const weight = routers.map((_, index) => sumOf(cells[index]!) + sumOf(cells.map((row) => row[index]!)));
  const total = sumOf(weight);
  if (!total) return { arcs: [], ribbons: [] };
  const scale = (2 * Math.PI - GAP * routers.length) / total;
  const arcs: Arc[] = [];
  let angle = 0;
  weight.forEach((size, router) => {
    arcs.push({ router, from: angle, to: angle + size * scale });
    angle += size * scale + GAP;
  });
  const cursor = arcs.map((arc) => arc.from);
  const take = (router: number, size: number): Arc => {
    const from = cursor[router]!;
    cursor[router] = from + size * scale;
    return { router, from, to: cursor[router]! };
  };
  const ribbons: Ribbon[] = [];
  routers.forEach((_, from) =>
    routers.forEach((__, to) => {
      const value = cells[from]![to]!;
      if (value > 0) ribbons.push({ source: take(from, value), target: take(to, value), value });
    }),
  );
  return { arcs, ribbons };
}

function sumOf(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
