// Forms that are made from the schema: what is asked, what is typed, what is sent.
import type { Row } from './operations';
import type { Attribute, EntityType } from './schema';

export type Texts = Readonly<Record<string, string>>;
export type Errors = Readonly<Record<string, string>>;

const SECRET = /password/i;

export interface Field {
  attribute: Attribute;
  /** What to show while nothing is typed. */
  placeholder: string;
  /** Not to be shown while it is typed. */
  secret: boolean;
  /** The names of this type's entities are what may be given. */
  names: string | null;
}

/** Attributes that name another entity. */
const NAMES_OF: Readonly<Record<string, string>> = { sslProfile: 'sslProfile', saslPlugin: 'authServicePlugin', exchangeName: 'exchange', connection: 'connector' };

/** The fields of a form: what must be given first, deprecated ones last. */
export function fields(type: EntityType, purpose: 'create' | 'update'): Field[] {
  const asked = type.attributes.filter((attribute) => (purpose === 'create' ? attribute.creatable : attribute.updatable));
  const rank = (attribute: Attribute) => (attribute.deprecated ? 3 : attribute.required ? 0 : attribute.name === 'name' ? 1 : 2);
  return asked
    .map((attribute, index) => ({ attribute, index }))
    .sort((a, b) => rank(a.attribute) - rank(b.attribute) || a.index - b.index)
    .map(({ attribute }) => ({
      attribute,
      placeholder: attribute.preset === null ? '' : `default: ${String(attribute.preset)}`,
      secret: attribute.type === 'string' && SECRET.test(attribute.name),
      names: NAMES_OF[attribute.name] ?? null,
    }));
}

/** An attribute's value as it is typed. */
export function typed(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? JSON.stringify(value, null, 1) : String(value);
}

/** What is typed, as a value; throws a sentence where it is none of this type. */
export function parse(attribute: Attribute, text: string): unknown {
  switch (attribute.type) {
    case 'integer':
      if (!/^[+-]?\d+$/.test(text.trim()) || !Number.isSafeInteger(Number(text))) throw new Error('A whole number is needed here.');
      return Number(text);
    case 'boolean':
      if (!/^(true|false|yes|no)$/i.test(text.trim())) throw new Error('Yes or no is needed here.');
      return /^(true|yes)$/i.test(text.trim());
    case 'enum':
      if (!attribute.words.includes(text)) throw new Error(`One of ${attribute.words.join(', ')} is needed here.`);
      return text;
    case 'map':
    case 'properties':
      return json(text, (value) => typeof value === 'object' && value !== null && !Array.isArray(value), 'A JSON object is needed here, such as {"key": "value"}.');
    case 'list':
      return json(text, Array.isArray, 'A JSON list is needed here, such as ["a", "b"].');
    default:
      return text;
  }
}

function json(text: string, valid: (value: unknown) => boolean, remedy: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    if (valid(value)) return value;
  } catch {
    // Said below.
  }
  throw new Error(remedy);
}

/** The attributes to send, or what is wrong with which field. Empty fields are left to the router's defaults. */
export function submit(asked: readonly Field[], texts: Texts, original: Row | null): { attributes: Row; errors: Errors } {
  const attributes: Record<string, unknown> = {};
  const errors: Record<string, string> = {};
  for (const { attribute } of asked) {
    const text = texts[attribute.name] ?? '';
    const before = original ? typed(original[attribute.name]) : '';
    if (original && text === before) continue;
    if (text.trim() === '') {
      if (attribute.required && !original) errors[attribute.name] = 'This must be given.';
      // A text can be emptied; whether other types can be taken back is known only where the schema says so.
      else if (original && attribute.removable) attributes[attribute.name] = null;
      else if (original && (attribute.type === 'string' || attribute.type === 'path')) attributes[attribute.name] = '';
      continue;
    }
    try {
      attributes[attribute.name] = parse(attribute, text);
    } catch (error) {
      errors[attribute.name] = (error as Error).message;
    }
  }
  return { attributes, errors };
}
