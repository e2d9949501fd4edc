import { expect, test } from 'vitest';
import { rate, Series, SPAN } from '../src/model/series';
import { Source } from '../src/model/source';

test('a rate is the growth of a counter in a second', () => {
  expect(rate({ at: 1_000, value: 10 }, { at: 3_000, value: 50 })).toBe(20);
});

test('a counter that went backwards has no rate', () => {
  expect(rate({ at: 1_000, value: 50 }, { at: 3_000, value: 10 })).toBeNull();
  expect(rate({ at: 1_000, value: 50 }, { at: 1_000, value: 60 })).toBeNull();
  expect(rate(undefined, { at: 1_000, value: 60 })).toBeNull();
});

test('a series forgets what is older than charts reach', () => {
  const series = new Series();
  series.add(0, 1);
  series.add(SPAN / 2, 2);
  series.add(SPAN + 1, 3);
  expect(series.samples.map(({ value }) => value)).toEqual([2, 3]);
});

test('a series takes no sample twice', () => {
  const series = new Series();
  series.add(5, 1);
  series.add(5, 2);
  series.add(4, 3);
  expect(series.samples).toHaveLength(1);
});

test('a restart of a router leaves a hole in the rates and no spike', () => {
  const series = new Series();
  for (const [at, value] of [[0, 100], [1_000, 200], [2_000, 5], [3_000, 15]] as const) series.add(at, value);
  expect(series.rates()).toEqual([{ at: 1_000, value: 100 }, { at: 3_000, value: 10 }]);
});

function source(...snapshots: [number, Record<string, number>][]): Source {
  const result = new Source('$management', 'link');
  for (const [at, counters] of snapshots) result.accept(at, Object.entries(counters).map(([identity, deliveryCount]) => ({ identity, deliveryCount })));
  return result;
}

test('a source computes rates over its last snapshots', () => {
  expect(source([0, { a: 0 }], [2_000, { a: 100 }], [4_000, { a: 400 }]).rate('a', 'deliveryCount')).toBe(100);
});

test('an entity that has just come has no rate yet', () => {
  expect(source([0, { a: 0 }], [2_000, { a: 1, b: 7 }]).rate('b', 'deliveryCount')).toBeNull();
});

test('an entity that is gone has no rate any more', () => {
  expect(source([0, { a: 0 }], [2_000, { a: 1 }], [4_000, {}]).rate('a', 'deliveryCount')).toBeNull();
});

test('after a restart only what came since counts', () => {
  expect(source([0, { a: 900 }], [2_000, { a: 10 }], [4_000, { a: 30 }]).rate('a', 'deliveryCount')).toBe(10);
});

test('a time in which nobody looked is no part of the rate now', () => {
  expect(source([0, { a: 0 }], [100_000, { a: 1_000 }], [102_000, { a: 1_200 }]).rate('a', 'deliveryCount')).toBe(100);
});
