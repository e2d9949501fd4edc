// What is in an encoded message (AMQP 1.0, part 1.6 and 3.2), as far as a page shows it. rhea's own decoder trusts counts, and drops types.
import type { ShownMessage, ShownValue } from './protocol';

/** Characters of a body that are shown. */
const BODY = 16 * 1024;
/** Characters of any other value. */
const VALUE = 2 * 1024;
/** Values of a section. */
const VALUES = 200;
const DEPTH = 16;

const SECTIONS: Readonly<Record<number, string>> = {
  0x70: 'header', 0x71: 'delivery annotations', 0x72: 'message annotations', 0x73: 'properties', 0x74: 'application properties', 0x78: 'footer',
};
const FIELDS: Readonly<Record<number, readonly string[]>> = {
  0x70: ['durable', 'priority', 'ttl', 'first-acquirer', 'delivery-count'],
  0x73: [
    'message-id', 'user-id', 'to', 'subject', 'reply-to', 'correlation-id', 'content-type', 'content-encoding', 'absolute-expiry-time', 'creation-time',
    'group-id', 'group-sequence', 'reply-to-group-id',
  ],
};
const DATA = 0x75;
const SEQUENCE = 0x76;
const VALUE_SECTION = 0x77;
/** Descriptors as symbols, which nearly nobody writes. */
const SYMBOLS: Readonly<Record<string, number>> = {
  'amqp:header:list': 0x70, 'amqp:delivery-annotations:map': 0x71, 'amqp:message-annotations:map': 0x72, 'amqp:properties:list': 0x73,
  'amqp:application-properties:map': 0x74, 'amqp:data:binary': DATA, 'amqp:amqp-sequence:list': SEQUENCE, 'amqp:amqp-value:*': VALUE_SECTION, 'amqp:footer:map': 0x78,
};

const NAMES: Readonly<Record<number, string>> = {
  0x40: 'null', 0x41: 'boolean', 0x42: 'boolean', 0x56: 'boolean', 0x50: 'ubyte', 0x60: 'ushort', 0x70: 'uint', 0x52: 'uint', 0x43: 'uint',
  0x80: 'ulong', 0x53: 'ulong', 0x44: 'ulong', 0x51: 'byte', 0x61: 'short', 0x71: 'int', 0x54: 'int', 0x81: 'long', 0x55: 'long',
  0x72: 'float', 0x82: 'double', 0x74: 'decimal32', 0x84: 'decimal64', 0x94: 'decimal128', 0x73: 'char', 0x83: 'timestamp', 0x98: 'uuid',
  0xa0: 'binary', 0xb0: 'binary', 0xa1: 'string', 0xb1: 'string', 0xa3: 'symbol', 0xb3: 'symbol',
  0x45: 'list', 0xc0: 'list', 0xd0: 'list', 0xc1: 'map', 0xd1: 'map', 0xe0: 'array', 0xf0: 'array',
};

class Cut extends Error {}

/** A value as text, with its type. Only what `room` allows is written. */
interface Read {
  type: string;
  text: string;
}

/** Shows a message of `size` bytes, of which these are the first. */
export function decode(bytes: Uint8Array, size: number): ShownMessage {
  const shown: ShownMessage = { size, sections: [], body: null, problem: null };
  const reader = new Reader(bytes);
  try {
    while (reader.left > 0) section(reader, shown);
  } catch (error) {
    if (error instanceof Cut) shown.problem = bytes.length < size ? `Only the first ${bytes.length} bytes of ${size} were kept.` : 'The message ends too early.';
    else shown.problem = (error as Error).message;
  }
  return shown;
}

function section(reader: Reader, shown: ShownMessage) {
  const code = reader.descriptor();
  const name = SECTIONS[code];
  if (name) {
    const values = FIELDS[code] ? reader.fields(FIELDS[code]) : reader.map();
    if (values.length) shown.sections.push({ name, values });
  } else if (code === DATA) {
    data(reader, shown);
  } else if (code === SEQUENCE || code === VALUE_SECTION) {
    const from = reader.at;
    const { type, text } = reader.value(BODY, 0);
    body(shown, code === VALUE_SECTION ? `value: ${type}` : 'sequence', text, reader.at - from, text.length >= BODY || reader.short);
    if (reader.short) throw new Cut();
  } else {
    throw new Error(`There is a section of an unknown kind (0x${code.toString(16)}).`);
  }
}

/** Several sections of a body are shown one after another. */
function body(shown: ShownMessage, type: string, text: string, size: number, cut: boolean) {
  const before = shown.body;
  if (!before) {
    shown.body = { type, text, size, cut };
    return;
  }
  const room = Math.max(0, BODY - before.text.length);
  shown.body = { type: before.type, text: `${before.text}\n${text.slice(0, room)}`, size: before.size + size, cut: before.cut || cut || text.length > room };
}

function data(reader: Reader, shown: ShownMessage) {
  const { bytes, announced } = reader.binary();
  const seen = bytes.subarray(0, BODY);
  const text = utf8(seen, seen.length < announced);
  const part = text === null ? hex(seen.subarray(0, BODY / 2)) : text;
  body(shown, text === null ? 'data, in hexadecimal' : 'data', part, announced, seen.length < announced || (text === null && announced > BODY / 2));
  if (bytes.length < announced) throw new Cut();
}

/** Text if it is some; of what was cut off the last character may be missing. */
function utf8(bytes: Uint8Array, cut: boolean): string | null {
  for (let drop = 0; drop <= (cut ? 3 : 0); drop += 1) {
    try {
      const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, bytes.length - drop));
      // eslint-disable-next-line no-control-regex
      return /[\u0000-\u0008\u000e-\u001f]/.test(text) ? null : text;
    } catch {
      // Not here.
    }
  }
  return null;
}

export function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Reads encoded values; throws `Cut` where the bytes end too early; but of a text or binary it gives what there is. */
class Reader {
  at = 0;
  /** The last text or binary ended before its end. */
  short = false;
  private readonly bytes: Uint8Array;
  private readonly view: DataView;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get left(): number {
    return this.bytes.length - this.at;
  }

  /** The descriptor of a section, as its number. */
  descriptor(): number {
    if (this.byte() !== 0) throw new Error('There is something that is no section.');
    const { type, text } = this.value(64, 0);
    const code = type === 'ulong' ? Number(text) : SYMBOLS[text];
    if (code === undefined) throw new Error(`There is a section of an unknown kind (${text}).`);
    return code;
  }

  /** The fields of a list that are given. */
  fields(names: readonly string[]): ShownValue[] {
    const { count } = this.compound(this.byte());
    const result: ShownValue[] = [];
    for (let index = 0; index < count; index += 1) {
      const { type, text } = this.value(VALUE, 0);
      const name = names[index];
      if (name && type !== 'null') result.push({ name, type, text });
    }
    return result;
  }

  map(): ShownValue[] {
    const { count, end } = this.compound(this.byte());
    const result: ShownValue[] = [];
    for (let index = 0; index + 1 < count; index += 2) {
      const name = this.value(VALUE, 0).text;
      const { type, text } = this.value(VALUE, 0);
      if (result.length === VALUES) {
        result.push({ name: '…', type: '', text: `and ${count / 2 - VALUES} more` });
        this.at = end;
        break;
      }
      result.push({ name, type, text });
    }
    return result;
  }

  /** A binary value, and how long it was to be. */
  binary(): { bytes: Uint8Array; announced: number } {
    const code = this.byte();
    if (NAMES[code] !== 'binary') throw new Error('A data section has no bytes in it.');
    const announced = code === 0xa0 ? this.byte() : this.uint(4);
    const bytes = this.bytes.subarray(this.at, this.at + announced);
    this.at += bytes.length;
    return { bytes, announced };
  }

  /** Any value, of which about `room` characters are written. */
  value(room: number, depth: number): Read {
    const code = this.byte();
    if (code === 0) {
      const descriptor = this.value(64, this.deeper(depth)).text;
      const inner = this.value(room, this.deeper(depth));
      return { type: `described ${inner.type}`, text: `@${descriptor} ${inner.text}` };
    }
    return this.of(code, room, depth);
  }

  private deeper(depth: number): number {
    if (depth >= DEPTH) throw new Error('Values are nested too deeply to be shown.');
    return depth + 1;
  }

  private of(code: number, room: number, depth: number): Read {
    const type = NAMES[code];
    if (!type) throw new Error(`There is a value of an unknown type (0x${code.toString(16)}).`);
    if (type === 'list' || type === 'map') return { type, text: this.items(code, type === 'map', room, depth) };
    if (type === 'array') return { type, text: this.array(code, room, depth) };
    return { type, text: this.scalar(code, type, room) };
  }

  private items(code: number, map: boolean, room: number, depth: number): string {
    const { count, end } = this.compound(code);
    const parts: string[] = [];
    let length = 2;
    for (let index = 0; index < count; index += map ? 2 : 1) {
      if (length > room) {
        parts.push('…');
        this.at = end;
        break;
      }
      const key = map ? `${this.quoted(room, this.deeper(depth))}: ` : '';
      const part = `${key}${this.quoted(room, this.deeper(depth))}`;
      length += part.length + 2;
      parts.push(part);
    }
    return map ? `{${parts.join(', ')}}` : `[${parts.join(', ')}]`;
  }

  private array(code: number, room: number, depth: number): string {
    const { count, end } = this.compound(code);
    const element = this.byte();
    const parts: string[] = [];
    let length = 2;
    // A count costs nothing to write where elements have no bytes; so what is written is bounded too.
    for (let index = 0; index < count && element !== 0; index += 1) {
      if (length > room) break;
      const { type, text } = this.of(element, room, this.deeper(depth));
      const part = type === 'string' || type === 'symbol' ? JSON.stringify(text) : text;
      length += part.length + 2;
      parts.push(part);
    }
    if (parts.length < count) parts.push('…');
    this.at = end;
    return `[${parts.join(', ')}]`;
  }

  private quoted(room: number, depth: number): string {
    const { type, text } = this.value(room, depth);
    return type === 'string' || type === 'symbol' ? JSON.stringify(text) : text;
  }

  /** Size and count of a compound value: its end must lie within what is there. */
  private compound(code: number): { count: number; end: number } {
    if (code === 0x45) return { count: 0, end: this.at };
    if (!['list', 'map', 'array'].includes(NAMES[code] ?? '')) throw new Error('A section is not what it says it is.');
    const width = code === 0xc0 || code === 0xc1 || code === 0xe0 ? 1 : 4;
    const size = this.uint(width);
    const end = this.at + size;
    if (end > this.bytes.length) throw new Cut();
    const count = this.uint(width);
    return { count, end };
  }

  private scalar(code: number, type: string, room: number): string {
    switch (code) {
      case 0x40: return 'null';
      case 0x41: return 'true';
      case 0x42: return 'false';
      case 0x43: case 0x44: return '0';
      case 0x56: return this.byte() ? 'true' : 'false';
      case 0x50: case 0x52: case 0x53: return String(this.byte());
      case 0x51: case 0x54: case 0x55: return String(this.view.getInt8(this.step(1)));
      case 0x60: return String(this.view.getUint16(this.step(2)));
      case 0x61: return String(this.view.getInt16(this.step(2)));
      case 0x70: return String(this.uint(4));
      case 0x71: return String(this.view.getInt32(this.step(4)));
      case 0x72: return String(this.view.getFloat32(this.step(4)));
      case 0x73: return character(this.uint(4));
      case 0x80: return String(this.view.getBigUint64(this.step(8)));
      case 0x81: return String(this.view.getBigInt64(this.step(8)));
      case 0x82: return String(this.view.getFloat64(this.step(8)));
      case 0x83: return moment(this.view.getBigInt64(this.step(8)));
      case 0x74: return hex(this.take(4));
      case 0x84: return hex(this.take(8));
      case 0x94: return hex(this.take(16));
      case 0x98: return hex(this.take(16)).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
    }
    const size = code < 0xb0 ? this.byte() : this.uint(4);
    this.short = size > this.left;
    const bytes = this.take(Math.min(size, this.left));
    // So many bytes hold at least as many characters as are shown.
    if (type === 'binary') return `0x${shorten(hex(bytes.subarray(0, room)), room)}`;
    return shorten(new TextDecoder().decode(bytes.subarray(0, room * 4)), room);
  }

  private byte(): number {
    return this.bytes[this.step(1)]!;
  }

  private uint(width: number): number {
    const at = this.step(width);
    return width === 1 ? this.bytes[at]! : this.view.getUint32(at);
  }

  private take(count: number): Uint8Array {
    const at = this.step(count);
    return this.bytes.subarray(at, at + count);
  }

  /** Goes on by so many bytes, and says where they begin. */
  private step(count: number): number {
    if (count > this.left) throw new Cut();
    this.at += count;
    return this.at - count;
  }
}

function shorten(text: string, room: number): string {
  return text.length > room ? `${text.slice(0, room)}…` : text;
}

function character(code: number): string {
  return code <= 0x10ffff ? String.fromCodePoint(code) : `0x${code.toString(16)}`;
}

function moment(milliseconds: bigint): string {
  const date = new Date(Number(milliseconds));
  return Number.isNaN(date.getTime()) ? String(milliseconds) : date.toISOString();
}
