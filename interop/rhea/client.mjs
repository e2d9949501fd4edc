// rhea's events as promises, so that a test reads from top to bottom.

import { randomUUID } from "node:crypto";
import rhea from "rhea";
import { PATIENCE } from "./router.mjs";

/** The next event of this name, or an error when it does not come. */
export function next(emitter, name, when = () => true) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      emitter.removeListener(name, listener);
      reject(new Error(`waited in vain for ${name}`));
    }, PATIENCE);
    function listener(context) {
      if (when(context)) {
        clearTimeout(timer);
        emitter.removeListener(name, listener);
        resolve(context);
      }
    }
    emitter.on(name, listener);
  });
}

/** A connection to the router, open on both sides. */
export async function connect(router, options = {}) {
  const container = rhea.create_container({ id: `rhea-${randomUUID()}` });
  container.on("disconnected", () => {}); // Expected where a test ends the router; otherwise the test's own wait fails.
  const connection = container.connect({ host: "127.0.0.1", port: router.port, username: "anonymous", reconnect: false, ...options });
  await next(connection, "connection_open");
  return connection;
}

export async function close(connection) {
  connection.close();
  await next(connection, "connection_close");
}

/** A receiver, attached on both sides, and what has arrived on it. */
export class Receiver {
  static async attach(connection, address, { credit = 10, ...options } = {}) {
    const source = address === undefined ? { dynamic: true } : { address };
    const receiver = new Receiver();
    receiver.link = connection.open_receiver({ source, credit_window: 0, autoaccept: false, autosettle: false, ...options });
    receiver.arrived = [];
    receiver.waiting = [];
    receiver.link.on("message", (context) => {
      const waiting = receiver.waiting.shift();
      waiting ? waiting(context) : receiver.arrived.push(context);
    });
    await next(receiver.link, "receiver_open");
    if (credit) {
      receiver.link.add_credit(credit);
    }
    return receiver;
  }

  /** The next delivery. */
  async next() {
    if (this.arrived.length) {
      return this.arrived.shift();
    }
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error("waited in vain for a delivery")), PATIENCE);
      this.waiting.push((context) => {
        clearTimeout(timer);
        resolve(context);
      });
    });
  }

  async take(count) {
    const bodies = [];
    while (bodies.length < count) {
      const { message, delivery } = await this.next();
      delivery.accept();
      bodies.push(message.body);
    }
    return bodies;
  }
}

/** A sender, attached on both sides. */
export class Sender {
  static async attach(connection, address, options = {}) {
    const sender = new Sender();
    sender.link = connection.open_sender({ target: { address }, autosettle: true, ...options });
    await next(sender.link, "sender_open");
    return sender;
  }

  async creditComes() {
    while (!this.link.sendable()) {
      await next(this.link, "sendable");
    }
  }

  /** Sends when there is credit; gives the delivery at once. */
  async send(message) {
    await this.creditComes();
    return this.link.send(message);
  }

  /** Sends, and gives the name of the outcome and the state with its fields. */
  async outcome(message) {
    await this.creditComes();
    const outcome = new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error("waited in vain for an outcome")), PATIENCE);
      for (const name of ["accepted", "rejected", "released", "modified"]) {
        this.link.once(name, (context) => {
          clearTimeout(timer);
          resolve({ name, state: context.delivery.remote_state });
        });
      }
    });
    this.link.send(message);
    return outcome;
  }
}
