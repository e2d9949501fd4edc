// The configuration of a router as a file that it would start with, made from what management tells.
import type { Row } from './operations';
import type { Attribute, EntityType } from './schema';

/** Sections in the order in which they are written: others come after what they name. */
export const SECTIONS: readonly string[] = [
  'router', 'sslProfile', 'authServicePlugin', 'listener', 'connector', 'address', 'linkRoute', 'autoLink', 'exchange', 'binding', 'policy', 'vhost', 'log',
  'store', 'queueTemplate', 'topic', 'queue',
];

export interface Section {
  type: EntityType;
  rows: readonly Row[];
}

/** What routers report and never take. */
const REPORTED: Readonly<Record<string, readonly string[]>> = { router: ['version', 'hostName', 'name'], policy: ['name'], authServicePlugin: ['authService'], vhost: ['name'], log: ['name'], store: ['name'] };
/** There is always one of these, which is only in files: nothing of it can be given at a creation. */
const FILE_ONLY = ['router', 'policy', 'log', 'store'];
/** What is given by one name and told by another. */
const TOLD_AS: Readonly<Record<string, Readonly<Record<string, string>>>> = { address: { enableFallback: 'fallback' } };
const NESTED = ['map', 'properties'];
/** Old routers tell passwords to everybody who may ask; a file that is handed on must not. */
const SECRET = /^(sasl)?password$/i;
/** Only these may have a # in them: elsewhere it begins a comment. */
const HASH_ALLOWED = ['pattern', 'bindingKey', 'hostname'];

/** The file's text. Passwords are left out, and whatever cannot be written; both are said in comments where they would stand. */
export function configurationText(router: string, at: Date, sections: readonly Section[]): string {
  const head = [
    `# The configuration of router ${oneLine(router)}, as management told it on ${at.toISOString()}.`,
    '# Passwords are left out. What is as it would be by default is not listed.',
  ].join('\n');
  const parts = sections.flatMap(({ type, rows }) => rows.map((row) => section(type, row)).filter((text) => text !== null));
  return `${[head, ...parts].join('\n\n')}\n`;
}

function section(type: EntityType, row: Row): string | null {
  // Queues of subscriptions are the work of clients.
  if (type.short === 'queue' && String(row['address']).includes('::')) return null;
  const lines = type.attributes.flatMap((attribute) => {
    const value = row[TOLD_AS[type.short]?.[attribute.name] ?? attribute.name];
    return given(type.short, attribute, value) ? write(attribute, value) : [];
  });
  // A log module that says nothing of its own, or a policy that is as if there were none.
  if ((type.short === 'log' && lines.length < 2) || (type.short === 'policy' && !lines.length)) return null;
  return `${type.short} {\n${lines.map((line) => `    ${line}`).join('\n')}\n}`;
}

function given(short: string, { name, graph, preset, creatable }: Attribute, value: unknown): boolean {
  if (value === null || value === undefined || value === '') return false;
  if (graph || name === 'identity' || name === 'type' || REPORTED[short]?.includes(name)) return false;
  if (!creatable && !FILE_ONLY.includes(short)) return false;
  // Names that the router made up.
  if (name === 'name' && String(value).startsWith(`${short}/`)) return false;
  // That something is off by default goes without saying in a schema.
  return String(value) !== String(preset ?? (value === false ? false : null));
}

function write({ name, type }: Attribute, value: unknown): string[] {
  if (SECRET.test(name)) return [`# ${name}: left out`];
  if (typeof value === 'object' && NESTED.includes(type)) return nested(name, value);
  const text = typeof value === 'boolean' ? (value ? 'yes' : 'no') : Array.isArray(value) ? value.map(String).join(', ') : String(value);
  if (!writable(name, text)) return [`# ${name}: left out, since a configuration file cannot hold it: ${oneLine(text)}`];
  return [`${name}: ${text}`];
}

/** A map is written as JSON, which begins and ends on lines of its own. */
function nested(name: string, value: unknown): string[] {
  const [, ...rest] = JSON.stringify(value, null, 4).split('\n');
  // Without members it is all on one line.
  return rest.length ? [`${name}: {`, ...rest] : [];
}

function writable(name: string, text: string): boolean {
  const wrong = HASH_ALLOWED.includes(name) ? /[\n\r"\\\s]|^\{/ : /[\n\r"\\#]|^[\s{]|\s$/;
  return !wrong.test(text);
}

function oneLine(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
