// The schema that a router describes itself with.

export type ValueType = 'string' | 'path' | 'integer' | 'boolean' | 'enum' | 'map' | 'properties' | 'list' | 'entityId';

export interface Attribute {
  name: string;
  type: ValueType;
  /** The words of an enumeration. */
  words: string[];
  /** What holds where nothing is given; null if nothing does. */
  preset: unknown;
  required: boolean;
  unique: boolean;
  deprecated: boolean;
  graph: boolean;
  description: string;
  /** May be given when the entity is created. */
  creatable: boolean;
  /** May be changed later. */
  updatable: boolean;
  /** May be taken back, so that nothing is given. */
  removable: boolean;
}

export interface EntityType {
  short: string;
  full: string;
  description: string;
  operations: string[];
  attributes: Attribute[];
  singleton: boolean;
  deprecated: boolean;
}

export type Schema = ReadonlyMap<string, EntityType>;

/** Types that only others extend, and the management node itself: there is nothing to list. */
const NOT_LISTED = ['entity', 'configurationEntity', 'operationalEntity', 'org.amqp.management', 'management', 'vhostUserGroupSettings'];

/**
 * Routers of the old kind do not say which attributes may be given at creation and which be changed later. These are the facts.
 * An attribute that is a counter, or the identity, is never given.
 */
const REPORTED_ONLY: Readonly<Record<string, readonly string[]>> = {
  connector: ['connectionStatus', 'connectionMsg', 'failoverUrls'],
  linkRoute: ['operStatus'],
  autoLink: ['linkRef', 'operStatus', 'lastError'],
  exchange: ['bindingCount', 'receivedCount', 'droppedCount', 'forwardedCount', 'divertedCount'],
  binding: ['matchedCount'],
  'router.connection.linkRoute': ['containerId'],
};
const CHANGEABLE: Readonly<Record<string, readonly string[]>> = {
  log: ['enable', 'includeTimestamp', 'includeSource', 'outputFile'],
  connection: ['adminStatus', 'enableProtocolTrace'],
  'router.link': ['adminStatus'],
};
/** Types whose instances are called by their address and nothing else. */
const NAMELESS = ['store', 'queue', 'queueTemplate', 'topic'];
const FIXED = ['name', 'identity', 'hostname'];

/** Old routers take UPDATE of a connection without saying so. */
const UNSAID: Readonly<Record<string, readonly string[]>> = { connection: ['UPDATE'] };

type Members = Record<string, unknown>;

/** Reads the answer to GET-SCHEMA; what is not understood is left out. */
export function parseSchema(body: unknown): Schema {
  const types = ((body as Members | null)?.['entityTypes'] ?? {}) as Record<string, Members>;
  const prefix = String((body as Members | null)?.['prefix'] ?? 'org.apache.qpid.dispatch');
  return new Map(Object.entries(types).map(([short, type]) => [short, entityType(short, type, prefix)]));
}

function entityType(short: string, type: Members, prefix: string): EntityType {
  const described = Object.entries((type['attributes'] ?? {}) as Record<string, Members>);
  const explicit = described.some(([, members]) => 'create' in members || 'update' in members);
  const operations = [...((type['operations'] as string[] | undefined) ?? []), ...(UNSAID[short] ?? [])];
  return {
    short,
    full: String(type['fullyQualifiedType'] ?? `${prefix}.${short}`),
    description: String(type['description'] ?? ''),
    operations: [...new Set(operations)],
    attributes: described.map(([name, members]) => attribute(short, name, members, explicit)),
    singleton: type['singleton'] === true,
    deprecated: type['deprecated'] === true,
  };
}

function attribute(short: string, name: string, members: Members, explicit: boolean): Attribute {
  const words = Array.isArray(members['type']) ? members['type'].map(String) : [];
  const graph = members['graph'] === true;
  const reported = graph || name === 'identity' || (REPORTED_ONLY[short] ?? []).includes(name);
  const changeable = CHANGEABLE[short]?.includes(name) ?? (!reported && !FIXED.includes(name));
  return {
    name,
    type: words.length ? 'enum' : (String(members['type'] ?? 'string') as ValueType),
    words,
    preset: members['default'] ?? null,
    required: members['required'] === true,
    unique: members['unique'] === true,
    deprecated: members['deprecated'] === true || /^\(?DEPRECATED/i.test(String(members['description'] ?? '')),
    graph,
    description: String(members['description'] ?? ''),
    creatable: explicit ? (members['create'] === true || name === 'name') && !(name === 'name' && NAMELESS.includes(short)) : !reported,
    updatable: explicit ? members['update'] === true : changeable,
    removable: explicit && members['update'] === true && members['required'] !== true && (members['default'] ?? null) === null,
  };
}

/** The types that have entities to list, by name. */
export function listed(schema: Schema): EntityType[] {
  return [...schema.values()].filter((type) => !NOT_LISTED.includes(type.short)).sort((a, b) => a.short.localeCompare(b.short));
}

export const can = (type: EntityType, operation: 'CREATE' | 'UPDATE' | 'DELETE') => type.operations.includes(operation);
