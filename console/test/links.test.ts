import { expect, test } from 'vitest';
import { inFlight } from '../src/model/links';

test('what is in flight is what receivers have not settled and what waits for them', () => {
  const link = (linkDir: string, linkType = 'endpoint') => ({ linkDir, linkType, undeliveredCount: 2, unsettledCount: 3 });
  expect(inFlight([[link('out'), link('in')], [link('out'), link('out', 'inter-router')], []])).toEqual({ waiting: 4, unsettled: 6 });
});

test('what rows do not say is not known', () => {
  expect(inFlight([[{ linkDir: 'out', linkType: 'endpoint', undeliveredCount: 2 }]])).toBeNull();
  expect(inFlight([[{ name: 'a', deliveryCount: 2 }]])).toBeNull();
});
