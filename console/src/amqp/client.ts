// The page's side of the worker that speaks AMQP.
import type { Ending, Failure, FromWorker, ReceiveOrder, ReceiveReport, Reply, Request, SendOrder, SendReport, Target, ToWorker } from './protocol';

/** A request that got no answer, or an answer that says no. */
export class ManagementError extends Error {
  /** Why there was no answer, or the status code of the answer. */
  readonly cause: Failure | number;
  constructor(cause: Failure | number, text: string) {
    super(text);
    this.cause = cause;
  }
}

export interface Observer {
  opened(container: string, properties: Record<string, unknown>): void;
  ended(ending: Ending, text: string): void;
}

/** What the model needs of a connection; tests put their own in its place. */
export interface Management {
  request(request: Request): Promise<Reply>;
}

export class Client implements Management {
  private readonly worker: Worker;
  private readonly pending = new Map<number, { resolve(reply: Reply): void; reject(error: Error): void }>();
  private readonly sendings = new Map<number, (report: SendReport) => void>();
  private readonly receivings = new Map<number, (report: ReceiveReport) => void>();
  private serial = 0;

  constructor(observer: Observer) {
    this.worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });
    this.worker.onmessage = (event: MessageEvent<FromWorker>) => this.hear(event.data, observer);
    this.worker.onerror = (event) => observer.ended('lost', event.message || 'The AMQP worker failed.');
  }

  open(target: Target) {
    this.post({ kind: 'open', target });
  }

  close() {
    this.post({ kind: 'close' });
  }

  request(request: Request): Promise<Reply> {
    const id = ++this.serial;
    return new Promise((resolve, reject) => {
      this.pending.set(id, { resolve, reject });
      this.post({ kind: 'request', id, request });
    });
  }

  /** Sends messages; what comes back stops it before its time. The last report says `over`. */
  send(order: SendOrder, hear: (report: SendReport) => void): () => void {
    const id = ++this.serial;
    this.sendings.set(id, hear);
    this.post({ kind: 'send', id, order });
    return () => this.post({ kind: 'stop', id });
  }

  /** Receives messages, likewise. */
  receive(order: ReceiveOrder, hear: (report: ReceiveReport) => void): () => void {
    const id = ++this.serial;
    this.receivings.set(id, hear);
    this.post({ kind: 'receive', id, order });
    return () => this.post({ kind: 'stop', id });
  }

  private post(message: ToWorker) {
    this.worker.postMessage(message);
  }

  private hear(message: FromWorker, observer: Observer) {
    switch (message.kind) {
      case 'opened':
        return observer.opened(message.container, message.properties);
      case 'ended':
        return observer.ended(message.ending, message.text);
      case 'sending':
        this.sendings.get(message.id)?.(message.report);
        if (message.report.phase === 'over') this.sendings.delete(message.id);
        return;
      case 'receiving':
        this.receivings.get(message.id)?.(message.report);
        if (message.report.phase === 'over') this.receivings.delete(message.id);
        return;
      case 'reply':
        this.pending.get(message.id)?.resolve(message.reply);
        break;
      case 'failed':
        this.pending.get(message.id)?.reject(new ManagementError(message.failure, message.text));
    }
    this.pending.delete(message.id);
  }
}
