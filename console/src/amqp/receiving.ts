// Receives a number of messages, and takes them or gives them back.
import * as rheaModule from 'rhea';
import { decode } from './decode';
import type { ReceiveOrder, ReceiveReport, ShownMessage } from './protocol';
import { refusal } from './refused';

/* eslint-disable @typescript-eslint/no-explicit-any */
const rhea: any = (rheaModule as any).default ?? rheaModule;

/** So many bytes of a message are kept; the rest is counted. */
const KEPT = 64 * 1024;
/** Reports are at least this far apart, in milliseconds. */
const PACE = 50;
/** How long a drain is waited for, in milliseconds. */
const DRAINING = 2_000;
/** A message format that rhea does not decode. */
const OPAQUE = 1;

/** The last report of what never began. */
export function nothingReceived(error: string): ReceiveReport {
  return { phase: 'over', messages: [], note: null, error };
}

export class Receiving {
  private readonly order: ReceiveOrder;
  private readonly tell: (report: ReceiveReport) => void;
  private readonly session: any;
  private readonly receiver: any;
  /** What is given back at the end: until then a queue does not deliver it anew. */
  private readonly held: any[] = [];
  private phase: ReceiveReport['phase'] = 'attaching';
  private fresh: ShownMessage[] = [];
  private note: string | null = null;
  private received = 0;
  private stopping = false;
  /** Bytes of the delivery that is coming. */
  private size = 0;
  private begun = false;
  private aborted = false;
  private patience: ReturnType<typeof setTimeout> | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(connection: any, order: ReceiveOrder, tell: (report: ReceiveReport) => void) {
    this.order = order;
    this.tell = tell;
    this.session = connection.create_session();
    this.bound();
    this.session.begin();
    const source = {
      address: order.address,
      ...(order.receipt === 'browse' && { distribution_mode: 'copy' }),
      ...(order.selector && { filter: rhea.filter.selector(order.selector) }),
    };
    this.receiver = this.session.attach_receiver({ source, credit_window: 0, autoaccept: false });
    this.receiver.on('receiver_open', () => this.opened());
    this.receiver.on('message', (context: any) => this.came(context.delivery, context.message));
    this.receiver.on('receiver_drained', () => this.stopping && this.end(null));
    this.receiver.on('receiver_error', (context: any) => this.end(refusal(context.receiver?.error, 'receive from', order.address)));
    this.receiver.on('receiver_close', () => this.end(refusal(undefined, 'receive from', order.address)));
    this.session.on('session_error', (context: any) => this.end(refusal(context.session?.error, 'receive from', order.address)));
    this.wait();
  }

  /** Asks for no more, and ends when what is on its way has come. */
  stop() {
    if (this.phase === 'over' || this.stopping) return;
    if (this.phase === 'attaching') return this.end(null);
    this.stopping = true;
    clearTimeout(this.patience);
    this.patience = setTimeout(() => this.end(null), DRAINING);
    this.receiver.drain_credit();
  }

  lost() {
    this.end('The connection was lost.');
  }

  /** However long a message is, only its beginning stays in memory. */
  private bound() {
    const pass = this.session.on_transfer.bind(this.session);
    this.session.on_transfer = (frame: any) => {
      if (!this.begun) {
        this.begun = true;
        this.size = 0;
        frame.performative.message_format = OPAQUE;
      }
      const payload = frame.payload;
      const room = Math.max(0, KEPT - this.size);
      this.size += payload?.length ?? 0;
      if (payload?.length > room) frame.payload = room > 0 || !this.receiver._incomplete ? payload.subarray(0, room) : undefined;
      this.aborted = frame.performative.aborted === true;
      if (!frame.performative.more) this.begun = false;
      pass(frame);
    };
  }

  private opened() {
    if (this.phase !== 'attaching') return;
    // What is refused has no source, and is ended at once.
    if (!this.receiver.source?.address) return;
    this.phase = 'receiving';
    if (this.order.selector && !this.receiver.source.filter) this.note = 'This address does not select: all its messages come.';
    this.receiver.add_credit(this.order.count);
    this.soon();
  }

  private came(delivery: any, message: Uint8Array) {
    if (this.aborted || this.phase === 'over') return;
    this.received += 1;
    this.fresh.push(decode(message, this.size));
    if (this.order.receipt === 'accept') delivery.accept();
    else this.held.push(delivery);
    if (this.received === this.order.count) return this.end(null);
    this.wait();
    this.soon();
  }

  private wait() {
    if (this.stopping) return;
    clearTimeout(this.patience);
    this.patience = setTimeout(() => this.stop(), this.order.wait);
  }

  private soon() {
    this.timer ??= setTimeout(() => this.now(null), PACE);
  }

  private now(error: string | null) {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.tell({ phase: this.phase, messages: this.fresh, note: this.note, error });
    this.fresh = [];
    this.note = null;
  }

  private end(error: string | null) {
    if (this.phase === 'over') return;
    this.phase = 'over';
    clearTimeout(this.patience);
    for (const delivery of this.held) delivery.release();
    this.now(error);
    if (this.receiver.is_open()) this.receiver.close();
    if (this.session.is_open()) this.session.close();
  }
}
