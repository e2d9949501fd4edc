// A router that answers for a network of any size that is not there: what it says of each router is computed when it is asked.
import { once } from 'node:events';
import rhea from 'rhea';
import { WebSocketServer } from 'ws';

const CLIENTS = 6;
const LINKS_BETWEEN = 11;

/** Deliveries so far of something that has so many a second. */
const counted = (rate) => Math.round((Date.now() / 1000 - EPOCH) * rate);
const EPOCH = Date.now() / 1000 - 600;

class Network {
  constructor(size) {
    this.names = Array.from({ length: size }, (_, index) => `R${index}`);
  }

  /** A ring with chords across it. */
  neighbours(index) {
    const size = this.names.length;
    return [...new Set([index + 1, index - 1 + size, index + 7, index - 7 + size].map((each) => each % size))];
  }

  /** The entities of a type at a router. */
  entities(index, type) {
    const name = this.names[index];
    switch (type) {
      case 'router':
        return [{ identity: '1', name, id: name, mode: 'interior', version: 'made up', uptimeSeconds: 600, connectionCount: 4 + CLIENTS, linkCount: 94, addrCount: 40, deliveriesIngress: counted(30), deliveriesEgress: counted(30), deliveriesTransit: counted(120), acceptedDeliveries: counted(30), releasedDeliveries: 0, rejectedDeliveries: 0, modifiedDeliveries: 0, deliveriesDelayed1Sec: 0, deliveriesDelayed10Sec: 0, linksBlocked: 0, deliveriesStuck: 0 }];
      case 'connection':
        return this.connections(index);
      case 'router.link':
        return this.connections(index).flatMap((connection, place) => this.links(connection, place, index));
      case 'router.address':
        return Array.from({ length: 20 }, (_, place) => ({ identity: `M0topic.${place}`, key: `M0topic.${place}`, distribution: 'balanced', subscriberCount: 1, remoteCount: 3, containerCount: 0, inProcess: 0, deliveriesIngress: counted(2), deliveriesEgress: counted(2), deliveriesTransit: counted(6) }));
      case 'router.node':
        return this.names.map((id, place) => ({ identity: `router.node/${id}`, id, index: place, linkState: this.neighbours(place).map((other) => this.names[other]) }));
      default:
        return [];
    }
  }

  connections(index) {
    const neighbours = this.neighbours(index);
    return [
      ...neighbours.map((other, place) => ({ identity: String(place + 1), container: this.names[other], role: 'inter-router', dir: 'in', host: `10.0.0.${other}`, properties: {}, opened: true })),
      ...Array.from({ length: CLIENTS }, (_, place) => ({ identity: String(neighbours.length + place + 1), container: `client-${this.names[index]}-${place}`, role: 'normal', dir: 'in', host: `10.1.${index}.${place}:40000`, properties: { product: 'made-up' }, opened: true })),
    ];
  }

  links(connection, place, index) {
    const base = { capacity: 250, operStatus: 'up', creditAvailable: 250, unsettledCount: 0, undeliveredCount: 0, zeroCreditSeconds: 0, deliveriesStuck: 0, connectionId: connection.identity };
    const link = (number, more) => ({ ...base, identity: String(place * 100 + number), linkName: `l${index}.${place}.${number}`, ...more });
    if (connection.role !== 'inter-router') return [link(0, { linkType: 'endpoint', linkDir: place % 2 ? 'in' : 'out', owningAddr: `M0topic.${place}`, deliveryCount: counted(10) })];
    return Array.from({ length: 2 * LINKS_BETWEEN }, (_, number) => link(number, { linkType: number < 2 ? 'router-control' : 'inter-router', linkDir: number % 2 ? 'in' : 'out', owningAddr: null, deliveryCount: counted(number < 4 ? 20 : 0) }));
  }

  answer({ to, application_properties: { operation, entityType }, body }) {
    if (operation === 'GET-MGMT-NODES') return this.names.map((name) => `amqp:/_topo/0/${name}/$management`);
    if (operation !== 'QUERY') return operation === 'GET-LOG' ? [] : {};
    const index = Math.max(0, this.names.indexOf(/_topo\/0\/(.*)\/\$management/.exec(to)?.[1]));
    const rows = this.entities(index, entityType.replace('org.apache.qpid.dispatch.', ''));
    const attributeNames = body.attributeNames.length ? body.attributeNames : Object.keys(rows[0] ?? {});
    return { attributeNames, results: rows.map((row) => attributeNames.map((name) => row[name] ?? null)) };
  }
}

/** Serves the management of a network of so many routers over WebSocket. */
export async function madeUp(size) {
  const network = new Network(size);
  const container = rhea.create_container({ id: 'R0' });
  const accept = container.websocket_accept.bind(container);
  const replies = new Map();
  for (const event of ['disconnected', 'connection_error', 'error']) container.on(event, () => {});
  container.on('sender_open', ({ sender }) => {
    const address = `reply-${replies.size}`;
    replies.set(address, sender);
    sender.set_source({ address, dynamic: true });
  });
  container.on('receiver_open', ({ receiver }) => receiver.set_target({}));
  container.on('message', ({ message }) => {
    replies.get(message.reply_to)?.send({ correlation_id: message.correlation_id, application_properties: { statusCode: 200, statusDescription: 'OK' }, body: network.answer(message) });
  });
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, handleProtocols: () => 'amqp' });
  server.on('connection', (socket) => accept(socket, { container_id: 'R0' }));
  await once(server, 'listening');
  return {
    http: server.address().port,
    end() {
      for (const client of server.clients) client.terminate();
      server.close();
    },
  };
}
