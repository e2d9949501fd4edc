// What is computed from sources, computed again only when they have changed.
import type { Source } from './source';

/** Remembers a function's result for each first source, for as long as none of the sources has a new answer. */
export function remembered<S extends readonly Source[], T>(compute: (...sources: S) => T): (...sources: S) => T {
  const known = new WeakMap<Source, { sources: S; answers: number[]; value: T }>();
  return (...sources) => {
    const found = known.get(sources[0]!);
    if (found && sources.every((source, index) => source === found.sources[index] && source.at === found.answers[index])) return found.value;
    const value = compute(...sources);
    known.set(sources[0]!, { sources, answers: sources.map((source) => source.at), value });
    return value;
  };
}
