import { expect, test } from 'vitest';
import { plain } from '../src/amqp/plain';
import { concerns } from '../src/model/attention';
import { addresses, consumersOf } from '../src/model/addresses';
import { bytes, duration, perSecond, short, text } from '../src/model/format';
import { choice, choices, entries, matching } from '../src/model/logs';
import { Source } from '../src/model/source';
import { firstUrl, ownUrl, wsUrl } from '../src/model/target';
import { href, parseRoute } from '../src/route';
import { ceiling } from '../src/ui/chart';
import { compare, filtered, sorted } from '../src/ui/table';

test('durations and numbers are short', () => {
  expect([0, 59, 61, 3_600, 90_061].map(duration)).toEqual(['0s', '59s', '1m 1s', '1h', '1d 1h']);
  expect(duration(null)).toBe('–');
  expect([999, 12_345, 1_234_567].map(short)).toEqual(['999', '12.3k', '1.23M']);
  expect([null, 0, 0.01, 3.14, 314].map(perSecond)).toEqual(['–', '0', '<0.1', '3.1', '314']);
  expect(bytes(3 * 2 ** 20)).toBe('3.00 MiB');
  expect([true, null, { a: 1 }].map(text)).toEqual(['yes', '–', '{"a":1}']);
});

test('the top of a chart is a round number', () => {
  expect([0, 1, 1.2, 37, 510].map(ceiling)).toEqual([1, 1, 2, 50, 1_000]);
});

test('the console connects to where its page came from', () => {
  expect(ownUrl({ protocol: 'https:', host: 'router:5671' })).toBe('wss://router:5671/');
  expect(firstUrl({ protocol: 'http:', host: 'a:1', search: '?router=b:2' })).toBe('ws://b:2/');
  expect(firstUrl({ protocol: 'http:', host: 'a:1', search: '' })).toBe('ws://a:1/');
});

test('addresses of listeners are understood however they are written', () => {
  expect(wsUrl('broker:5673', false)).toBe('ws://broker:5673/');
  expect(wsUrl('broker:5673', true)).toBe('wss://broker:5673/');
  expect(wsUrl('https://broker', false)).toBe('wss://broker/');
  expect(wsUrl('[::1]:80', false)).toBe('ws://[::1]/');
  expect(() => wsUrl('no such thing', false)).toThrow();
});

test('pages are read from and written to the address', () => {
  expect(parseRoute('')).toMatchObject({ page: 'overview', argument: '' });
  const route = parseRoute(href('entities', 'router.config/x', { q: 'a b' }));
  expect([route.page, route.argument, route.parameters.get('q')]).toEqual(['entities', 'router.config/x', 'a b']);
});

test('log entries are filtered by level, module and words', () => {
  const all = entries('A', [['SERVER', 'info', 'Listening on port', 'src/server.c', 12, 1], ['ROUTER', 'error', 'Lost', null, null, 2], 'junk']);
  expect(all.map(({ origin, at }) => [origin, at])).toEqual([['server.c:12', 1_000], ['', 2_000]]);
  const wanted = { severity: -1, module: '', words: '' };
  expect(matching(all, { ...wanted, severity: 4 }).map(({ module }) => module)).toEqual(['ROUTER']);
  expect(matching(all, { ...wanted, module: 'SERVER' })).toHaveLength(1);
  expect(matching(all, { ...wanted, words: 'PORT listening' })).toHaveLength(1);
});

test('levels of modules are offered in words', () => {
  expect(choices('SERVER')[0]).toEqual({ value: 'default', label: 'as DEFAULT' });
  expect(choices('DEFAULT').some(({ value }) => value === 'default')).toBe(false);
  expect([null, 'Info+', 'critical+', 'trace+,error'].map(choice)).toEqual(['default', 'info+', 'critical', 'trace+,error']);
});

test('what was decoded is made plain data', () => {
  expect(plain({ a: [1n, new Date(5), null, undefined], b: new Uint8Array([0, 0, 0, 0, 0, 0, 1, 0]), c: new Uint8Array([1, 255]) })).toEqual({ a: [1, 5, null, null], b: 256, c: '01ff' });
});

const columns = [{ id: 'n', title: 'N', value: (row: { n: string | number | null }) => row.n }];

test('rows are sorted by numbers within texts, the unknown first', () => {
  const rows = ['R10', 'R9', null, 'R1'].map((n) => ({ n }));
  expect(sorted(rows, columns, { column: 'n', down: false }).map(({ n }) => n)).toEqual([null, 'R1', 'R9', 'R10']);
  expect(compare(2, 10)).toBeLessThan(0);
});

test('rows are filtered by all words', () => {
  expect(filtered([{ n: 'alpha beta' }, { n: 'alpha' }], columns, 'BETA alp')).toEqual([{ n: 'alpha beta' }]);
});

function source(rows: Record<string, unknown>[]): Source {
  const result = new Source('', '');
  result.accept(1, rows);
  return result;
}

test('what an edge router has counts once', () => {
  const row = (consumers: number, ingress: number) => ({ identity: 'M0x', key: 'M0x', subscriberCount: consumers, deliveriesIngress: ingress });
  const [x] = addresses([
    { router: 'A', edge: false, source: source([row(2, 100)]), consumers: new Map([['M0x', 1]]) },
    { router: 'E', edge: true, source: source([row(3, 60)]), consumers: null },
  ]);
  expect(x).toMatchObject({ text: 'x', consumers: 4, totalIn: 100 });
  expect(x!.routers.map(({ router, consumers }) => [router, consumers])).toEqual([['A', 1], ['E', 3]]);
});

test('the links that routers have for each other are no consumers', () => {
  const link = { linkDir: 'out', linkType: 'endpoint', owningAddr: 'M0x' };
  const links = source([{ ...link, identity: '1', connectionId: '7' }, { ...link, identity: '2', connectionId: '8' }, { ...link, identity: '3', connectionId: '7', linkDir: 'in' }]);
  const connections = source([{ identity: '7', role: 'normal' }, { identity: '8', role: 'edge' }]);
  expect(consumersOf(links, connections)).toEqual(new Map([['M0x', 1]]));
  expect(consumersOf(new Source('', ''), connections)).toBeNull();
});

test('an operator is told what is wrong and where', () => {
  const router = { id: 'A', address: 'a', kind: 'interior' as const, own: true };
  const all = concerns([
    {
      router,
      self: source([{ identity: '1', linksBlocked: 2, deliveriesStuck: 0 }]),
      connectors: source([{ identity: 'c', name: 'broker', connectionStatus: 'FAILED', connectionMsg: 'refused' }, { identity: 'd', name: 'fine', connectionStatus: 'SUCCESS' }]),
      autoLinks: source([{ identity: '7', direction: 'in', address: 'q', operStatus: 'failed', lastError: 'no queue' }]),
      linkRoutes: source([{ identity: '8', direction: 'out', prefix: 'store', operStatus: 'inactive' }]),
    },
  ]);
  expect(all.map(({ text: said }) => said)).toEqual([
    '2 links have had no credit for more than 10 s.',
    'Connector broker: refused',
    'Auto-link in of q failed: no queue',
    'Link route out of store is inactive: its connection is not there.',
  ]);
});
