// One router's entities of one type, as they were at the last queries.
import type { Row } from './operations';
import { rate, type Sample } from './series';

/** How many answers are kept to compute rates from: short enough to be live, long enough not to flicker. */
const KEPT = 4;
/** Snapshots older than this, in milliseconds, are no part of what happens now. */
const RECENT = 15_000;

interface Snapshot {
  at: number;
  rows: Map<string, Row>;
}

/** What is known of one type's entities on one router. */
export class Source {
  readonly node: string;
  readonly type: string;
  private readonly snapshots: Snapshot[] = [];
  /** Why the last query failed, or null if it did not. */
  error: string | null = null;

  constructor(node: string, type: string) {
    this.node = node;
    this.type = type;
  }

  /** When the last answer came, in milliseconds; 0 if none did. */
  get at(): number {
    return this.snapshots[this.snapshots.length - 1]?.at ?? 0;
  }

  get rows(): Row[] {
    const last = this.snapshots[this.snapshots.length - 1];
    return last ? [...last.rows.values()] : [];
  }

  find(identity: string): Row | undefined {
    return this.snapshots[this.snapshots.length - 1]?.rows.get(identity);
  }

  accept(at: number, rows: readonly Row[]) {
    this.error = null;
    this.snapshots.push({ at, rows: new Map(rows.map((row, index) => [identityOf(row, index), row])) });
    if (this.snapshots.length > KEPT) this.snapshots.shift();
  }

  fail(text: string) {
    this.error = text;
  }

  /** The values of an attribute in the last snapshots, the oldest first. */
  samples(identity: string, attribute: string): Sample[] {
    const samples: Sample[] = [];
    for (const { at, rows } of this.snapshots) {
      const value = rows.get(identity)?.[attribute];
      if (typeof value === 'number') samples.push({ at, value });
    }
    return samples;
  }

  /** A counter's growth per second over the last snapshots, or null if it cannot be known yet. */
  rate(identity: string, attribute: string): number | null {
    const samples = this.samples(identity, attribute);
    const last = samples.pop();
    const previous = samples[samples.length - 1];
    if (!last || last.at !== this.at) return null;
    // Not across a time in which nobody looked, unless there is nothing else.
    const first = samples.find((sample) => sample.at >= last.at - RECENT) ?? previous;
    // Where the counter began anew in between, only what came since counts.
    return rate(first, last) ?? rate(previous, last);
  }
}

export function identityOf(row: Row, index = 0): string {
  return String(row['identity'] ?? row['name'] ?? index);
}
