import { expect, test } from 'vitest';
import { chord, flows, matrix, places } from '../src/model/flow';

const nodes = [{ id: 'A', index: 0 }, { id: 'C', index: 1 }, { id: 'B', index: 2 }];
const link = (more: Record<string, unknown>) => ({ linkType: 'endpoint', linkDir: 'out', owningAddr: 'M0orders', ingressHistogram: [1, 2, 3], ...more });

test('a histogram is read by each router’s own order of routers', () => {
  expect(places(nodes).get(1)).toBe('C');
  expect(flows('B', nodes, [link({})])).toEqual([
    { ingress: 'A', egress: 'B', address: 'orders', total: 1 },
    { ingress: 'C', egress: 'B', address: 'orders', total: 2 },
    { ingress: 'B', egress: 'B', address: 'orders', total: 3 },
  ]);
});

test('links of one address are summed', () => {
  expect(flows('B', nodes, [link({}), link({})])[0]!.total).toBe(2);
});

test('links between routers, of senders and of consoles are left out', () => {
  const others = [{ linkDir: 'in' }, { linkType: 'inter-router' }, { owningAddr: 'Ltemp.x' }, { owningAddr: 'M0$management' }, { owningAddr: null }, { ingressHistogram: null }];
  expect(flows('B', nodes, others.map(link))).toEqual([]);
});

test('the matrix has a row and a column for each router that has anything', () => {
  const all = [{ ingress: 'B', egress: 'A', address: 'x', total: 4, rate: 1 }, { ingress: 'A', egress: 'A', address: 'y', total: 6, rate: null }];
  expect(matrix(all, (flow) => flow.total)).toEqual({ routers: ['A', 'B'], cells: [[6, 0], [4, 0]] });
});

test('arcs share the circle by what goes in and out', () => {
  const { arcs, ribbons } = chord({ routers: ['A', 'B'], cells: [[0, 3], [1, 0]] });
  expect(arcs).toHaveLength(2);
  expect(arcs[0]!.to - arcs[0]!.from).toBeCloseTo(arcs[1]!.to - arcs[1]!.from);
  expect(ribbons.map(({ value }) => value)).toEqual([3, 1]);
  expect(arcs[1]!.to).toBeLessThanOrEqual(2 * Math.PI);
});

test('where nothing moves there is nothing to draw', () => {
  expect(chord({ routers: ['A'], cells: [[0]] })).toEqual({ arcs: [], ribbons: [] });
});
