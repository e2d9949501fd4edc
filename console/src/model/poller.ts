// Asks routers for what pages show, and for nothing else.
import type { Management } from '../amqp/client';
import { query } from './operations';
import { Source } from './source';
import { Store } from './store';

/** The usual time between two queries of the same thing, in milliseconds. */
export const PERIOD = 2_500;
/** So many queries may be on their way at once, over all routers. */
const AT_ONCE = 24;
/** A router that does not answer is asked again after this long, then twice as long, up to the limit. */
const BACK_OFF = 5_000;
const BACK_OFF_LIMIT = 40_000;

/** A wish to see entities of a type on a router; it holds until it is given back. */
interface Wish {
  attributes: readonly string[];
  period: number;
}

interface Task {
  source: Source;
  wishes: Set<Wish>;
  due: number;
  asking: boolean;
  /** While the router was being asked, somebody came to watch or wanted to know anew. */
  again: boolean;
  failures: number;
}

export interface Clock {
  now(): number;
}

export class Poller {
  /** Changes whenever an answer, or the lack of one, has changed some source. */
  readonly changes = new Store(0);
  private readonly tasks = new Map<string, Task>();
  private readonly management: Management;
  private readonly clock: Clock;
  private onTheWay = 0;
  private paused = false;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly listeners = new Set<(source: Source) => void>();

  constructor(management: Management, clock: Clock = Date) {
    this.management = management;
    this.clock = clock;
  }

  /** What is known of this type on this router; it is not asked for unless somebody watches. */
  source(node: string, type: string): Source {
    return this.task(node, type).source;
  }

  /** Keeps asking until the returned function is called. No attributes means all of them. */
  watch(node: string, type: string, attributes: readonly string[], period = PERIOD): () => void {
    const task = this.task(node, type);
    const wish = { attributes, period };
    task.wishes.add(wish);
    // The answer that is on its way may lack what this watcher wants.
    if (task.asking) task.again = true;
    else if (!task.failures) task.due = this.clock.now();
    this.turn();
    return () => task.wishes.delete(wish);
  }

  /** Calls for each answer as it comes, whoever asked. */
  listen(listener: (source: Source) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Asks again at once, for instance because something was changed. */
  refresh(node?: string, type?: string) {
    for (const task of this.tasks.values()) {
      if ((node && task.source.node !== node) || (type && task.source.type !== type)) continue;
      task.due = 0;
      // The answer that is on its way may be from before the change.
      if (task.asking) task.again = true;
      task.failures = 0;
    }
    this.turn();
  }

  /** Nothing is asked while paused. */
  pause(paused: boolean) {
    this.paused = paused;
    this.turn();
  }

  forget() {
    clearTimeout(this.timer);
    this.tasks.clear();
    this.changes.update((count) => count + 1);
  }

  private task(node: string, type: string): Task {
    const key = `${node}\n${type}`;
    let task = this.tasks.get(key);
    if (!task) {
      task = { source: new Source(node, type), wishes: new Set(), due: 0, asking: false, again: false, failures: 0 };
      this.tasks.set(key, task);
    }
    return task;
  }

  private attributesOf(task: Task): string[] {
    const names = new Set<string>();
    for (const wish of task.wishes) {
      if (!wish.attributes.length) return [];
      for (const name of wish.attributes) names.add(name);
    }
    return [...names];
  }

  private turn() {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.paused) return;
    const now = this.clock.now();
    let next = Infinity;
    // The longest overdue first, so that none starves when there are many.
    const waiting = [...this.tasks.values()].filter((task) => task.wishes.size && !task.asking);
    for (const task of waiting.sort((a, b) => a.due - b.due)) {
      if (task.due > now) next = Math.min(next, task.due);
      else if (this.onTheWay < AT_ONCE) void this.ask(task);
    }
    if (next < Infinity) this.timer = setTimeout(() => this.turn(), Math.max(20, next - now));
  }

  private async ask(task: Task) {
    const { node, type } = task.source;
    task.asking = true;
    this.onTheWay += 1;
    try {
      const rows = await query(this.management, node, type, withIdentity(this.attributesOf(task)));
      task.source.accept(this.clock.now(), rows);
      task.failures = 0;
    } catch (error) {
      task.source.fail((error as Error).message);
      task.failures += 1;
    }
    task.asking = false;
    this.onTheWay -= 1;
    const period = Math.min(...[...task.wishes].map((wish) => wish.period), Infinity);
    task.due = this.clock.now() + (task.failures ? this.backOff(task) : Number.isFinite(period) ? period : PERIOD);
    if (task.again && !task.failures) task.due = 0;
    task.again = false;
    for (const listener of this.listeners) listener(task.source);
    this.changes.update((count) => count + 1);
    this.turn();
  }

  private backOff(task: Task): number {
    return Math.min(BACK_OFF * 2 ** (task.failures - 1), BACK_OFF_LIMIT);
  }
}

function withIdentity(attributes: readonly string[]): readonly string[] {
  return attributes.length && !attributes.includes('identity') ? ['identity', ...attributes] : attributes;
}
