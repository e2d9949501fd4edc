import { describe, expect, test } from 'vitest';
import { configurationText, type Section } from '../src/model/configuration';
import type { Row } from '../src/model/operations';
import { parseSchema } from '../src/model/schema';

const schema = parseSchema({
  entityTypes: {
    router: { attributes: { id: {}, version: {}, metadata: {}, linkCount: { type: 'integer', graph: true } } },
    connector: { attributes: { host: {}, port: { default: 'amqp' }, saslPassword: {}, openProperties: { type: 'map' }, verifyHostname: { type: 'boolean', default: true }, connectionStatus: {}, name: {}, identity: {} } },
    address: { attributes: { pattern: {}, enableFallback: { type: 'boolean', default: false }, off: { type: 'boolean' }, name: {} } },
    log: { attributes: { module: {}, enable: {}, name: {} } },
  },
});
const text = (short: string, ...rows: Row[]) => {
  const section: Section = { type: schema.get(short)!, rows };
  return configurationText('A', new Date(0), [section]).split('\n\n').slice(1).join('\n\n');
};

describe('a configuration file', () => {
  test('has what is not as it would be without it', () => {
    expect(text('connector', { host: 'h', port: 'amqp', verifyHostname: false, connectionStatus: 'SUCCESS', name: 'connector/h', identity: 'connector/h' })).toBe('connector {\n    host: h\n    verifyHostname: no\n}\n');
    expect(text('router', { id: 'A', version: '1', linkCount: 5 })).toBe('router {\n    id: A\n}\n');
    expect(text('address', { pattern: 'a.#', fallback: true, off: false, name: 'mine' })).toBe('address {\n    pattern: a.#\n    enableFallback: yes\n    name: mine\n}\n');
    expect(text('log', { module: 'A', name: 'log/A' }, { module: 'B', enable: 'info+' })).toBe('log {\n    module: B\n    enable: info+\n}\n');
  });

  test('has maps as JSON, on lines of their own', () => {
    expect(text('connector', { openProperties: { a: 'b', c: { d: 5 } } })).toBe('connector {\n    openProperties: {\n        "a": "b",\n        "c": {\n            "d": 5\n        }\n    }\n}\n');
    expect(text('connector', { host: 'h', openProperties: {} })).toBe('connector {\n    host: h\n}\n');
  });

  test('has no passwords, and says so', () => {
    expect(text('connector', { saslPassword: 'secret' })).toBe('connector {\n    # saslPassword: left out\n}\n');
  });

  test('says what it cannot hold', () => {
    expect(text('router', { id: 'A', metadata: 'a # b\n}' })).toBe('router {\n    id: A\n    # metadata: left out, since a configuration file cannot hold it: a # b\\n}\n}\n');
  });
});
