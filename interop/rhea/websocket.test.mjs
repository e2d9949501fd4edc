// An unmodified rhea client speaks AMQP over a WebSocket, as it does in a browser.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import rhea from "rhea";
import WebSocket from "ws";
import { Receiver, Sender, close, connect } from "./client.mjs";
import { Router } from "./router.mjs";

let router;

before(async () => {
  router = await Router.start();
});
after(async () => {
  assert.equal(await router.stop(), 0);
});

function connectOverWebSocket(protocols) {
  const dial = rhea.websocket_connect(WebSocket);
  return connect(router, { connection_details: dial(`ws://127.0.0.1:${router.webPort}`, protocols, {}) });
}

for (const protocols of [["amqp"], ["binary", "AMQPWSB10", "amqp"]]) {
  test(`messages pass between a WebSocket and a plain connection (${protocols})`, async () => {
    const address = `websocket/${protocols[0]}`;
    const [web, plain] = [await connectOverWebSocket(protocols), await connect(router)];
    const receivers = [await Receiver.attach(web, `${address}/in`), await Receiver.attach(plain, `${address}/out`)];
    const senders = [await Sender.attach(plain, `${address}/in`), await Sender.attach(web, `${address}/out`)];
    for (const [index, sender] of senders.entries()) {
      for (const size of [0, 1000, 300_000]) {
        const body = "x".repeat(size);
        receivers[index].next().then(({ delivery, message }) => (message.body === body ? delivery.accept() : delivery.reject()));
        assert.equal((await sender.outcome({ body })).name, "accepted");
      }
    }
    await close(web);
    await close(plain);
  });
}

test("management is asked over a WebSocket", async () => {
  const web = await connectOverWebSocket(["amqp"]);
  const replies = await Receiver.attach(web, undefined);
  const sender = await Sender.attach(web, "$management");
  sender.outcome({
    application_properties: { operation: "GET-TYPES", type: "org.amqp.management", name: "self" },
    reply_to: replies.link.source.address,
    body: [],
  });
  const { message } = await replies.next();
  assert.equal(message.application_properties.statusCode, 200);
  assert.ok("org.apache.qpid.dispatch.router" in message.body);
  await close(web);
});

test("a WebSocket for another protocol is refused", async () => {
  const socket = new WebSocket(`ws://127.0.0.1:${router.webPort}`, ["mqtt"]);
  const status = await new Promise((resolve) => {
    socket.on("unexpected-response", (_, response) => resolve(response.statusCode));
    socket.on("error", () => {});
  });
  assert.equal(status, 400);
});
