// The map of the network: drawn on a canvas, moved by pointer and keyboard.
import { useEffect, useRef, useState } from 'preact/hooks';
import { useStore } from '../app';
import { Layout } from '../model/layout';
import { describe, neighbours, type Topology } from '../model/topology';
import { draw, hit, readColours, type Camera, type Colours, type Scene } from './map-drawing';
import { theme } from './theme';

interface Properties {
  topology: Topology;
  selected: string | null;
  followed: ReadonlySet<string> | null;
  onSelect(id: string | null): void;
}

/** Places outlive the page, so that the map looks the same when one comes back to it. */
const KEY = 'waystation.map';
const layout = new Layout(remembered());
const FRAME = 33;

export function NetworkMap({ topology, selected, followed, onSelect }: Properties) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [spoken, setSpoken] = useState('');
  const view = useRef<MapView | null>(null);
  const colours = useStore(theme);

  useEffect(() => {
    const made = new MapView(canvas.current!, layout);
    view.current = made;
    return () => made.stop();
  }, []);
  useEffect(() => view.current?.recolour(), [colours]);
  useEffect(() => view.current?.show(topology, selected, followed), [topology, selected, followed]);

  const at = (id: string | null) => {
    view.current?.point(id);
    const vertex = topology.vertices.find((each) => each.id === id);
    if (vertex) setSpoken(`${describe(vertex)}, ${neighbours(topology, vertex.id).length} links`);
  };
  const onKey = (event: KeyboardEvent) => {
    const map = view.current;
    if (!map) return;
    const direction = ({ ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] } as const)[event.key];
    if (direction) at(map.next(direction[0], direction[1]));
    else if (event.key === 'Enter' || event.key === ' ') onSelect(map.pointed ?? map.next(0, 0));
    else if (event.key === '+' || event.key === '=') map.zoom(1.25);
    else if (event.key === '-') map.zoom(0.8);
    else if (event.key === '0') map.fit();
    else if (event.key === 'Escape' && selected) onSelect(null);
    else return;
    event.preventDefault();
  };

  return (
    <div class="map">
      <canvas
        ref={canvas}
        tabIndex={0}
        role="application"
        aria-label="Map of the network. Arrow keys go from one to the next, Enter shows details, plus and minus zoom, 0 shows everything."
        onKeyDown={onKey}
        onPointerDown={(event) => view.current?.press(event)}
        onPointerMove={(event) => view.current?.drag(event)}
        onPointerUp={(event) => {
          const clicked = view.current?.release(event);
          if (clicked !== undefined) onSelect(clicked);
        }}
        onPointerLeave={() => view.current?.leave()}
        onDblClick={(event) => view.current?.loosen(event)}
        onBlur={() => view.current?.point(null)}
      />
      <div class="map-tools">
        <button type="button" aria-label="Zoom in" onClick={() => view.current?.zoom(1.25)}>+</button>
        <button type="button" aria-label="Zoom out" onClick={() => view.current?.zoom(0.8)}>−</button>
        <button type="button" onClick={() => view.current?.fit()}>Fit</button>
      </div>
      <p class="sr-only" role="status" aria-live="polite">{spoken}</p>
    </div>
  );
}

function remembered(): [string, [number, number]][] {
  try {
    const places: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]');
    return Array.isArray(places) ? places.filter((each) => Array.isArray(each) && Array.isArray(each[1]) && each[1].every(Number.isFinite)) : [];
  } catch {
    return [];
  }
}

/** What was dragged to its place stays there in this browser. */
function remember() {
  try {
    localStorage.setItem(KEY, JSON.stringify([...layout.fixed].slice(-500)));
  } catch {
    // Then it holds for this visit only.
  }
}

/** The canvas at work: its camera, what is being dragged, and when it must be drawn again. */
class MapView {
  pointed: string | null = null;
  private topology: Topology = { vertices: [], edges: [], wires: new Map() };
  private followed: ReadonlySet<string> | null = null;
  private selected: string | null = null;
  private readonly camera: Camera = { x: 0, y: 0, scale: 1 };
  /** Everything is kept in view until a person moves the camera. */
  private following = true;
  private pressed: { x: number; y: number; id: string | null; moved: boolean } | null = null;
  private colours: Colours;
  private readonly canvas: HTMLCanvasElement;
  private readonly layout: Layout;
  private readonly context: CanvasRenderingContext2D;
  private readonly observer: ResizeObserver;
  private readonly still = matchMedia('(prefers-reduced-motion: reduce)').matches;
  private frame = 0;
  private drawn = 0;
  private dirty = true;
  private over = false;

  constructor(canvas: HTMLCanvasElement, layout: Layout) {
    this.canvas = canvas;
    this.layout = layout;
    this.context = canvas.getContext('2d')!;
    this.colours = readColours(canvas);
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(canvas);
    canvas.addEventListener('wheel', this.wheel, { passive: false });
    this.frame = requestAnimationFrame(this.tick);
  }

  stop() {
    this.over = true;
    cancelAnimationFrame(this.frame);
    this.observer.disconnect();
    this.canvas.removeEventListener('wheel', this.wheel);
  }

  recolour() {
    requestAnimationFrame(() => {
      this.colours = readColours(this.canvas);
      this.dirty = true;
    });
  }

  show(topology: Topology, selected: string | null, followed: ReadonlySet<string> | null) {
    this.followed = followed;
    this.topology = topology;
    this.selected = selected;
    this.layout.take(topology);
    this.dirty = true;
  }

  point(id: string | null) {
    if (this.pointed !== id) this.dirty = true;
    this.pointed = id;
  }

  zoom(factor: number, x = this.canvas.clientWidth / 2, y = this.canvas.clientHeight / 2) {
    this.following = false;
    const [before, scale] = [this.toWorld(x, y), Math.min(4, Math.max(0.08, this.camera.scale * factor))];
    this.camera.scale = scale;
    const after = this.toWorld(x, y);
    this.camera.x += before.x - after.x;
    this.camera.y += before.y - after.y;
    this.dirty = true;
  }

  fit() {
    this.following = true;
    this.dirty = true;
  }

  /** The vertex nearest to the one that is pointed at, in a direction; the own router to begin with. */
  next(dx: number, dy: number): string | null {
    const from = this.layout.places.get(this.pointed ?? this.selected ?? '');
    if (!from) return (this.topology.vertices.find(({ own }) => own) ?? this.topology.vertices[0])?.id ?? null;
    let best: string | null = from.id;
    let least = Infinity;
    for (const place of this.layout.places.values()) {
      const [x, y] = [place.x! - from.x!, place.y! - from.y!];
      const ahead = x * dx + y * dy;
      if (place === from || ahead <= 0) continue;
      const effort = ahead + 2.5 * Math.abs(x * dy - y * dx);
      if (effort < least) [best, least] = [place.id, effort];
    }
    return best;
  }

  press(event: PointerEvent) {
    const world = this.toWorld(event.offsetX, event.offsetY);
    this.pressed = { x: event.offsetX, y: event.offsetY, id: hit(this.scene(null), world.x, world.y), moved: false };
    this.canvas.setPointerCapture(event.pointerId);
  }

  drag(event: PointerEvent) {
    const world = this.toWorld(event.offsetX, event.offsetY);
    if (!this.pressed) {
      this.point(hit(this.scene(null), world.x, world.y));
      this.canvas.style.cursor = this.pointed ? 'pointer' : 'grab';
      return;
    }
    const [dx, dy] = [event.offsetX - this.pressed.x, event.offsetY - this.pressed.y];
    if (!this.pressed.moved && Math.hypot(dx, dy) < 4) return;
    this.pressed.moved = true;
    this.following = false;
    const place = this.layout.places.get(this.pressed.id ?? '');
    if (place) {
      this.layout.fix(place.id, [world.x, world.y]);
    } else {
      this.camera.x -= dx / this.camera.scale;
      this.camera.y -= dy / this.camera.scale;
      [this.pressed.x, this.pressed.y] = [event.offsetX, event.offsetY];
    }
    this.dirty = true;
  }

  /** What was clicked, null for nothing; undefined if it was no click. */
  release(event: PointerEvent): string | null | undefined {
    const pressed = this.pressed;
    this.pressed = null;
    if (pressed?.moved) remember();
    this.canvas.releasePointerCapture(event.pointerId);
    return pressed && !pressed.moved ? pressed.id : undefined;
  }

  leave() {
    if (!this.pressed && document.activeElement !== this.canvas) this.point(null);
  }

  /** Lets a vertex that was dragged to its place go again. */
  loosen(event: MouseEvent) {
    const world = this.toWorld(event.offsetX, event.offsetY);
    const place = this.layout.places.get(hit(this.scene(null), world.x, world.y) ?? '');
    if (!place) return;
    this.layout.fix(place.id, null);
    remember();
  }

  private readonly wheel = (event: WheelEvent) => {
    event.preventDefault();
    this.zoom(Math.exp(-event.deltaY * 0.0015), event.offsetX, event.offsetY);
  };

  private readonly tick = (time: number) => {
    if (this.over) return;
    this.frame = requestAnimationFrame(this.tick);
    const moving = this.layout.step(8);
    const animated = !this.still && this.topology.edges.length <= 150;
    if (!moving && !this.dirty && (!animated || time - this.drawn < FRAME)) return;
    if (this.following) this.follow();
    this.drawn = time;
    this.dirty = false;
    draw(this.context, this.canvas.clientWidth, this.canvas.clientHeight, this.scene(animated ? time / 1000 : null), this.colours);
  };

  private scene(phase: number | null): Scene {
    return { topology: this.topology, layout: this.layout, camera: this.camera, selected: this.selected, pointed: this.pointed, followed: this.followed, phase };
  }

  private follow() {
    const places = [...this.layout.places.values()];
    if (!places.length) return;
    const xs = places.map((place) => place.x!);
    const ys = places.map((place) => place.y!);
    const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    const scale = Math.min(1.25, (this.canvas.clientWidth - 90) / (right - left + 1), (this.canvas.clientHeight - 90) / (bottom - top + 1));
    Object.assign(this.camera, { x: (left + right) / 2, y: (top + bottom) / 2 + 6 / scale, scale: Math.max(0.05, scale) });
  }

  private resize() {
    const ratio = devicePixelRatio || 1;
    this.canvas.width = Math.round(this.canvas.clientWidth * ratio);
    this.canvas.height = Math.round(this.canvas.clientHeight * ratio);
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.dirty = true;
  }

  private toWorld(x: number, y: number) {
    return {
      x: (x - this.canvas.clientWidth / 2) / this.camera.scale + this.camera.x,
      y: (y - this.canvas.clientHeight / 2) / this.camera.scale + this.camera.y,
    };
  }
}
