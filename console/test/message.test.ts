import { describe, expect, test } from 'vitest';
import { EMPTY, receiveOrder, sendingSaid, sendOrder, type SendTexts } from '../src/model/message';
import { nothingSent } from '../src/amqp/sending';

const order = (texts: Partial<SendTexts>) => sendOrder({ ...EMPTY, address: 'a', ...texts });
const ordered = (texts: Partial<SendTexts>) => {
  const result = order(texts);
  if ('wrong' in result) throw new Error(JSON.stringify(result.wrong));
  return result.order;
};
const wrong = (texts: Partial<SendTexts>) => {
  const result = order(texts);
  return 'wrong' in result ? Object.keys(result.wrong) : [];
};

describe('what is typed to be sent', () => {
  test('is an order of one text if nothing else is said', () => {
    expect(ordered({ address: ' orders ', body: 'x' })).toEqual({
      address: 'orders', count: 1, durable: false, priority: null, ttl: null, messageId: null, subject: null, replyTo: null, correlationId: null, contentType: null,
      application: [], body: { kind: 'text', text: 'x' },
    });
  });

  test('has properties of the types that are asked for', () => {
    const application = [
      { name: 'colour', type: 'string', value: 'red' }, { name: 'big', type: 'boolean', value: 'TRUE' }, { name: 'n', type: 'int', value: '-5' },
      { name: 'size', type: 'double', value: '1.5' }, { name: 'at', type: 'timestamp', value: '1970-01-01T00:00:01Z' },
    ] as const;
    expect(ordered({ application }).application.map(({ value }) => value)).toEqual(['red', true, -5, 1.5, 1000]);
  });

  test('has bytes where they are written as such', () => {
    expect(ordered({ kind: 'hex', body: '0x00 ff:10' }).body).toEqual({ kind: 'bytes', bytes: Uint8Array.of(0, 255, 16) });
    expect(ordered({ kind: 'utf8', body: 'é' }).body).toEqual({ kind: 'bytes', bytes: Uint8Array.of(0xc3, 0xa9) });
    expect(ordered({ kind: 'json', body: '{"a":[1]}' }).body).toEqual({ kind: 'json', value: { a: [1] } });
  });

  test('names each field that is wrong', () => {
    expect(wrong({ address: ' ', count: '0', priority: '10', ttl: '-1', contentType: 'é', kind: 'json', body: '{' })).toEqual(['address', 'count', 'priority', 'ttl', 'contentType', 'body']);
    expect(wrong({ kind: 'hex', body: 'abc' })).toEqual(['body']);
    const twice = { name: 'a', type: 'string', value: '' } as const;
    expect(wrong({ application: [twice, twice, { name: '', type: 'int', value: '1' }, { name: 'i', type: 'int', value: '2147483648' }] })).toEqual(['application.1', 'application.2', 'application.3']);
  });
});

test('no more messages are asked for than a page may hold', () => {
  expect(receiveOrder({ address: 'a', count: '501', receipt: 'accept', selector: '', wait: '5' })).toHaveProperty('wrong.count');
  expect(receiveOrder({ address: 'a', count: '500', receipt: 'accept', selector: ' ', wait: '5' })).toEqual({ order: { address: 'a', count: 500, receipt: 'accept', selector: null, wait: 5000 } });
});

test('outcomes are said in words', () => {
  const report = { ...nothingSent(''), error: null, sent: 3, outcomes: { accepted: 1, rejected: 0, released: 2, modified: 0 } };
  expect(sendingSaid(report, 3)).toEqual({ tone: 'warn', text: '3 messages of 3 sent: 1 accepted, 2 released.' });
  expect(sendingSaid({ ...report, phase: 'waiting', sent: 0, outcomes: nothingSent('').outcomes }, 3).text).toMatch(/no credit/);
  expect(sendingSaid({ ...report, error: 'The connection was lost.' }, 5)).toEqual({ tone: 'bad', text: 'The connection was lost. Before that: 3 messages of 5 sent: 1 accepted, 2 released.' });
});
