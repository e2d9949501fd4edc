/** How far back charts reach, in milliseconds. */
export const SPAN = 10 * 60_000;

/** One counter's value at a time in milliseconds. */
export interface Sample {
  at: number;
  value: number;
}

/**
 * What happened between two samples: a rate in events per second. A counter that went backwards (its router restarted) has no
 * rate; neither have two samples of the same moment.
 */
export function rate(earlier: Sample | undefined, later: Sample | undefined): number | null {
  if (!earlier || !later) return null;
  const seconds = (later.at - earlier.at) / 1000;
  const grown = later.value - earlier.value;
  return seconds > 0 && grown >= 0 ? grown / seconds : null;
}

/** Samples of one quantity over the last minutes. */
export class Series {
  readonly samples: Sample[] = [];

  add(at: number, value: number) {
    const last = this.samples[this.samples.length - 1];
    if (last && at <= last.at) return;
    this.samples.push({ at, value });
    const oldest = at - SPAN;
    let stale = 0;
    while (stale < this.samples.length && this.samples[stale]!.at < oldest) stale += 1;
    if (stale) this.samples.splice(0, stale);
  }

  get last(): Sample | undefined {
    return this.samples[this.samples.length - 1];
  }

  /** The rate between each two samples, at the time of the later one. */
  rates(): Sample[] {
    const result: Sample[] = [];
    for (let index = 1; index < this.samples.length; index += 1) {
      const value = rate(this.samples[index - 1], this.samples[index]);
      if (value !== null) result.push({ at: this.samples[index]!.at, value });
    }
    return result;
  }
}

/** Sums rates of several series of like times into one, by the time of the first: used for whole networks. */
export function sum(parts: readonly Sample[][], step: number): Sample[] {
  const sums = new Map<number, { total: number; seen: Set<number> }>();
  parts.forEach((part, index) => {
    for (const sample of part) {
      const slot = Math.round(sample.at / step) * step;
      const entry = sums.get(slot) ?? { total: 0, seen: new Set<number>() };
      if (!entry.seen.has(index)) {
        entry.total += sample.value;
        entry.seen.add(index);
      }
      sums.set(slot, entry);
    }
  });
  return [...sums].map(([at, entry]) => ({ at, value: entry.total })).sort((a, b) => a.at - b.at);
}
