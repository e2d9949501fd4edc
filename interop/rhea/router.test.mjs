// An unmodified rhea client sends and receives through the router.

import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, test } from "node:test";
import rhea from "rhea";
import { Receiver, Sender, close, connect, next } from "./client.mjs";
import { Router } from "./router.mjs";

const { types } = rhea;
let router;
let connection;
let address;
let tests = 0;

before(async () => {
  router = await Router.start();
});
after(async () => {
  assert.equal(await router.stop(), 0);
});
beforeEach(async () => {
  address = `rhea/${++tests}`;
  connection = await connect(router);
});
afterEach(async () => {
  await close(connection);
});

const ACTS = {
  accepted: (delivery) => delivery.accept(),
  rejected: (delivery) => delivery.reject({ condition: "test:broken", description: "it is broken" }),
  released: (delivery) => delivery.release(),
  modified: (delivery) => delivery.modified({ delivery_failed: true, undeliverable_here: true }),
};

for (const receiverSettles of [0, 1]) {
  for (const senderSettles of [0, 2]) {
    for (const [name, act] of Object.entries(ACTS)) {
      test(`${name} reaches the sender (snd-settle-mode ${senderSettles}, rcv-settle-mode ${receiverSettles})`, async () => {
        const modes = { snd_settle_mode: senderSettles, rcv_settle_mode: receiverSettles };
        const receiver = await Receiver.attach(connection, address, modes);
        const sender = await Sender.attach(connection, address, modes);
        receiver.next().then(({ delivery }) => act(delivery));

        const outcome = await sender.outcome({ body: "x" });

        assert.equal(outcome.name === "released" && outcome.state.delivery_failed ? "modified" : outcome.name, name);
      });
    }
  }
}

test("a rejection keeps its error", async () => {
  const receiver = await Receiver.attach(connection, address);
  const sender = await Sender.attach(connection, address);
  receiver.next().then(({ delivery }) => ACTS.rejected(delivery));

  const { state } = await sender.outcome({ body: "x" });

  assert.equal(state.error.condition, "test:broken");
  assert.equal(state.error.description, "it is broken");
});

test("a pre-settled delivery arrives settled", async () => {
  const receiver = await Receiver.attach(connection, address, { snd_settle_mode: 1 });
  const sender = await Sender.attach(connection, address, { snd_settle_mode: 1 });
  await sender.send({ body: "x" });

  const { delivery } = await receiver.next();

  assert.equal(delivery.remote_settled, true);
});

for (const size of [0, 1, 255, 256, 16_384, 100_000, 1 << 20, 8 << 20, 64 << 20]) {
  test(`a body of ${size} bytes arrives whole`, async () => {
    const body = Buffer.alloc(size, "0123456789");
    const receiver = await Receiver.attach(connection, address);
    const sender = await Sender.attach(connection, address);
    receiver.next().then(({ message, delivery }) => {
      message.body.content.equals(body) ? delivery.accept() : delivery.reject();
    });

    const { name } = await sender.outcome({ body: rhea.message.data_section(body) });

    assert.equal(name, "accepted");
  });
}

const VALUES = {
  null: null,
  true: true,
  ubyte: types.wrap_ubyte(255),
  ushort: types.wrap_ushort(65535),
  uint: types.wrap_uint(4294967295),
  ulong: types.wrap_ulong(Buffer.from("ffffffffffffffff", "hex")),
  byte: types.wrap_byte(-128),
  short: types.wrap_short(-32768),
  int: types.wrap_int(-2147483648),
  long: types.wrap_long(-1),
  float: types.wrap_float(0.5),
  double: types.wrap_double(3.141592653589793),
  char: types.wrap_char(0x1f600),
  timestamp: types.wrap_timestamp(1764460800123),
  uuid: types.wrap_uuid(Buffer.from("000102030405060708090a0b0c0d0e0f", "hex")),
  binary: types.wrap_binary(Buffer.from([0, 255, 1])),
  string: "grüße",
  "long string": "é".repeat(40_000),
  symbol: types.wrap_symbol("a-symbol"),
  list: types.wrap_list([1, "two", [3]]),
  map: types.wrap_map({ a: 1, b: [true, null] }),
  array: types.wrap_array([1, 2, 300_000], 0x71),
  described: types.wrap_described("x", "test:thing"),
};

for (const [name, value] of Object.entries(VALUES)) {
  test(`a value of type ${name} arrives as it was`, async () => {
    const direct = rhea.message.decode(rhea.message.encode({ body: value }));
    const receiver = await Receiver.attach(connection, address);
    const sender = await Sender.attach(connection, address);
    await sender.send({ body: value });

    const { message, delivery } = await receiver.next();
    delivery.accept();

    assert.deepEqual(message.body, direct.body);
  });
}

test("every section arrives as it was", async () => {
  const sent = {
    durable: true,
    priority: 7,
    ttl: 12_345,
    delivery_count: 3,
    message_id: "the-id",
    user_id: Buffer.from("the-user"),
    to: "somewhere",
    subject: "a subject",
    reply_to: "back",
    correlation_id: 77,
    content_type: "text/plain",
    content_encoding: "gzip",
    group_id: "the-group",
    group_sequence: 9,
    reply_to_group_id: "other-group",
    message_annotations: { "x-opt-note": "noted" },
    application_properties: { p: 1, q: "two" },
    body: "text",
  };
  const direct = rhea.message.decode(rhea.message.encode(sent));
  const receiver = await Receiver.attach(connection, address);
  await (await Sender.attach(connection, address)).send(sent);

  const { message, delivery } = await receiver.next();
  delivery.accept();

  for (const field of Object.keys(sent)) {
    assert.deepEqual(message[field], direct[field], field);
  }
});

test("a thousand messages arrive once each and in order", async () => {
  const receiver = await Receiver.attach(connection, address, { credit: 1000 });
  const sender = await Sender.attach(connection, address);
  const taken = receiver.take(1000);

  for (let number = 0; number < 1000; number++) {
    await sender.send({ body: number });
  }

  assert.deepEqual(await taken, [...Array(1000).keys()]);
});

test("rhea's own credit window keeps messages coming", async () => {
  const receiver = await Receiver.attach(connection, address, { credit: 0, credit_window: 10, autoaccept: true, autosettle: true });
  const sender = await Sender.attach(connection, address);

  for (let number = 0; number < 500; number++) {
    await sender.send({ body: number });
    assert.equal((await receiver.next()).message.body, number);
  }
});

test("a drain delivers what there is and then ends", async () => {
  const receiver = await Receiver.attach(connection, address, { credit: 0 });
  const sender = await Sender.attach(connection, address);
  for (const body of ["a", "b", "c"]) {
    await sender.send({ body });
  }
  const drained = next(receiver.link, "receiver_drained");

  receiver.link.drain = true;
  receiver.link.add_credit(10);

  await drained;
  assert.deepEqual(await receiver.take(3), ["a", "b", "c"]);
  assert.equal(receiver.link.credit, 0);
});

test("a dynamic address carries a reply", async () => {
  const requests = await Receiver.attach(connection, address);
  const replies = await Receiver.attach(connection);
  const replyTo = replies.link.source.address;
  const anonymous = await Sender.attach(connection, undefined);
  requests.next().then(({ message, delivery }) => {
    delivery.accept();
    anonymous.send({ to: message.reply_to, correlation_id: message.correlation_id, body: "answer" });
  });

  await (await Sender.attach(connection, address)).send({ reply_to: replyTo, correlation_id: "7", body: "question" });
  const { message, delivery } = await replies.next();
  delivery.accept();

  assert.deepEqual([message.correlation_id, message.body], ["7", "answer"]);
});

test("an anonymous sender reaches any address", async () => {
  const one = await Receiver.attach(connection, `${address}/one`);
  const other = await Receiver.attach(connection, `${address}/other`);
  const sender = await Sender.attach(connection, undefined);

  await sender.send({ to: `${address}/one`, body: 1 });
  await sender.send({ to: `${address}/other`, body: 2 });

  assert.deepEqual([...(await one.take(1)), ...(await other.take(1))], [1, 2]);
});

test("multicast gives each receiver a copy", async () => {
  const receivers = [];
  for (let count = 0; count < 3; count++) {
    receivers.push(await Receiver.attach(connection, `multicast/${address}`));
  }
  await (await Sender.attach(connection, `multicast/${address}`)).send({ body: "to all" });

  for (const receiver of receivers) {
    assert.deepEqual(await receiver.take(1), ["to all"]);
  }
});

test("a link name can be used again after a detach", async () => {
  const first = await Sender.attach(connection, address, { name: "again" });
  first.link.close();
  await next(first.link, "sender_close");
  const receiver = await Receiver.attach(connection, address);

  await (await Sender.attach(connection, address, { name: "again" })).send({ body: "x" });

  assert.deepEqual(await receiver.take(1), ["x"]);
});

for (const creditWindow of [0, 10]) {
  test(`rhea reconnects to a restarted router (credit window ${creditWindow})`, async () => {
    const restarted = await Router.start();
    const client = await connect(restarted, { reconnect: true, initial_reconnect_delay: 50, max_reconnect_delay: 200 });
    const receiver = await Receiver.attach(client, address, { credit: 0, credit_window: creditWindow, autoaccept: true, autosettle: true });
    const sender = await Sender.attach(client, address);
    await restarted.kill();

    const back = next(receiver.link, "receiver_open");
    await restarted.run();
    await back;
    if (!creditWindow) {
      receiver.link.add_credit(1);
    }
    await sender.send({ body: "back" });

    assert.equal((await receiver.next()).message.body, "back");
    await close(client);
    assert.equal(await restarted.stop(), 0);
  });
}

// rhea writes all of it at once, so that the credit stands behind it.
test("a large message may wait for credit that its own sender's connection gives after it", async () => {
  const receiver = await Receiver.attach(connection, address, { credit: 0 });
  const sender = await Sender.attach(connection, address);
  const body = rhea.message.data_section(Buffer.alloc(20 * 1024 * 1024, "x"));
  await sender.send({ body });

  receiver.link.add_credit(1);

  const { message, delivery } = await receiver.next();
  delivery.accept();
  assert.equal(message.body.content.length, 20 * 1024 * 1024);
});
