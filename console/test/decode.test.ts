import * as rheaModule from 'rhea';
import { describe, expect, test } from 'vitest';
import { decode } from '../src/amqp/decode';

// eslint-disable-next-line @typescript-eslint/no-explicit-any
const rhea: any = (rheaModule as any).default ?? rheaModule;
const { types } = rhea;
const encoded = (message: unknown): Uint8Array => rhea.message.encode(message);
const shown = (message: unknown) => {
  const bytes = encoded(message);
  return decode(bytes, bytes.length);
};

describe('a message', () => {
  test('is shown section by section, with types', () => {
    const message = shown({
      durable: true, ttl: 5000, message_id: 'm1', subject: 's', creation_time: 1000,
      application_properties: { n: types.wrap_long(-7), big: types.wrap_long(2 ** 40), ok: true, f: types.wrap_double(0.5) },
      message_annotations: { 'x-opt-a': 'b' },
      body: { list: [1, 'two', null] },
    });
    expect(message.problem).toBeNull();
    expect(message.sections).toEqual([
      { name: 'header', values: [{ name: 'durable', type: 'boolean', text: 'true' }, { name: 'ttl', type: 'uint', text: '5000' }] },
      { name: 'message annotations', values: [{ name: 'x-opt-a', type: 'string', text: 'b' }] },
      { name: 'properties', values: [{ name: 'message-id', type: 'string', text: 'm1' }, { name: 'subject', type: 'string', text: 's' }, { name: 'creation-time', type: 'timestamp', text: '1970-01-01T00:00:01.000Z' }] },
      { name: 'application properties', values: [{ name: 'n', type: 'long', text: '-7' }, { name: 'big', type: 'long', text: String(2 ** 40) }, { name: 'ok', type: 'boolean', text: 'true' }, { name: 'f', type: 'double', text: '0.5' }] },
    ]);
    expect(message.body).toMatchObject({ type: 'value: map', text: '{"list": [1, "two", null]}', cut: false });
  });

  test('of bytes is text where it is some, and hexadecimal where it is none', () => {
    const data = (bytes: Uint8Array) => shown({ body: rhea.message.data_section(Buffer.from(bytes)) }).body;
    expect(data(new TextEncoder().encode('grün'))).toEqual({ type: 'data', text: 'grün', size: 5, cut: false });
    expect(data(Uint8Array.of(0, 0xff))).toEqual({ type: 'data, in hexadecimal', text: '00ff', size: 2, cut: false });
  });

  test('that is long is shown in part', () => {
    const bytes = encoded({ subject: 's', body: 'é'.repeat(100_000) });
    const message = decode(bytes.subarray(0, 65_536), bytes.length);
    expect(message.size).toBe(bytes.length);
    expect(message.body?.cut).toBe(true);
    expect(message.body?.text.length).toBeLessThan(17_000);
    expect(message.problem).toMatch(/first 65536 bytes/);
    const data = encoded({ body: rhea.message.data_section(Buffer.alloc(100_000, 'x')) });
    expect(decode(data.subarray(0, 65_536), data.length).body).toMatchObject({ size: 100_000, cut: true });
  });

  test('has as many values as a page can hold', () => {
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`p${index}`, index]));
    const values = shown({ application_properties: many, body: 'x' }).sections.at(-1)!.values;
    expect(values).toHaveLength(201);
    expect(values.at(-1)!.text).toBe('and 4800 more');
  });
});

describe('bytes that are no message', () => {
  const array = (count: number[]) => Uint8Array.of(0, 0x53, 0x77, 0xf0, 0, 0, 0, 5, ...count, 0x41);
  test.each([
    ['a count beyond all bounds', array([0xff, 0xff, 0xff, 0xff])],
    ['an end within a value', Uint8Array.of(0, 0x53, 0x73, 0xc0, 200, 1)],
    ['an unknown type', Uint8Array.of(0, 0x53, 0x77, 0x13)],
    ['no descriptor', Uint8Array.of(0x41)],
    ['descriptors of descriptors', new Uint8Array(5_000)],
    ['lists in lists', Uint8Array.from([0, 0x53, 0x77, ...Array.from({ length: 100 }, (_, index) => [0xc0, 250 - 2 * index, 1]).flat()])],
  ])('%s are shown as far as they go, and do no harm', (_, bytes) => {
    const message = decode(bytes, bytes.length);
    expect(message.body === null || message.body.text.length < 20_000).toBe(true);
  });

  test('any bytes at all end in time and in bounds', () => {
    let seed = 1;
    const next = () => (seed = (seed * 48_271) % 0x7fff_ffff) & 0xff;
    const codes = [0, 0x53, 0x70, 0x73, 0x74, 0x75, 0x77, 0xc0, 0xc1, 0xd0, 0xd1, 0xf0, 0xe0, 0xa0, 0xb1, 0x45, 0x40];
    for (let round = 0; round < 20_000; round += 1) {
      const bytes = Uint8Array.from({ length: next() % 64 }, () => (next() % 2 ? codes[next() % codes.length]! : next()));
      const message = decode(bytes, bytes.length);
      expect(JSON.stringify(message).length).toBeLessThan(200_000);
    }
  });
});
