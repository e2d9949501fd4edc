// Ports for what tests in JavaScript start: those of interop/rhea, and of the console.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** The ports that tests share out among them: none of those that the system gives to whoever asks for any. */
const PORTS = { first: 11_000, count: 9_000 };
/** UDP sockets: who holds the UDP port of a number has the TCP port of that number (by the rule of crates/cli/tests/support/ports.rs). */
const held = [];

/** A port that nobody listens on, nor will until this process ends, not even while its router is away for a moment. */
export async function freePort() {
  for (let number = 0; number < PORTS.count; number += 1) {
    const at = { address: '127.0.0.1', port: PORTS.first + ((process.pid * 61 + number) % PORTS.count) };
    const token = createSocket('udp4').unref();
    const probe = createServer();
    try {
      await Promise.all([once(token, 'listening'), token.bind(at)]);
      await Promise.all([once(probe, 'listening'), probe.listen(at.port, at.address)]);
      held.push(token);
      return at.port;
    } catch {
      token.close();
    } finally {
      await new Promise((done) => probe.close(done));
    }
  }
  throw new Error('no port is free that tests may have');
}

/** So many of them. */
export async function freePorts(count) {
  const ports = [];
  while (ports.length < count) ports.push(await freePort());
  return ports;
}
