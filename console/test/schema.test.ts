import { expect, test } from 'vitest';
import { fields, parse, submit, typed } from '../src/model/form';
import { can, listed, parseSchema } from '../src/model/schema';

const ANSWER = {
  prefix: 'org.apache.qpid.dispatch',
  entityTypes: {
    entity: { attributes: { name: { type: 'string' } }, description: '', fullyQualifiedType: 'org.apache.qpid.dispatch.entity' },
    connector: {
      operations: ['CREATE', 'DELETE', 'READ'],
      fullyQualifiedType: 'org.apache.qpid.dispatch.connector',
      attributes: {
        host: { type: 'string', default: '127.0.0.1' },
        role: { type: ['normal', 'inter-router'], default: 'normal' },
        cost: { type: 'integer', default: 1 },
        verifyHostname: { type: 'boolean', default: true },
        saslPassword: { type: 'string' },
        openProperties: { type: 'properties' },
        connectionStatus: { type: 'string' },
        oldThing: { type: 'string', deprecated: true },
        name: { type: 'string', unique: true },
        identity: { type: 'string', unique: true },
      },
    },
    autoLink: { operations: ['CREATE', 'READ'], fullyQualifiedType: 'org.apache.qpid.dispatch.router.config.autoLink', attributes: { name: { type: 'string' }, address: { type: 'string', required: true } } },
    log: { operations: ['UPDATE', 'READ'], attributes: { module: { type: ['A'], required: true }, enable: { type: 'string' } } },
    connection: { operations: ['READ'], attributes: { adminStatus: { type: ['enabled', 'deleted'] }, host: { type: 'string' } } },
  },
};

const schema = parseSchema(ANSWER);
const connector = schema.get('connector')!;
const names = (type: string, purpose: 'create' | 'update') => fields(schema.get(type)!, purpose).map(({ attribute }) => attribute.name);

test('the schema of an old router does not say what can be given; the console knows', () => {
  expect(names('connector', 'create')).toEqual(['name', 'host', 'role', 'cost', 'verifyHostname', 'saslPassword', 'openProperties', 'oldThing']);
  expect(names('log', 'update')).toEqual(['enable']);
});

test('what must be given comes first and what is deprecated last', () => {
  expect(names('autoLink', 'create')).toEqual(['address', 'name']);
});

test('a schema that says what can be given is believed', () => {
  const explicit = parseSchema({ entityTypes: { thing: { operations: ['CREATE', 'UPDATE'], attributes: { a: { type: 'string', create: true }, b: { type: 'string', create: true, update: true }, c: { type: 'string' } } } } });
  expect(fields(explicit.get('thing')!, 'create').map(({ attribute }) => attribute.name)).toEqual(['a', 'b']);
  expect(fields(explicit.get('thing')!, 'update').map(({ attribute }) => attribute.name)).toEqual(['b']);
});

test('connections can be changed although old routers do not say so', () => {
  expect(can(schema.get('connection')!, 'UPDATE')).toBe(true);
  expect(names('connection', 'update')).toEqual(['adminStatus']);
});

test('types that only others extend are not listed', () => {
  expect(listed(schema).map(({ short }) => short)).toEqual(['autoLink', 'connection', 'connector', 'log']);
});

test('passwords are not shown while they are typed', () => {
  expect(fields(connector, 'create').filter(({ secret }) => secret).map(({ attribute }) => attribute.name)).toEqual(['saslPassword']);
});

test('an answer that makes no sense is an empty schema', () => {
  expect(parseSchema(null).size).toBe(0);
  expect(parseSchema({ entityTypes: {} }).size).toBe(0);
});

const attribute = (name: string) => connector.attributes.find((each) => each.name === name)!;

test('texts become values of the attribute’s type', () => {
  expect(parse(attribute('cost'), '12')).toBe(12);
  expect(parse(attribute('verifyHostname'), 'false')).toBe(false);
  expect(parse(attribute('role'), 'inter-router')).toBe('inter-router');
  expect(parse(attribute('openProperties'), '{"a": 1}')).toEqual({ a: 1 });
});

test('texts that are no such value are refused with a remedy', () => {
  expect(() => parse(attribute('cost'), '1.5')).toThrow(/whole number/);
  expect(() => parse(attribute('cost'), '99999999999999999999')).toThrow(/whole number/);
  expect(() => parse(attribute('role'), 'edge')).toThrow(/One of normal, inter-router/);
  expect(() => parse(attribute('openProperties'), '[1]')).toThrow(/JSON object/);
});

test('only what is given is sent when something is created', () => {
  const asked = fields(connector, 'create');
  expect(submit(asked, { host: 'broker', cost: '', role: 'normal' }, null)).toEqual({ attributes: { host: 'broker', role: 'normal' }, errors: {} });
});

test('what is required must be given', () => {
  const asked = fields(schema.get('autoLink')!, 'create');
  expect(submit(asked, { address: ' ' }, null).errors).toEqual({ address: 'This must be given.' });
});

test('only what was changed is sent when something is changed', () => {
  const asked = fields(schema.get('log')!, 'update');
  const original = { enable: 'info+' };
  expect(submit(asked, { enable: typed('info+') }, original).attributes).toEqual({});
  expect(submit(asked, { enable: 'trace+' }, original).attributes).toEqual({ enable: 'trace+' });
  expect(submit(asked, { enable: '' }, original).attributes).toEqual({ enable: '' });
});

const QUEUE = parseSchema({
  prefix: 'org.apache.qpid.dispatch',
  entityTypes: {
    queue: {
      operations: ['CREATE', 'UPDATE', 'DELETE', 'READ'],
      fullyQualifiedType: 'org.apache.qpid.dispatch.queue',
      attributes: {
        address: { type: 'string', required: true, create: true, update: false },
        maxMessages: { type: 'integer', create: true, update: true },
        deliveryLimit: { type: 'integer', default: 10, create: true, update: true },
        depth: { type: 'integer', graph: true, create: false, update: false },
        name: { type: 'string', create: true, update: false },
      },
    },
  },
}).get('queue')!;

test('a schema that says itself what can be given is believed, and a queue is called by its address', () => {
  expect(fields(QUEUE, 'create').map(({ attribute }) => attribute.name)).toEqual(['address', 'maxMessages', 'deliveryLimit']);
  expect(fields(QUEUE, 'update').map(({ attribute }) => attribute.name)).toEqual(['maxMessages', 'deliveryLimit']);
});

test('a limit can be taken back, a number that always holds cannot', () => {
  const { attributes } = submit(fields(QUEUE, 'update'), { maxMessages: '', deliveryLimit: '' }, { maxMessages: 5, deliveryLimit: 3 });
  expect(attributes).toEqual({ maxMessages: null });
});
