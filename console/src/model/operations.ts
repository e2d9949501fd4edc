// The management operations, over whatever carries them.
import { ManagementError, type Management } from '../amqp/client';

export type Row = Readonly<Record<string, unknown>>;

async function ask(
  management: Management,
  node: string,
  operation: string,
  properties: Record<string, string | number>,
  body?: unknown,
): Promise<unknown> {
  const reply = await management.request({ node, operation, properties, body });
  if (reply.status < 200 || reply.status > 299) {
    throw new ManagementError(reply.status, reply.description || `The router answered with status ${reply.status}.`);
  }
  return reply.body;
}

const SELF = { type: 'org.amqp.management', name: 'self' };

/** All entities of a type, with these attributes; all attributes if none are named. */
export async function query(
  management: Management,
  node: string,
  entityType: string,
  attributeNames: readonly string[] = [],
): Promise<Row[]> {
  const body = await ask(management, node, 'QUERY', { ...SELF, entityType }, { attributeNames: [...attributeNames] });
  return rows(body);
}

/** The answer to a QUERY as objects. */
export function rows(body: unknown): Row[] {
  const { attributeNames, results } = (body ?? {}) as { attributeNames?: string[]; results?: unknown[][] };
  if (!Array.isArray(attributeNames) || !Array.isArray(results)) return [];
  return results.map((values) => Object.fromEntries(attributeNames.map((name, index) => [name, values[index] ?? null])));
}

export async function managementNodes(management: Management, node: string): Promise<string[]> {
  const body = await ask(management, node, 'GET-MGMT-NODES', SELF);
  return Array.isArray(body) ? body.map(String) : [];
}

export const schema = (management: Management, node: string) => ask(management, node, 'GET-SCHEMA', SELF);

/** The schema of one type that not all routers have. */
export const schemaOf = (management: Management, node: string, entityType: string) => ask(management, node, 'GET-SCHEMA', { ...SELF, entityType });

export const log = (management: Management, node: string, limit: number) =>
  ask(management, node, 'GET-LOG', { ...SELF, limit });

export async function create(management: Management, node: string, type: string, attributes: Row): Promise<Row> {
  const name = attributes['name'];
  const properties: Record<string, string> = typeof name === 'string' && name ? { type, name } : { type };
  return ((await ask(management, node, 'CREATE', properties, attributes)) ?? {}) as Row;
}

export async function update(
  management: Management,
  node: string,
  type: string,
  identity: string,
  attributes: Row,
): Promise<Row> {
  return ((await ask(management, node, 'UPDATE', { type, identity }, attributes)) ?? {}) as Row;
}

export async function remove(management: Management, node: string, type: string, identity: string, force = false): Promise<void> {
  await ask(management, node, 'DELETE', { type, identity, ...(force && { force: 'true' }) });
}

/** One of the further operations of an entity, with arguments. */
export async function call(management: Management, node: string, operation: string, type: string, identity: string, given: Row): Promise<Row> {
  return ((await ask(management, node, operation, { type, identity }, given)) ?? {}) as Row;
}
