// Counters of which there are charts, over the last minutes.
import type { Poller } from './poller';
import { Series } from './series';
import type { Source } from './source';

/** So many series are kept, the longest unused going first. */
const KEPT = 400;

export class History {
  private readonly series = new Map<string, Series>();
  private readonly poller: Poller;
  private readonly wanted = new Map<string, { node: string; type: string; identity: string; attribute: string; users: number }>();

  constructor(poller: Poller) {
    this.poller = poller;
    poller.listen((source) => this.record(source));
  }

  /** Records this counter with every answer that has it, until the returned function is called; the past stays. */
  track(node: string, type: string, identity: string, attribute: string): () => void {
    const id = key(node, type, identity, attribute);
    const entry = this.wanted.get(id) ?? { node, type, identity, attribute, users: 0 };
    entry.users += 1;
    this.wanted.set(id, entry);
    // What the table's rates were computed from is the beginning of the chart.
    const series = this.get(node, type, identity, attribute);
    for (const { at, value } of this.poller.source(node, type).samples(identity, attribute)) series.add(at, value);
    return () => {
      entry.users -= 1;
      if (!entry.users) this.wanted.delete(id);
    };
  }

  get(node: string, type: string, identity: string, attribute: string): Series {
    const id = key(node, type, identity, attribute);
    const series = this.series.get(id) ?? new Series();
    this.series.delete(id);
    this.series.set(id, series);
    if (this.series.size > KEPT) this.series.delete(this.series.keys().next().value!);
    return series;
  }

  private record(source: Source) {
    if (source.error) return;
    for (const { node, type, identity, attribute } of this.wanted.values()) {
      if (node !== source.node || type !== source.type) continue;
      const value = source.find(identity)?.[attribute];
      if (typeof value === 'number') this.get(node, type, identity, attribute).add(source.at, value);
    }
  }
}

const key = (...parts: string[]) => parts.join('\n');
