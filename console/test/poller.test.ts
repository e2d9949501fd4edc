import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Management } from '../src/amqp/client';
import type { Reply, Request } from '../src/amqp/protocol';
import { Poller } from '../src/model/poller';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

class Router implements Management {
  readonly asked: Request[] = [];
  answer: () => Promise<Reply> = async () => ({ status: 200, description: 'OK', body: { attributeNames: ['identity', 'n'], results: [['1', 5]] } });

  request(request: Request) {
    this.asked.push(request);
    return this.answer();
  }
}

const pass = (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds);

test('nothing is asked that nobody watches', async () => {
  const router = new Router();
  const poller = new Poller(router);
  poller.source('$management', 'connection');
  await pass(60_000);
  expect(router.asked).toHaveLength(0);
});

test('what is watched is asked for at once and then again', async () => {
  const router = new Router();
  const poller = new Poller(router);
  poller.watch('$management', 'connection', ['n'], 1_000);
  await pass(0);
  expect(poller.source('$management', 'connection').rows).toEqual([{ identity: '1', n: 5 }]);
  await pass(2_500);
  expect(router.asked).toHaveLength(3);
});

test('asking ends when nobody watches any more', async () => {
  const router = new Router();
  const poller = new Poller(router);
  const end = poller.watch('$management', 'connection', ['n'], 1_000);
  await pass(10);
  end();
  await pass(10_000);
  expect(router.asked).toHaveLength(1);
});

test('two watchers of a type share one question with the attributes of both', async () => {
  const router = new Router();
  const poller = new Poller(router);
  poller.pause(true);
  poller.watch('$management', 'connection', ['n']);
  poller.watch('$management', 'connection', ['m']);
  poller.pause(false);
  await pass(0);
  expect(router.asked.map(({ body }) => body)).toEqual([{ attributeNames: ['identity', 'n', 'm'] }]);
});

test('a watcher of everything makes it one question for everything', async () => {
  const router = new Router();
  const poller = new Poller(router);
  poller.pause(true);
  poller.watch('$management', 'connection', ['n']);
  poller.watch('$management', 'connection', []);
  poller.pause(false);
  await pass(0);
  expect(router.asked.map(({ body }) => body)).toEqual([{ attributeNames: [] }]);
});

test('a router that does not answer holds up no other and is asked ever less often', async () => {
  const router = new Router();
  const poller = new Poller(router);
  const dead = 'amqp:/_topo/0/dead/$management';
  const answer = router.answer;
  router.answer = async () => {
    if (router.asked[router.asked.length - 1]!.node !== dead) return answer();
    await new Promise((resolve) => setTimeout(resolve, 10_000));
    throw new Error('dead did not answer in time.');
  };
  poller.watch(dead, 'connection', ['n'], 1_000);
  poller.watch('$management', 'connection', ['n'], 1_000);
  await pass(120_000);
  const times = (node: string) => router.asked.filter((request) => request.node === node).length;
  expect(times('$management')).toBeGreaterThan(100);
  expect(times(dead)).toBeLessThan(6);
  expect(poller.source(dead, 'connection').error).toBe('dead did not answer in time.');
});

test('one question about a type is on its way at a time', async () => {
  const router = new Router();
  const poller = new Poller(router);
  router.answer = () => new Promise(() => {});
  poller.watch('$management', 'connection', ['n'], 1_000);
  await pass(30_000);
  expect(router.asked).toHaveLength(1);
});

test('not more than a few dozen questions are on their way at once', async () => {
  const router = new Router();
  const poller = new Poller(router);
  router.answer = () => new Promise(() => {});
  for (let index = 0; index < 300; index += 1) poller.watch(`amqp:/_topo/0/${index}/$management`, 'connection', ['n']);
  await pass(30_000);
  expect(router.asked.length).toBeLessThanOrEqual(24);
});

test('who comes while the router is being asked gets an answer of their own soon', async () => {
  const router = new Router();
  const poller = new Poller(router);
  poller.watch('$management', 'connection', ['n'], 60_000);
  poller.watch('$management', 'connection', ['m'], 60_000);
  await pass(1_000);
  expect(router.asked.map(({ body }) => body)).toEqual([{ attributeNames: ['identity', 'n'] }, { attributeNames: ['identity', 'n', 'm'] }]);
});

test('what was changed while the router was being asked is asked for once more', async () => {
  const router = new Router();
  const poller = new Poller(router);
  poller.watch('$management', 'connection', ['n'], 60_000);
  poller.refresh('$management', 'connection');
  await pass(1_000);
  expect(router.asked).toHaveLength(2);
});

test('an answer that says no is an error with the words of the router', async () => {
  const router = new Router();
  const poller = new Poller(router);
  router.answer = async () => ({ status: 403, description: 'Forbidden', body: null });
  poller.watch('$management', 'connection', ['n']);
  await pass(0);
  expect(poller.source('$management', 'connection').error).toBe('Forbidden');
});
