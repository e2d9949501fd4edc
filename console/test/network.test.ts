import { expect, test } from 'vitest';
import type { Management } from '../src/amqp/client';
import { changes, discover, idOf } from '../src/model/network';
import { TYPES } from '../src/model/types';

const OWN = '$management';
const topo = (id: string) => `amqp:/_topo/0/${id}/$management`;

interface Answers {
  routers?: Record<string, { id: string; mode: string }>;
  nodes?: Record<string, string[]>;
  connections?: Record<string, Record<string, unknown>[]>;
}

/** A network that answers by the address of the node that is asked. */
function network({ routers = {}, nodes = {}, connections = {} }: Answers): Management {
  const table = (rows: Record<string, unknown>[]) => {
    const attributeNames = [...new Set(rows.flatMap((row) => Object.keys(row)))];
    return { attributeNames, results: rows.map((row) => attributeNames.map((name) => row[name] ?? null)) };
  };
  return {
    async request({ node, operation, properties }) {
      if (operation === 'GET-MGMT-NODES') return { status: 200, description: 'OK', body: nodes[node] ?? [] };
      const rows = properties?.['entityType'] === TYPES.router ? [routers[node] ?? {}] : connections[node];
      if (!rows) throw new Error('unreachable');
      return { status: 200, description: 'OK', body: table(rows as Record<string, unknown>[]) };
    },
  };
}

const uplink = (container: string) => ({ container, role: 'edge', dir: 'out', active: true });
const downlink = (container: string, active = true) => ({ container, role: 'edge', dir: 'in', active });

test('an interior router names all routers of its network, and their connections name the edges', async () => {
  const found = await discover(network({ routers: { [OWN]: { id: 'A', mode: 'interior' } }, nodes: { [OWN]: [topo('B'), topo('A')] }, connections: { [OWN]: [downlink('E1')], [topo('B')]: [downlink('E2')] } }));
  expect(found.routers.map(({ id, address, kind, via }) => [id, address, kind, via])).toEqual([
    ['A', OWN, 'interior', undefined],
    ['B', topo('B'), 'interior', undefined],
    ['E1', 'amqp:/_edge/E1/$management', 'edge', 'A'],
    ['E2', 'amqp:/_edge/E2/$management', 'edge', 'B'],
  ]);
});

test('a router that cannot be reached stays in the list', async () => {
  const found = await discover(network({ routers: { [OWN]: { id: 'A', mode: 'interior' } }, nodes: { [OWN]: [topo('A'), topo('B')] }, connections: { [OWN]: [] } }));
  expect(found.routers.map(({ id }) => id)).toEqual(['A', 'B']);
});

test('an edge that stands by at a second router belongs to the one it uses', async () => {
  const found = await discover(network({ routers: { [OWN]: { id: 'A', mode: 'interior' } }, nodes: { [OWN]: [topo('A'), topo('B')] }, connections: { [OWN]: [downlink('E', true)], [topo('B')]: [downlink('E', false)] } }));
  expect(found.routers.find(({ id }) => id === 'E')?.via).toBe('A');
});

test('from an edge router the network is found through the router it is attached to', async () => {
  const found = await discover(network({ routers: { [OWN]: { id: 'E', mode: 'edge' } }, nodes: { [topo('A')]: [topo('A'), topo('B')] }, connections: { [OWN]: [uplink('A')], [topo('A')]: [downlink('E')], [topo('B')]: [] } }));
  expect(found.routers.map(({ id, own }) => [id, own])).toEqual([['A', false], ['B', false], ['E', true]]);
});

test('a standalone router is a network of one', async () => {
  const found = await discover(network({ routers: { [OWN]: { id: 'S', mode: 'standalone' } }, connections: { [OWN]: [] } }));
  expect(found.routers).toEqual([{ id: 'S', address: OWN, kind: 'standalone', own: true }]);
});

test('ids with slashes and dots are read from addresses', () => {
  expect(idOf('amqp:/_topo/0/a.b/c/$management')).toBe('a.b/c');
  expect(idOf('amqp:/_edge/e-1/$management')).toBe('e-1');
});

test('routers that leave and join are said by name', () => {
  const of = (...ids: string[]) => ({ own: null, routers: ids.map((id) => ({ id, address: id, kind: 'interior' as const, own: false })) });
  expect(changes(of('A', 'B'), of('A', 'C'))).toEqual(['Router B left the network.', 'Router C joined the network.']);
  expect(changes(of('A'), of('A'))).toEqual([]);
});
