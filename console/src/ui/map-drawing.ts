// Draws a topology on a canvas.
import { perSecond } from '../model/format';
import type { Layout, Place } from '../model/layout';
import type { Edge, Topology, Vertex } from '../model/topology';

export interface Colours {
  text: string;
  muted: string;
  line: string;
  surface: string;
  accent: string;
  bad: string;
  edge: string;
  broker: string;
}

export interface Camera {
  x: number;
  y: number;
  scale: number;
}

export interface Scene {
  topology: Topology;
  layout: Layout;
  camera: Camera;
  /** The vertex or edge that details are shown of. */
  selected: string | null;
  /** What the pointer or the keyboard is at. */
  pointed: string | null;
  /** The edges that an address is followed over; the rest is faint. */
  followed: ReadonlySet<string> | null;
  /** Seconds, for what moves along the links; null if nothing is to move. */
  phase: number | null;
}

/** With more edges than this nothing moves along them, and their rates are written only from near. */
const MANY_EDGES = 150;
const FAINT = 0.2;

export function readColours(element: Element): Colours {
  const style = getComputedStyle(element);
  const read = (name: string) => style.getPropertyValue(name).trim();
  return { text: read('--text'), muted: read('--muted'), line: read('--line-strong'), surface: read('--surface'), accent: read('--accent'), bad: read('--bad'), edge: read('--hue-3'), broker: read('--hue-1') };
}

export function draw(context: CanvasRenderingContext2D, width: number, height: number, scene: Scene, colours: Colours) {
  const { camera, topology, layout } = scene;
  context.clearRect(0, 0, width, height);
  context.save();
  context.translate(width / 2 - camera.x * camera.scale, height / 2 - camera.y * camera.scale);
  context.scale(camera.scale, camera.scale);
  const many = topology.edges.length > MANY_EDGES;
  const near = camera.scale > (many ? 0.9 : 0.45);
  const { followed } = scene;
  const touched = followed && new Set(topology.edges.filter(({ id }) => followed.has(id)).flatMap(({ a, b }) => [a, b]));
  for (const edge of topology.edges) {
    context.globalAlpha = !followed || followed.has(edge.id) ? 1 : FAINT;
    drawEdge(context, edge, scene, colours, many);
  }
  context.globalAlpha = 1;
  if (near && !followed) for (const edge of topology.edges) drawRates(context, edge, scene, colours);
  for (const vertex of topology.vertices) {
    const place = layout.places.get(vertex.id);
    context.globalAlpha = !touched || touched.has(vertex.id) ? 1 : FAINT;
    if (place) drawVertex(context, vertex, place, scene, colours, near || (!many && camera.scale > 0.3));
  }
  context.restore();
}

function ends(edge: Edge, layout: Layout): [Place, Place] | null {
  const [a, b] = [layout.places.get(edge.a), layout.places.get(edge.b)];
  return a && b ? [a, b] : null;
}

function drawEdge(context: CanvasRenderingContext2D, edge: Edge, scene: Scene, colours: Colours, many: boolean) {
  const pair = ends(edge, scene.layout);
  if (!pair) return;
  const [a, b] = pair;
  const rate = (edge.forth ?? 0) + (edge.back ?? 0);
  const marked = scene.followed?.has(edge.id) || edge.id === scene.selected || edge.id === scene.pointed || edge.a === scene.pointed || edge.b === scene.pointed;
  context.beginPath();
  context.moveTo(a.x!, a.y!);
  context.lineTo(b.x!, b.y!);
  context.lineWidth = (rate > 0 ? Math.min(5, 1.2 + Math.log10(1 + rate)) : 1) + (marked ? 0.8 : 0);
  context.strokeStyle = marked ? colours.accent : colours.line;
  context.stroke();
  if (many || scene.phase === null || (scene.followed && !scene.followed.has(edge.id))) return;
  const colour = scene.followed ? colours.text : colours.accent;
  drawMotion(context, a, b, edge.forth, scene.phase, colour);
  drawMotion(context, b, a, edge.back, scene.phase, colour);
}

/** Dots that go the way deliveries do: the more deliveries, the more of them. */
function drawMotion(context: CanvasRenderingContext2D, from: Place, to: Place, rate: number | null, phase: number, colour: string) {
  if (!rate || rate < 0.05) return;
  const [dx, dy] = [to.x! - from.x!, to.y! - from.y!];
  const length = Math.hypot(dx, dy) || 1;
  const dots = Math.min(6, 1 + Math.floor(Math.log2(1 + rate / 4)));
  const travelled = (phase * 38) % length;
  context.fillStyle = colour;
  for (let dot = 0; dot < dots; dot += 1) {
    const part = ((travelled + (dot * length) / dots) % length) / length;
    // Each way on its own side of the line.
    const [x, y] = [from.x! + dx * part - (dy / length) * 3, from.y! + dy * part + (dx / length) * 3];
    context.beginPath();
    context.arc(x, y, 1.9, 0, 2 * Math.PI);
    context.fill();
  }
}

function drawRates(context: CanvasRenderingContext2D, edge: Edge, scene: Scene, colours: Colours) {
  const pair = ends(edge, scene.layout);
  if (!pair) return;
  const [a, b] = pair;
  context.font = '10px system-ui, sans-serif';
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  rateLabel(context, a, b, edge.forth, colours);
  rateLabel(context, b, a, edge.back, colours);
}

function rateLabel(context: CanvasRenderingContext2D, from: Place, to: Place, rate: number | null, colours: Colours) {
  if (!rate || rate < 0.05) return;
  const [dx, dy] = [to.x! - from.x!, to.y! - from.y!];
  const length = Math.hypot(dx, dy) || 1;
  // Near the end that it comes from, and beside the line.
  const along = Math.min(0.38, (from.radius + 26) / length);
  const text = perSecond(rate);
  const [x, y] = [from.x! + dx * along - (dy / length) * 11, from.y! + dy * along + (dx / length) * 11];
  halo(context, text, x, y, colours.muted, colours.surface);
}

function halo(context: CanvasRenderingContext2D, text: string, x: number, y: number, colour: string, surface: string) {
  context.lineWidth = 3;
  context.lineJoin = 'round';
  context.strokeStyle = surface;
  context.strokeText(text, x, y);
  context.fillStyle = colour;
  context.fillText(text, x, y);
}

function drawVertex(context: CanvasRenderingContext2D, vertex: Vertex, place: Place, scene: Scene, colours: Colours, named: boolean) {
  const [x, y, r] = [place.x!, place.y!, place.radius];
  const colour = vertex.silent ? colours.bad : { interior: colours.accent, edge: colours.edge, broker: colours.broker, senders: colours.muted, receivers: colours.muted, clients: colours.muted, console: colours.muted }[vertex.kind];
  const router = vertex.kind === 'interior' || vertex.kind === 'edge';
  context.beginPath();
  outline(context, vertex, x, y, r);
  context.fillStyle = vertex.silent || !(router || vertex.kind === 'broker') ? colours.surface : colour;
  context.strokeStyle = colour;
  context.lineWidth = 1.8;
  context.setLineDash(vertex.silent ? [3, 3] : []);
  context.fill();
  context.stroke();
  context.setLineDash([]);
  if (vertex.id === scene.selected || vertex.id === scene.pointed || vertex.own) ring(context, vertex, x, y, r, scene, colours);
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  if (vertex.silent) inside(context, '!', x, y, colours.bad, 13);
  else if (!router && vertex.kind !== 'broker') inside(context, vertex.count > 1 ? String(vertex.count) : '', x, y, colours.muted, 8.5);
  const marked = vertex.id === scene.pointed || vertex.id === scene.selected;
  if (!(named && (router || vertex.kind === 'broker')) && !marked) return;
  context.font = `${router ? '600 12px' : '11px'} system-ui, sans-serif`;
  const label = vertex.label.length > 24 && !marked ? `${vertex.label.slice(0, 23)}…` : vertex.label;
  halo(context, label, x, y + r + 11, colours.text, colours.surface);
}

function inside(context: CanvasRenderingContext2D, text: string, x: number, y: number, colour: string, size: number) {
  context.font = `600 ${size}px system-ui, sans-serif`;
  context.fillStyle = colour;
  context.fillText(text, x, y + 0.5);
}

function ring(context: CanvasRenderingContext2D, vertex: Vertex, x: number, y: number, r: number, scene: Scene, colours: Colours) {
  const marked = vertex.id === scene.selected || vertex.id === scene.pointed;
  context.beginPath();
  context.arc(x, y, r + 4.5, 0, 2 * Math.PI);
  context.strokeStyle = marked ? colours.text : colours.accent;
  context.lineWidth = marked ? 2 : 1.2;
  context.stroke();
}

/** Each kind has a shape of its own. */
function outline(context: CanvasRenderingContext2D, { kind }: Vertex, x: number, y: number, r: number) {
  switch (kind) {
    case 'interior':
      return context.arc(x, y, r, 0, 2 * Math.PI);
    case 'edge':
      return polygon(context, [[x, y - r], [x + r, y], [x, y + r], [x - r, y]]);
    case 'broker':
      return context.roundRect(x - r, y - r * 0.8, 2 * r, r * 1.6, 4);
    case 'senders':
      return polygon(context, [[x, y - r], [x + r, y + r * 0.8], [x - r, y + r * 0.8]]);
    case 'receivers':
      return polygon(context, [[x, y + r], [x + r, y - r * 0.8], [x - r, y - r * 0.8]]);
    case 'console':
      return context.roundRect(x - r, y - r * 0.75, 2 * r, r * 1.5, 2);
    default:
      return context.arc(x, y, r, 0, 2 * Math.PI);
  }
}

function polygon(context: CanvasRenderingContext2D, points: [number, number][]) {
  points.forEach(([x, y], index) => (index ? context.lineTo(x, y) : context.moveTo(x, y)));
  context.closePath();
}

/** The vertex or the edge at a place, in the layout's own measure. */
export function hit(scene: Scene, x: number, y: number): string | null {
  const slack = 5 / scene.camera.scale;
  let best: string | null = null;
  let distance = Infinity;
  for (const place of scene.layout.places.values()) {
    const away = Math.hypot(place.x! - x, place.y! - y) - place.radius;
    if (away < slack && away < distance) [best, distance] = [place.id, away];
  }
  if (best) return best;
  for (const edge of scene.topology.edges) {
    const pair = ends(edge, scene.layout);
    if (pair && fromSegment(x, y, pair[0], pair[1]) < slack) return edge.id;
  }
  return null;
}

function fromSegment(x: number, y: number, a: Place, b: Place): number {
  const [dx, dy] = [b.x! - a.x!, b.y! - a.y!];
  const part = Math.max(0, Math.min(1, ((x - a.x!) * dx + (y - a.y!) * dy) / (dx * dx + dy * dy || 1)));
  return Math.hypot(a.x! + part * dx - x, a.y! + part * dy - y);
}
