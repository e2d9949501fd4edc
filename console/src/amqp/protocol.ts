// What the page and the worker that speaks AMQP say to each other.

/** Where to connect, and as whom. Without a user name, ANONYMOUS (and over TLS EXTERNAL) is offered. */
export interface Target {
  url: string;
  username?: string;
  password?: string;
}

/** A management request: `node` is an address such as `$management` or `amqp:/_topo/0/A/$management`. */
export interface Request {
  node: string;
  operation: string;
  properties?: Record<string, string | number>;
  body?: unknown;
  /** Milliseconds until the request is given up; default 10,000. */
  patience?: number;
}

/** What a management node answered: a status code as in HTTP, its text, and the body. */
export interface Reply {
  status: number;
  description: string;
  body: unknown;
}

/** Why there was no answer. */
export type Failure = 'timeout' | 'unreachable' | 'refused' | 'lost';

/** Why a connection ended: `credentials` means that signing in (again) may help. */
export type Ending = 'credentials' | 'lost' | 'closed';

/** An application property, with the AMQP type that it is sent as. A timestamp is milliseconds since 1970. */
export interface TypedProperty {
  name: string;
  type: 'string' | 'boolean' | 'int' | 'long' | 'double' | 'timestamp';
  value: string | number | boolean;
}

/** A text is sent as an AMQP string, JSON as a map, a list or a value, bytes as a data section. */
export type OutgoingBody = { kind: 'text'; text: string } | { kind: 'json'; value: unknown } | { kind: 'bytes'; bytes: Uint8Array };

/** What to send: the same message so many times. What is null is left out. */
export interface SendOrder {
  address: string;
  count: number;
  durable: boolean;
  priority: number | null;
  /** Milliseconds. */
  ttl: number | null;
  messageId: string | null;
  subject: string | null;
  replyTo: string | null;
  correlationId: string | null;
  contentType: string | null;
  application: TypedProperty[];
  body: OutgoingBody;
}

/** `accept` takes messages, `release` gives them back at the end; `browse` asks a queue for copies, and gives back what is none. */
export type Receipt = 'accept' | 'release' | 'browse';

export interface ReceiveOrder {
  address: string;
  count: number;
  receipt: Receipt;
  selector: string | null;
  /** How long to wait for a message, in milliseconds. */
  wait: number;
}

export type Outcome = 'accepted' | 'rejected' | 'released' | 'modified';

/** How far a sending has come. */
export interface SendReport {
  phase: 'attaching' | 'waiting' | 'sending' | 'over';
  sent: number;
  outcomes: Record<Outcome, number>;
  /** Why messages were rejected: a few, each once. */
  reasons: string[];
  /** Why it ended before its time. */
  error: string | null;
}

/** A named value of a message, as text, with its AMQP type. */
export interface ShownValue {
  name: string;
  type: string;
  text: string;
}

/** A message as far as it is shown; see `decode`. */
export interface ShownMessage {
  /** Bytes of the message. */
  size: number;
  sections: { name: string; values: ShownValue[] }[];
  /** What of the body is shown, and whether it has more. */
  body: { type: string; text: string; size: number; cut: boolean } | null;
  /** What could not be read. */
  problem: string | null;
}

/** What has come since the last report. */
export interface ReceiveReport {
  phase: 'attaching' | 'receiving' | 'over';
  messages: ShownMessage[];
  /** Said once, where the address does not do what was asked of it. */
  note: string | null;
  error: string | null;
}

export type ToWorker =
  | { kind: 'open'; target: Target }
  | { kind: 'request'; id: number; request: Request }
  | { kind: 'send'; id: number; order: SendOrder }
  | { kind: 'receive'; id: number; order: ReceiveOrder }
  | { kind: 'stop'; id: number }
  | { kind: 'close' };

export type FromWorker =
  | { kind: 'opened'; container: string; properties: Record<string, unknown> }
  | { kind: 'ended'; ending: Ending; text: string }
  | { kind: 'sending'; id: number; report: SendReport }
  | { kind: 'receiving'; id: number; report: ReceiveReport }
  | { kind: 'reply'; id: number; reply: Reply }
  | { kind: 'failed'; id: number; failure: Failure; text: string };
