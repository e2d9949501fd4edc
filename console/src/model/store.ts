/** A value that can be watched. Listeners are told at most once for each animation frame, whatever happens in between. */
export class Store<T> {
  private current: T;
  private readonly listeners = new Set<() => void>();

  constructor(initial: T) {
    this.current = initial;
  }

  get(): T {
    return this.current;
  }

  set(next: T) {
    if (Object.is(next, this.current)) return;
    this.current = next;
    this.changed();
  }

  update(change: (current: T) => T) {
    this.set(change(this.current));
  }

  /** Tells the listeners that something inside the value has changed. */
  changed() {
    for (const listener of this.listeners) schedule(listener);
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => {
      this.listeners.delete(listener);
      due.delete(listener);
    };
  }
}

const due = new Set<() => void>();
let scheduled = false;

function schedule(listener: () => void) {
  due.add(listener);
  if (scheduled) return;
  scheduled = true;
  const frame = globalThis.requestAnimationFrame as undefined | ((callback: () => void) => void);
  // A hidden page gets no frames; it must not stop counting because of that.
  if (frame && !globalThis.document?.hidden) frame(run);
  else setTimeout(run, 0);
}

function run() {
  scheduled = false;
  const now = [...due];
  due.clear();
  for (const listener of now) listener();
}
