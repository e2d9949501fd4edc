// What is typed into the forms of the page of messages, as orders.
import type { OutgoingBody, Receipt, ReceiveOrder, SendOrder, SendReport, TypedProperty } from '../amqp/protocol';
import { count } from './format';

/** How a body is typed. */
export type BodyKind = 'text' | 'json' | 'utf8' | 'hex';

export interface PropertyText {
  name: string;
  type: TypedProperty['type'];
  value: string;
}

export interface SendTexts {
  address: string;
  count: string;
  durable: boolean;
  priority: string;
  ttl: string;
  messageId: string;
  subject: string;
  replyTo: string;
  correlationId: string;
  contentType: string;
  application: readonly PropertyText[];
  kind: BodyKind;
  body: string;
}

export const EMPTY: SendTexts = {
  address: '', count: '1', durable: false, priority: '', ttl: '', messageId: '', subject: '', replyTo: '', correlationId: '', contentType: '', application: [], kind: 'text', body: '',
};

/** By the name of the field; those of an application property are called `application.0`. */
export type Wrong = Readonly<Record<string, string>>;

const MOST_SENT = 100_000;
export const MOST_RECEIVED = 500;
const MOST_WAITED = 3_600;
const UINT = 0xffff_ffff;

class Collector {
  readonly wrong: Record<string, string> = {};

  /** The value, or undefined and what is wrong. */
  try<T>(field: string, read: () => T): T | undefined {
    try {
      return read();
    } catch (error) {
      this.wrong[field] = (error as Error).message;
      return undefined;
    }
  }
}

function whole(text: string, least: number, most: number): number {
  const value = Number(text.trim());
  if (!/^[+-]?\d+$/.test(text.trim()) || value < least || value > most) throw new Error(`A whole number from ${count(least)} to ${count(most)} is needed here.`);
  return value;
}

const optional = (text: string, least: number, most: number) => (text.trim() === '' ? null : whole(text, least, most));
const given = (text: string) => text.trim() || null;

function address(text: string): string {
  if (!text.trim()) throw new Error('Say which address.');
  return text.trim();
}

/** What to send, or what is wrong with which field. */
export function sendOrder(texts: SendTexts): { order: SendOrder } | { wrong: Wrong } {
  const all = new Collector();
  const order = {
    address: all.try('address', () => address(texts.address)),
    count: all.try('count', () => whole(texts.count, 1, MOST_SENT)),
    durable: texts.durable,
    priority: all.try('priority', () => optional(texts.priority, 0, 9)),
    ttl: all.try('ttl', () => optional(texts.ttl, 0, UINT)),
    messageId: given(texts.messageId),
    subject: given(texts.subject),
    replyTo: given(texts.replyTo),
    correlationId: given(texts.correlationId),
    contentType: all.try('contentType', () => symbol(texts.contentType)),
    application: texts.application.map((each, index) => all.try(`application.${index}`, () => property(each, texts.application.slice(0, index)))),
    body: all.try('body', () => body(texts.kind, texts.body)),
  };
  return Object.keys(all.wrong).length ? { wrong: all.wrong } : { order: order as SendOrder };
}

function symbol(text: string): string | null {
  if (/[^\x20-\x7e]/.test(text)) throw new Error('Only letters, digits and signs of ASCII can stand here.');
  return given(text);
}

function property({ name, type, value }: PropertyText, before: readonly PropertyText[]): TypedProperty {
  if (!name.trim()) throw new Error('The property needs a name.');
  if (before.some((each) => each.name.trim() === name.trim())) throw new Error('There is a property of this name already.');
  return { name: name.trim(), type, value: typed(type, value) };
}

function typed(type: TypedProperty['type'], text: string): TypedProperty['value'] {
  switch (type) {
    case 'string':
      return text;
    case 'boolean':
      if (!/^(true|false)$/i.test(text.trim())) throw new Error('A boolean is true or false.');
      return /^true$/i.test(text.trim());
    case 'int':
      return whole(text, -0x8000_0000, 0x7fff_ffff);
    case 'long':
      return whole(text, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
    case 'double':
      if (text.trim() === '' || !Number.isFinite(Number(text))) throw new Error('A double is a number such as 1.5.');
      return Number(text);
    case 'timestamp': {
      const at = Date.parse(text.trim());
      if (Number.isNaN(at)) throw new Error('A timestamp is written such as 2026-12-31T12:00:00Z.');
      return at;
    }
  }
}

function body(kind: BodyKind, text: string): OutgoingBody {
  switch (kind) {
    case 'text':
      return { kind, text };
    case 'json':
      try {
        return { kind, value: JSON.parse(text) };
      } catch (error) {
        throw new Error(`This is no JSON: ${(error as Error).message}.`);
      }
    case 'utf8':
      return { kind: 'bytes', bytes: new TextEncoder().encode(text) };
    case 'hex': {
      const digits = text.replace(/[\s:]+/g, '').replace(/^0x/i, '');
      if (!/^([\da-f]{2})*$/i.test(digits)) throw new Error('Bytes are written as two hexadecimal digits each.');
      return { kind: 'bytes', bytes: Uint8Array.from(digits.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16)) };
    }
  }
}

export interface ReceiveTexts {
  address: string;
  count: string;
  receipt: Receipt;
  selector: string;
  /** Seconds. */
  wait: string;
}

export function receiveOrder(texts: ReceiveTexts): { order: ReceiveOrder } | { wrong: Wrong } {
  const all = new Collector();
  const wait = all.try('wait', () => whole(texts.wait, 1, MOST_WAITED));
  const order = {
    address: all.try('address', () => address(texts.address)),
    count: all.try('count', () => whole(texts.count, 1, MOST_RECEIVED)),
    receipt: texts.receipt,
    selector: given(texts.selector),
    wait: (wait ?? 0) * 1_000,
  };
  return Object.keys(all.wrong).length ? { wrong: all.wrong } : { order: order as ReceiveOrder };
}

const messages = (amount: number) => (amount === 1 ? '1 message' : `${count(amount)} messages`);

/** What became of what was sent, in a sentence or two. */
export function sendingSaid(report: SendReport, wanted: number): { tone: 'good' | 'warn' | 'bad' | 'quiet'; text: string } {
  const { outcomes, sent, phase } = report;
  const decided = Object.entries(outcomes).filter(([, amount]) => amount > 0);
  const open = sent - decided.reduce((sum, [, amount]) => sum + amount, 0);
  const parts = decided.map(([outcome, amount]) => `${count(amount)} ${outcome}`);
  if (open > 0) parts.push(`${count(open)} without an outcome${phase === 'over' ? '' : ' yet'}`);
  const so = `${messages(sent)} of ${count(wanted)} sent${parts.length ? `: ${parts.join(', ')}` : ''}.`;
  if (report.error) return { tone: 'bad', text: sent ? `${report.error} Before that: ${so}` : report.error };
  if (phase === 'attaching') return { tone: 'quiet', text: 'Attaching…' };
  if (phase !== 'over') {
    const held = sent < wanted && open === 0 ? ' There is no credit: nobody receives from this address now, or its receivers are busy. It goes on when there is.' : '';
    return { tone: held ? 'warn' : 'quiet', text: `${so}${held}` };
  }
  if (sent < wanted) return { tone: 'warn', text: `Stopped. ${so}` };
  return { tone: outcomes.rejected ? 'bad' : outcomes.accepted === wanted ? 'good' : 'warn', text: so };
}

export function receivingSaid(phase: 'attaching' | 'receiving' | 'over', received: number, wanted: number, receipt: Receipt): string {
  if (phase === 'attaching') return 'Attaching…';
  const done = receipt === 'accept' ? 'received and taken off' : receipt === 'release' ? 'received and given back' : 'looked at';
  if (phase === 'receiving') return `${count(received)} of ${count(wanted)} came; waiting for more…`;
  return received ? `${messages(received)} ${done}.` : 'No message came.';
}
