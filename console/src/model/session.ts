// The connection as a person sees it: signing in, losing it, getting it back.
import { Client } from '../amqp/client';
import type { Ending, Target } from '../amqp/protocol';
import { changes, discover, EMPTY, type Network } from './network';
import { Poller } from './poller';
import { Store } from './store';

export type State =
  | { phase: 'signed-out'; message: string; credentials: boolean }
  | { phase: 'connecting' }
  | { phase: 'open'; since: number }
  | { phase: 'reconnecting'; lostAt: number; reason: string; nextAt: number };

export interface Notice {
  id: number;
  at: number;
  tone: 'info' | 'good' | 'bad';
  text: string;
}

/** How often the list of routers is asked for, in milliseconds. */
const DISCOVERY = 10_000;
/** How often edge routers are looked for: this for each router there is, in milliseconds. */
const PER_ROUTER = 400;
const RETRY = [500, 1_000, 2_000, 4_000, 8_000, 15_000];
const KEPT_NOTICES = 200;

export class Session {
  readonly state = new Store<State>({ phase: 'signed-out', message: '', credentials: false });
  readonly network = new Store<Network>(EMPTY);
  readonly notices = new Store<readonly Notice[]>([]);
  /** A counter that grows with each new notice that a person should see at once. */
  readonly peer = new Store<{ container: string; product: string; version: string } | null>(null);
  readonly client: Client;
  readonly poller: Poller;
  target: Target | null = null;
  private attempt = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private discovery: ReturnType<typeof setTimeout> | undefined;
  private noticeSerial = 0;
  /** When the edge routers were last looked for. */
  private edgesAt = 0;

  constructor() {
    this.client = new Client({
      opened: (container, properties) => this.opened(container, properties),
      ended: (ending, text) => this.ended(ending, text),
    });
    this.poller = new Poller(this.client);
    this.poller.pause(true);
    document.addEventListener('visibilitychange', () => this.rest());
  }

  signIn(target: Target) {
    clearTimeout(this.timer);
    if (this.target && this.target.url !== target.url) this.forget();
    this.target = target;
    this.attempt = 0;
    this.state.set({ phase: 'connecting' });
    this.client.open(target);
  }

  signOut(message = '') {
    this.stop();
    this.target = this.target ? { url: this.target.url } : null;
    this.client.close();
    this.forget();
    this.state.set({ phase: 'signed-out', message, credentials: false });
  }

  retryNow() {
    if (this.state.get().phase !== 'reconnecting' || !this.target) return;
    clearTimeout(this.timer);
    this.client.open(this.target);
  }

  notify(tone: Notice['tone'], text: string) {
    const notice = { id: ++this.noticeSerial, at: Date.now(), tone, text };
    this.notices.update((all) => [notice, ...all].slice(0, KEPT_NOTICES));
  }

  private opened(container: string, properties: Record<string, unknown>) {
    const before = this.state.get();
    this.attempt = 0;
    this.peer.set({ container, product: String(properties['product'] ?? ''), version: String(properties['version'] ?? '') });
    this.state.set({ phase: 'open', since: Date.now() });
    if (before.phase === 'reconnecting') {
      const seconds = Math.max(1, Math.round((Date.now() - before.lostAt) / 1000));
      this.notify('good', `Connected to ${container} again after ${seconds} s. Charts show that time as one average.`);
    }
    this.rest();
    this.poller.refresh();
    void this.discover();
  }

  private ended(ending: Ending, text: string) {
    const before = this.state.get();
    this.stop();
    if (before.phase === 'signed-out') return;
    const opened = before.phase === 'open' || before.phase === 'reconnecting';
    if (ending === 'credentials' || (!opened && this.attempt === 0)) {
      this.state.set({ phase: 'signed-out', message: explain(ending, text, this.target), credentials: ending === 'credentials' });
      return;
    }
    const wait = RETRY[Math.min(this.attempt, RETRY.length - 1)]!;
    this.attempt += 1;
    const lostAt = before.phase === 'reconnecting' ? before.lostAt : Date.now();
    if (before.phase === 'open') {
      this.notify('bad', `Connection to ${this.peer.get()?.container ?? 'the router'} lost: ${text} What you see is from before.`);
    }
    this.state.set({ phase: 'reconnecting', lostAt, reason: text, nextAt: Date.now() + wait });
    this.timer = setTimeout(() => this.target && this.client.open(this.target), wait);
  }

  private stop() {
    clearTimeout(this.timer);
    clearTimeout(this.discovery);
    this.poller.pause(true);
  }

  private forget() {
    this.poller.forget();
    this.network.set(EMPTY);
    this.peer.set(null);
  }

  /** A page that nobody sees asks nothing. */
  private rest() {
    this.poller.pause(document.hidden || this.state.get().phase !== 'open');
    if (!document.hidden && this.state.get().phase === 'open') void this.discover();
  }

  private async discover() {
    clearTimeout(this.discovery);
    if (document.hidden) return;
    try {
      const before = this.network.get();
      const edges = before.routers.filter((router) => router.kind === 'edge' && !router.own);
      const due = !before.own || Date.now() - this.edgesAt > Math.max(DISCOVERY - 1_000, before.routers.length * PER_ROUTER);
      if (due) this.edgesAt = Date.now();
      const found = await discover(this.client, due ? undefined : edges);
      if (this.state.get().phase !== 'open') return;
      if (before.own) for (const line of changes(before, found)) this.notify('info', line);
      if (JSON.stringify(before) !== JSON.stringify(found)) this.network.set(found);
    } catch {
      // The next round tells more; a lost connection is reported by itself.
    }
    clearTimeout(this.discovery);
    if (this.state.get().phase === 'open') this.discovery = setTimeout(() => void this.discover(), DISCOVERY);
  }
}

function explain(ending: Ending, text: string, target: Target | null): string {
  if (ending === 'credentials') {
    if (/mechanism/i.test(text) && !target?.username) return 'This listener asks for a user name and a password.';
    if (/mechanism/i.test(text)) return `This listener does not take passwords (SASL PLAIN). ${text}.`;
    if (/authenticate/i.test(text)) return 'The router did not accept this user name and password.';
    return text;
  }
  const reason = text && !/connection was lost/.test(text) ? ` (${text})` : '';
  return `No connection to ${target?.url ?? 'the router'}${reason}. Is it an HTTP listener with WebSockets, and can this browser reach it?`;
}
