// A connection to one router, over which management requests go to any router of its network.
import * as rheaModule from 'rhea';
import { plain } from './plain';
import type { Ending, Failure, ReceiveOrder, ReceiveReport, Reply, Request, SendOrder, SendReport, Target } from './protocol';
import { Receiving } from './receiving';
import { mechanisms } from './sasl';
import { Sending } from './sending';

// rhea's typings describe its Node.js side; what is used here is little, and named below.
/* eslint-disable @typescript-eslint/no-explicit-any */
const rhea: any = (rheaModule as any).default ?? rheaModule;

const PATIENCE = 10_000;

export interface Handler {
  opened(container: string, properties: Record<string, unknown>): void;
  ended(ending: Ending, text: string): void;
}

interface Waiting {
  request: Request;
  resolve(reply: Reply): void;
  reject(error: RequestError): void;
  timer: ReturnType<typeof setTimeout>;
}

/** A request that was not answered. */
export class RequestError extends Error {
  readonly failure: Failure;
  constructor(failure: Failure, text: string) {
    super(text);
    this.failure = failure;
  }
}

export class Agent {
  private readonly connection: any;
  private readonly handler: Handler;
  private readonly waiting = new Map<string, Waiting>();
  /** What has been asked for and not sent yet, because its sender has no credit. */
  private readonly unsent = new Map<any, string[]>();
  private readonly deliveries = new Map<any, string>();
  private readonly senders = new Map<string, any>();
  /** What sends and receives messages now. */
  private readonly tasks = new Set<{ lost(): void }>();
  private anonymous: any;
  private anonymousRefused = false;
  private replyTo: string | undefined;
  private serial = 0;
  private over = false;
  private ending: { ending: Ending; text: string } | undefined;

  constructor(target: Target, handler: Handler, Socket: unknown = globalThis.WebSocket) {
    this.handler = handler;
    const container = rhea.create_container();
    for (const event of ['connection_error', 'disconnected', 'error', 'session_error', 'session_close', 'receiver_error', 'sender_error']) {
      container.on(event, () => {});
    }
    this.connection = container.connect({
      connection_details: container.websocket_connect(Socket)(target.url, ['amqp', 'binary'], {}),
      container_id: `console-${Math.random().toString(36).slice(2, 10)}`,
      hostname: hostname(target.url),
      host: hostname(target.url),
      reconnect: false,
      sasl_mechanisms: mechanisms(target),
      properties: { product: 'waystation-console' },
      idle_time_out: 30_000,
    });
    this.connection.on('connection_open', (context: any) => this.opened(context));
    this.connection.on('connection_error', (context: any) => this.failed(context));
    this.connection.on('connection_close', () => this.end(this.ending?.ending ?? 'closed', this.ending?.text || 'The router closed the connection.'));
    this.connection.on('disconnected', (context: any) => this.disconnected(context));
  }

  /** Asks, and resolves with whatever the management node answers, be it success or not. */
  request(request: Request): Promise<Reply> {
    return new Promise((resolve, reject) => {
      if (this.over) return reject(new RequestError('lost', 'There is no connection.'));
      const id = String(++this.serial);
      const give = () => this.settle(id, 'timeout', `${request.node} did not answer in time.`);
      this.waiting.set(id, { request, resolve, reject, timer: setTimeout(give, request.patience ?? PATIENCE) });
      this.submit(id, request);
    });
  }

  /** Sends messages over a session of their own; what is returned stops it. */
  send(order: SendOrder, report: (report: SendReport) => void): () => void {
    const task = new Sending(this.connection, order, (now) => {
      report(now);
      if (now.phase === 'over') this.tasks.delete(task);
    });
    this.tasks.add(task);
    return () => task.stop();
  }

  /** Receives messages, likewise. */
  receive(order: ReceiveOrder, report: (report: ReceiveReport) => void): () => void {
    const task = new Receiving(this.connection, order, (now) => {
      report(now);
      if (now.phase === 'over') this.tasks.delete(task);
    });
    this.tasks.add(task);
    return () => task.stop();
  }

  close() {
    this.end('closed', '');
    try {
      this.connection.close();
    } catch {
      // It never came up.
    }
    // A router that does not answer the close must not keep the socket.
    setTimeout(() => this.connection.socket?.end(), 1_000);
  }

  private opened(context: any) {
    const receiver = this.connection.open_receiver({ source: { dynamic: true }, credit_window: 500 });
    receiver.on('receiver_open', () => {
      this.replyTo = receiver.source.address;
      this.handler.opened(context.connection.container_id, plain(context.connection.properties ?? {}) as any);
    });
    receiver.on('receiver_error', (failure: any) => this.forbidden(failure.receiver?.error));
    receiver.on('message', (delivered: any) => this.answered(delivered.message));
    this.anonymous = this.sender(undefined);
    this.anonymous.on('sender_error', () => {});
    this.anonymous.on('sender_close', () => {
      this.anonymousRefused = true;
      const stranded = this.unsent.get(this.anonymous) ?? [];
      this.unsent.delete(this.anonymous);
      for (const id of stranded) {
        const waiting = this.waiting.get(id);
        if (waiting) this.submit(id, waiting.request);
      }
    });
  }

  private sender(address: string | undefined): any {
    const sender = this.connection.open_sender(address === undefined ? { target: {} } : { target: { address } });
    sender.on('sendable', () => this.flush(sender));
    for (const outcome of ['released', 'modified', 'rejected']) {
      sender.on(outcome, (context: any) => this.undeliverable(context.delivery, outcome));
    }
    sender.on('settled', (context: any) => this.deliveries.delete(context.delivery));
    return sender;
  }

  /** The anonymous sender, or where policy forbids it one for each management node. */
  private senderFor(node: string): any {
    if (!this.anonymousRefused) return this.anonymous;
    let sender = this.senders.get(node);
    if (!sender) {
      sender = this.sender(node);
      sender.on('sender_close', (context: any) => this.refused(node, context.sender?.error));
      this.senders.set(node, sender);
    }
    return sender;
  }

  private submit(id: string, request: Request) {
    const sender = this.senderFor(request.node);
    const queue = this.unsent.get(sender);
    if (queue) queue.push(id);
    else this.unsent.set(sender, [id]);
    this.flush(sender);
  }

  private flush(sender: any) {
    const queue = this.unsent.get(sender);
    while (queue?.length && sender?.sendable() && this.replyTo) {
      const id = queue.shift()!;
      const waiting = this.waiting.get(id);
      if (waiting) this.deliveries.set(sender.send(this.message(id, waiting.request)), id);
    }
  }

  private message(id: string, request: Request) {
    return {
      to: request.node,
      reply_to: this.replyTo,
      correlation_id: id,
      application_properties: { operation: request.operation, ...request.properties },
      body: request.body ?? {},
    };
  }

  private answered(message: any) {
    const id = String(message.correlation_id);
    const waiting = this.waiting.get(id);
    if (!waiting) return;
    this.waiting.delete(id);
    clearTimeout(waiting.timer);
    const properties = message.application_properties ?? {};
    waiting.resolve({
      status: Number(properties.statusCode ?? 0),
      description: String(properties.statusDescription ?? ''),
      body: plain(message.body),
    });
  }

  private undeliverable(delivery: any, outcome: string) {
    const id = this.deliveries.get(delivery);
    if (id === undefined) return;
    this.deliveries.delete(delivery);
    const node = this.waiting.get(id)?.request.node ?? 'The router';
    this.settle(id, 'unreachable', `${node} cannot be reached (${outcome}).`);
  }

  private refused(node: string, error: any) {
    this.senders.delete(node);
    for (const [id, waiting] of this.waiting) {
      if (waiting.request.node === node) this.settle(id, 'refused', error?.description ?? `${node} refused the link.`);
    }
  }

  private settle(id: string, failure: Failure, text: string) {
    const waiting = this.waiting.get(id);
    if (!waiting) return;
    this.waiting.delete(id);
    clearTimeout(waiting.timer);
    waiting.reject(new RequestError(failure, text));
  }

  /** Without a place for replies nothing can be asked. */
  private forbidden(error: any) {
    this.end('credentials', `The router does not let this user receive replies: ${error?.description ?? 'no reason given'}.`);
    this.connection.close();
  }

  private failed(context: any) {
    const error = context.error ?? context.connection?.error;
    const text = String(error?.description ?? error?.message ?? error ?? '');
    const condition = String(error?.condition ?? '');
    const credentials = /authenticate|mechanism/i.test(text) || condition === 'amqp:unauthorized-access';
    this.ending = { ending: credentials ? 'credentials' : 'lost', text: text || condition };
  }

  private disconnected(context: any) {
    const known = this.ending;
    const text = known?.text || String(context.error?.message ?? '') || 'The connection was lost.';
    this.end(known?.ending ?? 'lost', text);
  }

  private end(ending: Ending, text: string) {
    if (this.over) return;
    this.over = true;
    for (const id of [...this.waiting.keys()]) this.settle(id, 'lost', 'The connection was lost before the answer came.');
    for (const task of [...this.tasks]) task.lost();
    this.handler.ended(ending, text);
  }
}

function hostname(url: string): string {
  try {
    return new URL(url).hostname;
  } catch {
    return url;
  }
}
