// Where the vertices of a topology are drawn.
import { forceCollide, forceLink, forceManyBody, forceSimulation, forceX, forceY, type Simulation, type SimulationLinkDatum, type SimulationNodeDatum } from 'd3-force';
import type { Topology, VertexKind } from './topology';

export interface Place extends SimulationNodeDatum {
  id: string;
  kind: VertexKind;
  radius: number;
}

interface Tie extends SimulationLinkDatum<Place> {
  length: number;
}

const RADII: Record<VertexKind, number> = { interior: 15, edge: 12, broker: 13, senders: 8, receivers: 8, clients: 8, console: 8 };
const isRouter = (kind: VertexKind) => kind === 'interior' || kind === 'edge';

/** A layout by forces, which keeps what it has when the topology changes. */
export class Layout {
  readonly places = new Map<string, Place>();
  /** Where a person has put things, by vertex. */
  readonly fixed: Map<string, readonly [number, number]>;
  private readonly simulation: Simulation<Place, Tie>;
  private structure = '';

  constructor(fixed: Iterable<readonly [string, readonly [number, number]]> = []) {
    this.fixed = new Map(fixed);
    this.simulation = forceSimulation<Place, Tie>().stop();
    this.simulation.alphaDecay(0.03).velocityDecay(0.45);
  }

  /** Takes a new topology; true if its structure is another than before. */
  take(topology: Topology): boolean {
    const structure = topology.vertices.map(({ id }) => id).join() + topology.edges.map(({ id }) => id).join();
    if (structure === this.structure) return false;
    const first = this.structure === '';
    this.structure = structure;
    this.keep(topology);
    const ties = topology.edges.map(({ a, b }) => this.tie(this.places.get(a)!, this.places.get(b)!));
    const crowd = topology.vertices.length > 120;
    this.simulation
      .nodes([...this.places.values()])
      .force('charge', forceManyBody<Place>().strength((place) => (isRouter(place.kind) ? -420 : -110)).distanceMax(crowd ? 500 : 900).theta(1))
      .force('link', forceLink<Place, Tie>(ties).distance(({ length }) => length).strength((tie) => (isRouter((tie.source as Place).kind) && isRouter((tie.target as Place).kind) ? 0.35 : 0.7)))
      .force('collide', forceCollide<Place>((place) => place.radius + 14).iterations(crowd ? 1 : 2))
      .force('x', forceX<Place>().strength(crowd ? 0.05 : 0.04))
      .force('y', forceY<Place>().strength(crowd ? 0.06 : 0.07))
      .alpha(first ? 1 : 0.5);
    return true;
  }

  /** Moves everything a little, for at most so many milliseconds; false if nothing moves any more. */
  step(budget: number, now: () => number = () => performance.now()): boolean {
    const end = now() + budget;
    while (this.simulation.alpha() > 0.02) {
      this.simulation.tick();
      if (now() >= end) return true;
    }
    return false;
  }

  /** Keeps a vertex where it has been put, or lets it go. */
  fix(id: string, at: readonly [number, number] | null) {
    const place = this.places.get(id);
    if (at) this.fixed.set(id, at);
    else this.fixed.delete(id);
    if (place) [place.fx, place.fy] = at ?? [null, null];
    this.stir();
  }

  /** Sets things moving again, for instance because one is being dragged. */
  stir(alpha = 0.3) {
    this.simulation.alpha(Math.max(alpha, this.simulation.alpha()));
  }

  private keep(topology: Topology) {
    const wanted = new Set(topology.vertices.map(({ id }) => id));
    for (const id of this.places.keys()) if (!wanted.has(id)) this.places.delete(id);
    const count = topology.vertices.length;
    topology.vertices.forEach((vertex, index) => {
      const place = this.places.get(vertex.id);
      if (place) return void (place.kind = vertex.kind);
      const fixed = this.fixed.get(vertex.id);
      const start = fixed ? { x: fixed[0], y: fixed[1], fx: fixed[0], fy: fixed[1] } : this.start(topology, vertex.id, index, count);
      this.places.set(vertex.id, { id: vertex.id, kind: vertex.kind, radius: RADII[vertex.kind], ...start });
    });
  }

  /** Beside what it is attached to, where that has a place; else on a circle, so that the result is the same each time. */
  private start(topology: Topology, id: string, index: number, count: number) {
    const angle = (2 * Math.PI * index) / Math.max(1, count);
    const edge = topology.edges.find(({ a, b }) => (a === id && this.places.has(b)) || (b === id && this.places.has(a)));
    const anchor = edge && this.places.get(edge.a === id ? edge.b : edge.a);
    if (anchor?.x !== undefined && anchor.y !== undefined) return { x: anchor.x + 40 * Math.cos(angle), y: anchor.y + 40 * Math.sin(angle) };
    const radius = 60 + 8 * Math.sqrt(count) * 4;
    return { x: radius * Math.cos(angle), y: radius * Math.sin(angle) };
  }

  private tie(source: Place, target: Place): Tie {
    const routers = isRouter(source.kind) && isRouter(target.kind);
    const crowd = this.places.size > 120;
    return { source, target, length: routers ? (crowd ? 90 : 170) : source.kind === 'broker' || target.kind === 'broker' ? 110 : crowd ? 34 : 78 };
  }
}
