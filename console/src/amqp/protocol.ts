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

export type ToWorker =
  | { kind: 'open'; target: Target }
  | { kind: 'request'; id: number; request: Request }
  | { kind: 'close' };

export type FromWorker =
  | { kind: 'opened'; container: string; properties: Record<string, unknown> }
  | { kind: 'ended'; ending: Ending; text: string }
  | { kind: 'reply'; id: number; reply: Reply }
  | { kind: 'failed'; id: number; failure: Failure; text: string };
