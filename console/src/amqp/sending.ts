// Sends one message a number of times, and counts what became of it.
import * as rheaModule from 'rhea';
import type { Outcome, OutgoingBody, SendOrder, SendReport, TypedProperty } from './protocol';
import { refusal } from './refused';

/* eslint-disable @typescript-eslint/no-explicit-any */
const rhea: any = (rheaModule as any).default ?? rheaModule;

/** Reports are at least this far apart, in milliseconds. */
const PACE = 100;
/** So many different reasons are kept. */
const REASONS = 5;
const OUTCOMES: readonly Outcome[] = ['accepted', 'rejected', 'released', 'modified'];

/** The last report of what never began. */
export function nothingSent(error: string): SendReport {
  return { phase: 'over', sent: 0, outcomes: { accepted: 0, rejected: 0, released: 0, modified: 0 }, reasons: [], error };
}

export class Sending {
  private readonly order: SendOrder;
  private readonly tell: (report: SendReport) => void;
  private readonly report: SendReport = { ...nothingSent(''), phase: 'attaching', error: null };
  private readonly encoded: Uint8Array;
  private readonly session: any;
  private readonly sender: any;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(connection: any, order: SendOrder, tell: (report: SendReport) => void) {
    this.order = order;
    this.tell = tell;
    this.encoded = encode(order);
    this.session = connection.create_session();
    this.session.begin();
    // Whoever counts outcomes wants to know `modified` as it is.
    this.sender = this.session.attach_sender({ target: { address: order.address }, treat_modified_as_released: false });
    this.sender.on('sender_open', () => this.enter('waiting'));
    this.sender.on('sendable', () => this.pump());
    for (const outcome of OUTCOMES) this.sender.on(outcome, (context: any) => this.decided(outcome, context.delivery));
    this.sender.on('sender_error', (context: any) => this.end(refusal(context.sender?.error, 'send to', order.address)));
    this.sender.on('sender_close', () => this.end(refusal(undefined, 'send to', order.address)));
    this.session.on('session_error', (context: any) => this.end(refusal(context.session?.error, 'send to', order.address)));
  }

  stop() {
    this.end(null);
  }

  lost() {
    this.end('The connection was lost.');
  }

  private enter(phase: SendReport['phase']) {
    if (this.report.phase === 'over') return;
    this.report.phase = phase;
    this.soon();
  }

  /** Sends as many as there is credit for: rhea would take more and keep them. */
  private pump() {
    if (this.report.phase === 'over') return;
    while (this.report.sent < this.order.count && this.report.sent - this.sender.delivery_count < this.sender.credit && this.session.outgoing.available()) {
      this.sender.send(this.encoded, undefined, 0);
      this.report.sent += 1;
      this.enter('sending');
    }
  }

  private decided(outcome: Outcome, delivery: any) {
    this.report.outcomes[outcome] += 1;
    const error = delivery.remote_state?.error;
    const reason = [error?.condition, error?.description].filter(Boolean).map(String).join(': ');
    if (reason && !this.report.reasons.includes(reason) && this.report.reasons.length < REASONS) this.report.reasons.push(reason);
    this.soon();
    const decided = OUTCOMES.reduce((sum, each) => sum + this.report.outcomes[each], 0);
    if (decided === this.order.count) this.end(null);
    else this.pump();
  }

  private soon() {
    this.timer ??= setTimeout(() => this.now(), PACE);
  }

  private now() {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.tell({ ...this.report, outcomes: { ...this.report.outcomes }, reasons: [...this.report.reasons] });
  }

  private end(error: string | null) {
    if (this.report.phase === 'over') return;
    this.report.phase = 'over';
    this.report.error = error;
    this.now();
    if (this.session.is_open()) this.session.close();
  }
}

function encode(order: SendOrder): Uint8Array {
  const { types } = rhea;
  const message: Record<string, unknown> = {};
  if (order.durable) message['durable'] = true;
  const given: [string, unknown][] = [
    ['priority', order.priority], ['ttl', order.ttl], ['message_id', order.messageId], ['subject', order.subject], ['reply_to', order.replyTo],
    ['correlation_id', order.correlationId], ['content_type', order.contentType],
  ];
  for (const [name, value] of given) if (value !== null) message[name] = value;
  if (order.application.length) message['application_properties'] = Object.fromEntries(order.application.map((each) => [each.name, typed(types, each)]));
  message['body'] = body(types, order.body);
  return rhea.message.encode(message);
}

function typed(types: any, { type, value }: TypedProperty): unknown {
  return types[`wrap_${type}`](value);
}

function body(types: any, given: OutgoingBody): unknown {
  switch (given.kind) {
    case 'text':
      return given.text;
    case 'json':
      return value(types, given.value);
    case 'bytes':
      return rhea.message.data_section((globalThis as any).Buffer.from(given.bytes));
  }
}

/** JSON as AMQP: whole numbers are longs, others doubles. */
function value(types: any, json: unknown): unknown {
  if (typeof json === 'number') return Number.isSafeInteger(json) ? types.wrap_long(json) : types.wrap_double(json);
  if (Array.isArray(json)) return types.wrap_list(json.map((each) => value(types, each)));
  if (typeof json === 'object' && json !== null) return types.wrap_map(Object.fromEntries(Object.entries(json).map(([name, each]) => [name, value(types, each)])));
  return types.wrap(json);
}
