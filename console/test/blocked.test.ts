import { expect, test } from 'vitest';
import { verdict } from '../src/model/blocked';

const link = { linkType: 'endpoint', owningAddr: 'M0orders', operStatus: 'up', capacity: 250, unsettledCount: 0, undeliveredCount: 0, creditAvailable: 250, zeroCreditSeconds: 0, deliveriesStuck: 0 };
const incoming = { ...link, linkDir: 'in' };
const outgoing = { ...link, linkDir: 'out' };

test('a link with credit and nothing to do is fine', () => {
  expect(verdict(incoming, { local: 1, remote: 0 }).tone).toBe('fine');
  expect(verdict(outgoing, null).tone).toBe('fine');
});

test('a sender without credit is told that there are no consumers', () => {
  const { tone, text } = verdict({ ...incoming, creditAvailable: 0, zeroCreditSeconds: 40 }, { local: 0, remote: 0 });
  expect(tone).toBe('stuck');
  expect(text).toBe('No consumers for this address: the sender gets no credit (for 40 s).');
});

test('a sender whose deliveries are all unsettled is told that receivers are slow', () => {
  expect(verdict({ ...incoming, creditAvailable: 0, unsettledCount: 250 }, { local: 1, remote: 0 }).text).toMatch(/All 250 .* slow to settle/);
});

test('a receiver without credit keeps deliveries waiting', () => {
  const { tone, text } = verdict({ ...outgoing, creditAvailable: 0, undeliveredCount: 1, zeroCreditSeconds: 3 }, null);
  expect(tone).toBe('waiting');
  expect(text).toBe('1 delivery waiting: the receiver gives no credit.');
});

test('what is on its way over a busy link is not held up', () => {
  expect(verdict({ ...outgoing, undeliveredCount: 4 }, null, 120).tone).toBe('fine');
  expect(verdict({ ...outgoing, undeliveredCount: 4 }, null, 0).text).toMatch(/session or network connection is full/);
});

test('deliveries that nobody settles are reported though credit is left', () => {
  expect(verdict({ ...outgoing, deliveriesStuck: 7 }, null)).toEqual({ tone: 'stuck', text: '7 deliveries unsettled for more than 10 s.' });
});

test('attributes that an old router does not have do no harm', () => {
  expect(verdict({ linkDir: 'out', operStatus: 'up', undeliveredCount: 2 }, null).text).toBe('2 deliveries waiting.');
});
