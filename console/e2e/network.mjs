// Routers to look at: two interior ones, an edge router, and clients with traffic of every kind.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import rhea from 'rhea';
import { freePorts } from '../../interop/ports.mjs';

/** Milliseconds that anything may take. Nothing takes that long; only something broken does. */
export const PATIENCE = 120_000;
/** The folder of the `qdrouterd` to test against: the old router's or ours. */
const PROGRAMS = process.env.WAYSTATION_PROGRAMS;

const section = (name, attributes) => `${name} {\n${Object.entries(attributes).map(([key, value]) => `    ${key}: ${value}`).join('\n')}\n}\n`;
const listener = (port, more = {}) => section('listener', { host: '127.0.0.1', port, saslMechanisms: 'ANONYMOUS', ...more });

export class Router {
  constructor(folder, id, http, configuration) {
    Object.assign(this, { folder, id, http, configuration, process: undefined });
  }

  get running() {
    return this.process !== undefined && this.process.exitCode === null && !this.process.signalCode;
  }

  /** With a `whole` configuration that one is taken instead of its own. */
  async start(whole) {
    const file = join(this.folder, `${this.id}.conf`);
    this.log = join(this.folder, `${this.id}.log`);
    const log = section('log', { module: 'DEFAULT', enable: 'info+', outputFile: this.log });
    await writeFile(file, whole ?? section('router', { id: this.id, mode: this.mode ?? 'interior', workerThreads: 1, ...this.more }) + this.configuration + log);
    this.process = spawn(join(PROGRAMS, 'qdrouterd'), ['-c', file], { stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    for (const stream of [this.process.stdout, this.process.stderr]) stream.on('data', (data) => (said += data));
    await eventually(async () => {
      if (this.process.exitCode !== null) throw new Fatal(`${this.id} ended: ${said}\n${await readFile(this.log, 'utf8').catch(() => '')}`);
      return fetch(`http://127.0.0.1:${this.http}/healthz`).then((response) => response.ok, () => false);
    }, `${this.id} serves HTTP`);
  }

  async stop() {
    if (!this.running) return;
    const gone = once(this.process, 'exit');
    this.process.kill('SIGKILL');
    await gone;
  }
}

class Fatal extends Error {}

/** Waits until something is so; what it is waited for is said when it never is. */
export async function eventually(holds, what, limit = PATIENCE) {
  const end = Date.now() + limit;
  let last;
  while (Date.now() < end) {
    try {
      const value = await holds();
      if (value) return value;
    } catch (error) {
      if (error instanceof Fatal) throw error;
      last = error;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`waited in vain: ${what}${last ? ` (${last.message})` : ''}`);
}

/** Two interior routers A and B, an edge router E at A, and an HTTP listener on each. */
export async function network() {
  const folder = await mkdtemp(join(tmpdir(), 'console-e2e-'));
  const [amqpA, amqpB, amqpE, httpA, httpB, httpE, between, edge, nobody] = await freePorts(9);
  const http = (port) => listener(port, { name: 'web', http: 'yes' });
  const a = new Router(folder, 'A', httpA, [
    listener(amqpA), http(httpA), listener(between, { role: 'inter-router' }), listener(edge, { role: 'edge' }),
    section('connector', { name: 'nowhere', host: '127.0.0.1', port: nobody, role: 'route-container' }),
    section('autoLink', { address: 'queue.one', direction: 'in', connection: 'nowhere' }),
    section('linkRoute', { prefix: 'store', direction: 'in', connection: 'nowhere' }),
    section('address', { prefix: 'multi', distribution: 'multicast' }),
  ].join(''));
  const b = new Router(folder, 'B', httpB, listener(amqpB) + http(httpB) + section('connector', { name: 'to-A', host: '127.0.0.1', port: between, role: 'inter-router' }));
  const e = new Router(folder, 'E', httpE, listener(amqpE) + http(httpE) + section('connector', { name: 'uplink', host: '127.0.0.1', port: edge, role: 'edge' }));
  e.mode = 'edge';
  for (const router of [a, b, e]) await router.start();
  const traffic = new Traffic({ A: amqpA, B: amqpB, E: amqpE });
  return {
    folder, a, b, e, traffic,
    async end() {
      traffic.end();
      for (const router of [e, b, a]) await router.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A router whose HTTP listener asks for a user name and a password: `admin@console` and `sécret`. */
export async function guarded() {
  const folder = await mkdtemp(join(tmpdir(), 'console-e2e-'));
  const users = join(folder, 'users.sasldb');
  await writeFile(join(folder, 'console.conf'), `pwcheck_method: auxprop\nauxprop_plugin: sasldb\nsasldb_path: ${users}\nmech_list: PLAIN ANONYMOUS\n`);
  const add = spawn('saslpasswd2', ['-c', '-p', '-f', users, '-u', 'console', 'admin'], { stdio: ['pipe', 'inherit', 'inherit'] });
  add.stdin.end('sécret');
  await once(add, 'exit');
  const [http] = await freePorts(1);
  const router = new Router(folder, 'S', http, listener(http, { http: 'yes', saslMechanisms: 'PLAIN', authenticatePeer: 'yes' }));
  Object.assign(router, { mode: 'standalone', more: { saslConfigDir: folder, saslConfigName: 'console' } });
  await router.start();
  return {
    http,
    async end() {
      await router.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Clients that go on until they are told to stop. */
class Traffic {
  constructor(ports) {
    this.ports = ports;
    this.timers = [];
  }

  client(name, router) {
    const container = rhea.create_container({ id: name });
    for (const event of ['disconnected', 'connection_error', 'error', 'sender_error', 'receiver_error']) container.on(event, () => {});
    const connection = container.connect({ host: '127.0.0.1', port: this.ports[router], container_id: name, properties: { product: 'e2e' }, reconnect: false });
    return { container, connection };
  }

  /** Sends so many messages a second, as far as there is credit. */
  sender(name, router, address, rate) {
    const { connection } = this.client(name, router);
    const sender = connection.open_sender(address);
    let owed = 0;
    this.timers.push(setInterval(() => {
      owed = Math.min(owed + rate / 20, rate);
      for (; owed >= 1 && sender.sendable(); owed -= 1) sender.send({ body: 'x' });
    }, 50));
    return connection;
  }

  /** `credit` is all that this receiver ever gives, where it is said. */
  receiver(name, router, address, credit) {
    const { connection } = this.client(name, router);
    const receiver = connection.open_receiver({ source: address, credit_window: credit === undefined ? 100 : 0 });
    if (credit) receiver.add_credit(credit);
    return connection;
  }

  end() {
    // Their connections end with the routers.
    for (const timer of this.timers) clearInterval(timer);
  }
}

export { freePorts, listener, section };
