// An unmodified rhea client and a router's own queues: what an attach can ask for, outcomes, drains, browsers, transactions.

import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import rhea from "rhea";
import { Receiver, Sender, close, connect, next } from "./client.mjs";
import { PATIENCE, Router } from "./router.mjs";

const { types, filter } = rhea;
let router;
let connection;
let queue;
let tests = 0;

const SECTIONS = (folder) => `
store {
    path: ${folder}/store
}
queueTemplate {
    pattern: queues/#
    deadLetterAddress: dead-letters
}
queue {
    address: dead-letters
}
topic {
    address: news
}
`;

before(async () => {
  router = await Router.start(SECTIONS);
});
after(async () => {
  assert.equal(await router.stop(), 0);
});
beforeEach(async () => {
  queue = `queues/${++tests}`;
  connection = await connect(router);
});
afterEach(async () => {
  await close(connection);
});

async function send(address, ...messages) {
  const sender = await Sender.attach(connection, address);
  for (const message of messages) {
    assert.equal((await sender.outcome(typeof message === "object" ? message : { body: message })).name, "accepted");
  }
  sender.link.close();
}

/** Whether nothing comes for a while. */
async function hasNothing(receiver) {
  await sleep(300);
  return receiver.arrived.length === 0;
}

/** Makes a round trip: the router knows then what a client has said before. */
async function isHeard(client) {
  (await Sender.attach(client, "elsewhere")).link.close();
}

/** Why a link is refused. */
async function refusal(source) {
  const link = connection.open_receiver({ source });
  const { receiver } = await next(link, "receiver_error");
  return receiver.error;
}

test("what was sent first is there later, in order", async () => {
  await send(queue, 1, 2, 3);
  const receiver = await Receiver.attach(connection, queue);
  assert.deepEqual(await receiver.take(3), [1, 2, 3]);
});

test("what was accepted is there after the router was killed", async () => {
  const own = await Router.start(SECTIONS);
  const others = connection;
  try {
    connection = await connect(own);
    await send(queue, ...Array.from({ length: 50 }, (_, number) => ({ body: number, durable: true })));
    await own.kill();
    await own.run();
    connection = await connect(own);
    const receiver = await Receiver.attach(connection, queue, { credit: 50 });
    assert.deepEqual(await receiver.take(50), Array.from({ length: 50 }, (_, number) => number));
    await close(connection);
  } finally {
    connection = others;
    await own.stop();
  }
});

// rhea#281, rhea#154
for (const credit_window of [0, 10]) {
  test(`a receiver goes on after the router was restarted (credit_window ${credit_window})`, async () => {
    const own = await Router.start(SECTIONS);
    const client = await connect(own, { reconnect: true, initial_reconnect_delay: 50, max_reconnect_delay: 100 });
    try {
      const link = client.open_receiver({ source: queue, credit_window });
      const got = [];
      link.on("message", ({ message }) => got.push(message.body));
      link.on("receiver_open", () => credit_window || link.add_credit(5));
      const sender = await Sender.attach(client, queue);
      assert.equal((await sender.outcome({ body: "before" })).name, "accepted");
      const again = next(client, "connection_open");
      await own.kill();
      await own.run();
      await again;
      assert.equal((await sender.outcome({ body: "after" })).name, "accepted");
      const deadline = Date.now() + PATIENCE;
      while (!got.includes("after")) {
        assert.ok(Date.now() < deadline, `came: ${got}`);
        await sleep(20);
      }
      assert.equal(got[0], "before");
    } finally {
      client.close();
      await own.stop();
    }
  });
}

test("a released message comes again and is not counted", async () => {
  await send(queue, "x");
  const receiver = await Receiver.attach(connection, queue, { credit: 2 });
  (await receiver.next()).delivery.release();
  const { message, delivery } = await receiver.next();
  assert.equal(message.delivery_count ?? 0, 0);
  delivery.accept();
});

test("a failed message is counted and has the annotations that were given", async () => {
  await send(queue, "x");
  const receiver = await Receiver.attach(connection, queue, { credit: 2 });
  (await receiver.next()).delivery.modified({ delivery_failed: true, message_annotations: { "x-opt-why": "torn" } });
  const { message, delivery } = await receiver.next();
  assert.equal(message.delivery_count, 1);
  assert.equal(message.message_annotations["x-opt-why"], "torn");
  delivery.accept();
});

test("a message undeliverable here goes to another client", async () => {
  await send(queue, "x");
  const receiver = await Receiver.attach(connection, queue);
  (await receiver.next()).delivery.modified({ undeliverable_here: true });
  assert.ok(await hasNothing(receiver));
  const other = await connect(router);
  const there = await Receiver.attach(other, queue);
  assert.deepEqual(await there.take(1), ["x"]);
  await close(other);
});

test("a rejected message is a dead letter", async () => {
  await send(queue, "x");
  const receiver = await Receiver.attach(connection, queue);
  (await receiver.next()).delivery.reject({ condition: "test:broken", description: "it is broken" });
  const dead = await Receiver.attach(connection, "dead-letters");
  const { message, delivery } = await dead.next();
  assert.equal(message.message_annotations["x-opt-dead-letter-reason"], "rejected");
  assert.equal(message.message_annotations["x-opt-dead-letter-origin"], queue);
  delivery.accept();
});

test("the default outcome is what settling without a state means", async () => {
  await send(queue, "x");
  const default_outcome = rhea.types.wrap_described([], 0x26);
  const source = { address: queue, default_outcome, outcomes: ["amqp:released:list", "amqp:accepted:list"] };
  const receiver = await Receiver.attach(connection, queue, { source, credit: 1 });
  const { delivery } = await receiver.next();
  delivery.update(true, undefined);
  receiver.link.close();
  const other = await Receiver.attach(connection, queue);
  assert.deepEqual(await other.take(1), ["x"]);
});

test("a receiver that settles second hears that the queue knows", async () => {
  await send(queue, "x");
  const receiver = await Receiver.attach(connection, queue, { rcv_settle_mode: 1 });
  const { delivery } = await receiver.next();
  const settled = next(receiver.link, "settled");
  delivery.update(false, rhea.message.accepted().described());
  await settled;
});

test("a drain brings what there is and gives back the rest", async () => {
  await send(queue, 1, 2);
  const receiver = await Receiver.attach(connection, queue, { credit: 0 });
  receiver.link.drain = true;
  const drained = next(receiver.link, "receiver_drained");
  receiver.link.add_credit(10);
  await drained;
  assert.equal(receiver.arrived.length, 2);
  receiver.link.drain = false;
  receiver.link.add_credit(1);
  await send(queue, 3);
  assert.deepEqual(await receiver.take(3), [1, 2, 3]);
});

test("a browser takes nothing and sees what comes", async () => {
  await send(queue, 1, 2);
  const source = { address: queue, distribution_mode: "copy" };
  const browser = await Receiver.attach(connection, queue, { source });
  assert.equal(browser.link.source.distribution_mode, "copy");
  assert.deepEqual(await browser.take(2), [1, 2]);
  await send(queue, 3);
  assert.deepEqual(await browser.take(1), [3]);
  const receiver = await Receiver.attach(connection, queue);
  assert.deepEqual(await receiver.take(3), [1, 2, 3]);
});

test("a selector is applied, and it alone is in the answer", async () => {
  await send(queue, ...[1, 2, 3].map((n) => ({ body: n, application_properties: { n } })));
  const source = {
    address: queue,
    filter: { ...filter.selector("n > 1"), unknown: types.wrap_described("x", "example.org:unknown:string") },
  };
  const receiver = await Receiver.attach(connection, queue, { source });
  assert.deepEqual(Object.keys(receiver.link.source.filter), ["jms-selector"]);
  assert.deepEqual(await receiver.take(2), [2, 3]);
  assert.ok(await hasNothing(receiver));
});

test("a selector that is none is refused", async () => {
  await send(queue, "x");
  const error = await refusal({ address: queue, filter: filter.selector("n = ") });
  assert.equal(error.condition, "amqp:invalid-field");
});

test("capabilities are answered, and what is something else is refused", async () => {
  await send(queue, "x");
  const receiver = await Receiver.attach(connection, queue, { source: { address: queue, capabilities: ["queue"] } });
  assert.deepEqual([receiver.link.source.capabilities].flat().map(String), ["queue"]);
  assert.equal((await refusal({ address: queue, capabilities: ["topic"] })).condition, "amqp:precondition-failed");
  assert.equal((await refusal({ address: "news", capabilities: ["queue"] })).condition, "amqp:precondition-failed");
});

test("a durable subscription goes on after a detach, and ends with a close", async () => {
  const source = { address: "news", durable: 2, expiry_policy: "never" };
  const id = `subscriber-${tests}`;
  const subscribe = async () => {
    const client = await connect(router, { container_id: id });
    return [client, await Receiver.attach(client, "news", { name: "mine", source })];
  };
  let [client, receiver] = await subscribe();
  assert.equal(receiver.link.source.expiry_policy, "never");
  receiver.link.detach();
  await close(client);
  await send("news", "meanwhile");
  [client, receiver] = await subscribe();
  assert.deepEqual(await receiver.take(1), ["meanwhile"]);
  receiver.link.close();
  await next(receiver.link, "receiver_close");
  await close(client);
  await send("news", "nobody's");
  [client, receiver] = await subscribe();
  assert.ok(await hasNothing(receiver));
  receiver.link.close();
  await close(client);
});

test("a shared global subscription is one for all clients", async () => {
  const source = { address: "news", capabilities: ["shared", "global"] };
  const clients = [await connect(router), await connect(router)];
  const receivers = [];
  for (const client of clients) {
    receivers.push(await Receiver.attach(client, "news", { name: "together", source, credit: 100 }));
  }
  for (const client of clients) {
    await isHeard(client);
  }
  await send("news", ...Array.from({ length: 10 }, (_, number) => number));
  const deadline = Date.now() + PATIENCE;
  while (receivers.reduce((sum, { arrived }) => sum + arrived.length, 0) < 10) {
    assert.ok(Date.now() < deadline, "waited in vain for all messages");
    await sleep(20);
  }
  const got = receivers.map((receiver) => receiver.arrived.map(({ message }) => message.body));
  assert.deepEqual(got.flat().sort((a, b) => a - b), Array.from({ length: 10 }, (_, number) => number));
  assert.ok(got.every((bodies) => bodies.length));
  for (const client of clients) {
    await close(client);
  }
});

test("a dynamic queue keeps messages, and goes with its link", async () => {
  const lifetime = types.wrap_described([], 0x2b);
  const source = { dynamic: true, capabilities: ["queue"], dynamic_node_properties: { "lifetime-policy": lifetime } };
  const receiver = await Receiver.attach(connection, undefined, { source, credit: 0 });
  const { address } = receiver.link.source;
  await send(address, 1, 2);
  receiver.link.add_credit(2);
  assert.deepEqual(await receiver.take(2), [1, 2]);
});

// === transactions, by hand; rhea cannot send a delivery with a state, so that nothing is posted here

const [DECLARE, DISCHARGE, DECLARED, TRANSACTIONAL] = [0x31, 0x32, 0x33, 0x34];

class Coordinator {
  static async attach() {
    const coordinator = new Coordinator();
    const target = types.wrap_described([types.wrap_array([types.wrap_symbol("amqp:local-transactions")], 0xa3)], 0x30);
    coordinator.link = connection.open_sender({ autosettle: true });
    coordinator.link.local.attach.target = target;
    await next(coordinator.link, "sender_open");
    return coordinator;
  }

  /** Sends an amqp-value of a described list; rhea cannot describe a body. */
  async #ask(descriptor, count, fields) {
    while (!this.link.sendable()) {
      await next(this.link, "sendable");
    }
    const list = [0xc0, fields.length + 1, count, ...fields];
    const delivery = this.link.send(Buffer.from([0, 0x53, 0x77, 0, 0x53, descriptor, ...list]), undefined, 0);
    const deadline = Date.now() + PATIENCE;
    while (!delivery.remote_state && !delivery.remote_settled) {
      assert.ok(Date.now() < deadline, "waited in vain for the coordinator");
      await sleep(5);
    }
    return delivery.remote_state;
  }

  async declare() {
    // rhea hands out a state that it does not know as it came.
    const state = await this.#ask(DECLARE, 1, [0x40]);
    assert.equal(Number(state.descriptor.value), DECLARED);
    return state.value[0].value;
  }

  discharge(transaction, fail = false) {
    return this.#ask(DISCHARGE, 2, [0xa0, transaction.length, ...transaction, fail ? 0x41 : 0x42]);
  }
}

const within = (transaction, outcome) =>
  types.wrap_described([types.wrap_binary(transaction), ...(outcome ? [outcome] : [])], TRANSACTIONAL);

test("what is accepted within a transaction is gone once that is committed, and there if it is rolled back", async () => {
  const coordinator = await Coordinator.attach();
  for (const fail of [true, false]) {
    await send(queue, "x");
    const receiver = await Receiver.attach(connection, queue, { credit: 1 });
    const transaction = await coordinator.declare();
    const { delivery } = await receiver.next();
    delivery.update(false, within(transaction, types.wrap_described([], 0x24)));
    // rhea sends what it has to send before what it has to say of what it received.
    await sleep(100);
    await coordinator.discharge(transaction, fail);
    receiver.link.close();
    const other = await Receiver.attach(connection, queue);
    if (fail) {
      assert.deepEqual(await other.take(1), ["x"]);
    } else {
      assert.ok(await hasNothing(other));
    }
    other.link.close();
  }
});

test("a transaction that there is not is refused", async () => {
  const coordinator = await Coordinator.attach();
  const state = await coordinator.discharge(Buffer.from("nonsense"));
  assert.equal(state.error.condition, "amqp:transaction:unknown-id");
});
