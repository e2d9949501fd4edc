"""A broker that does as a test wants: queues that keep messages, transactions, misbehaviour on demand.

It listens like a broker, or connects like one; its event loop runs in a thread of its own, so that the clients of a test
can be driven step by step meanwhile.
"""

import threading
from collections import defaultdict, deque

from proton import Condition, Delivery, Described, Endpoint, Message, Terminus, symbol, ulong
from proton.handlers import Handshaker
from proton.reactor import Container

from .router import free_port, wait_until

#: Descriptors of what clients say to a coordinator and of what it answers (part 4 of the specification).
DECLARE, DISCHARGE, DECLARED, TRANSACTIONAL = 0x31, 0x32, 0x33, 0x34


class Broker:
    """A broker with queues that come into being when they are used.

    `missing`: addresses at which it has no queue, until they are removed from there. `connect_to`: host and port of a
    listener, to which it connects as `container_id` instead of listening.
    """

    def __init__(self, container_id="broker", missing=(), port=None, connect_to=None):
        self.container_id = container_id
        self.missing = set(missing)
        self.port = port or free_port()
        self.connect_to = connect_to
        self.queues = defaultdict(deque)
        self.attached = []
        self.detached = []
        self.tags = []
        self.transactions = {}
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.ready = threading.Event()

    def start(self):
        self.thread.start()
        assert self.ready.wait(10), "the broker does not start"
        return self

    def stop(self):
        """Ends it like a broker that is killed: nothing is said, its connections are dropped."""
        self.stopping = True
        self.thread.join(10)

    def wait_for(self, condition, what):
        return wait_until(condition, what)

    def _run(self):
        self.stopping = False
        handler = _Handler(self)
        self.container = Container(handler)
        self.container.container_id = self.container_id
        self.container.timeout = 0.02
        self.container.start()
        while not self.stopping and self.container.process():
            self.ready.set()
        # As when a process is killed: its sockets are closed, and nothing is said.
        if handler.acceptor:
            handler.acceptor._selectable._delegate.close()
        for connection in handler.connections:
            transport = connection.transport
            selectable = transport and getattr(transport, "_selectable", None)
            if selectable and selectable._delegate:
                selectable._delegate.close()


def _tag(delivery):
    """A delivery's tag, if Python's Proton can read it: it takes tags for text, and a router's own are none."""
    try:
        return delivery.tag
    except UnicodeDecodeError:
        return None


class _Handler(Handshaker):
    def __init__(self, broker):
        super().__init__()
        self.broker = broker
        self.acceptor = None
        self.connections = []
        self.senders = defaultdict(list)

    def on_reactor_init(self, event):
        broker = self.broker
        if broker.connect_to:
            host, port = broker.connect_to
            event.container.connect(f"amqp://{host}:{port}", allowed_mechs="ANONYMOUS", reconnect=False)
        else:
            self.acceptor = event.container.listen(f"amqp://127.0.0.1:{broker.port}")

    def on_connection_init(self, event):
        self.connections.append(event.connection)

    def on_connection_remote_open(self, event):
        if not event.connection.state & Endpoint.LOCAL_ACTIVE:
            event.connection.container = self.broker.container_id
            event.connection.open()

    def on_link_remote_open(self, event):
        link = event.link
        if link.state & Endpoint.LOCAL_ACTIVE:
            return
        link.snd_settle_mode = link.remote_snd_settle_mode
        link.rcv_settle_mode = link.remote_rcv_settle_mode
        terminus = link.remote_source if link.is_sender else link.remote_target
        address = terminus.address
        if link.is_receiver and terminus.type == Terminus.COORDINATOR:
            address = "$coordinator"
        if terminus.dynamic:
            address = f"dynamic-{len(self.broker.attached)}"
        link.source.copy(link.remote_source)
        link.target.copy(link.remote_target)
        if terminus.dynamic:
            (link.source if link.is_sender else link.target).address = address
        self.broker.attached.append((link.name, address, link.is_receiver, link))
        if address in self.broker.missing:
            (link.source if link.is_sender else link.target).type = Terminus.UNSPECIFIED
            link.condition = Condition("amqp:not-found", f"Queue {address} does not exist")
            link.open()
            link.close()
            return
        link.open()
        if link.is_receiver:
            link.flow(100)
        else:
            self.senders[address].append(link)

    def on_link_remote_close(self, event):
        self.broker.detached.append((event.link.name, True, event.link.remote_condition))
        self._forget(event.link)
        event.link.close()

    def on_link_remote_detach(self, event):
        self.broker.detached.append((event.link.name, False, event.link.remote_condition))
        self._forget(event.link)
        event.link.detach()

    def _forget(self, link):
        for senders in self.senders.values():
            if link in senders:
                senders.remove(link)

    def on_link_flow(self, event):
        if event.link.is_sender:
            self._send(event.link)

    def _address(self, link):
        if link.is_receiver and link.remote_target.type == Terminus.COORDINATOR:
            return "$coordinator"
        return (link.source if link.is_sender else link.target).address

    def _send(self, link):
        queue = self.broker.queues[self._address(link)]
        while link.credit > 0 and queue:
            delivery = link.delivery(f"broker-{len(self.broker.tags)}")
            link.stream(queue.popleft())
            link.advance()
            if link.snd_settle_mode == link.SND_SETTLED:
                delivery.settle()
        if link.drain_mode and link.credit > 0:
            link.drained()

    def _keep(self, address, content):
        self.broker.queues[address].append(content)
        for link in self.senders[address]:
            self._send(link)

    def on_delivery(self, event):
        delivery, link = event.delivery, event.link
        if link.is_sender:
            if delivery.updated and not delivery.settled and delivery.remote_state:
                delivery.update(delivery.remote_state)
            if delivery.updated:
                delivery.settle()
            return
        if delivery.aborted or not delivery.readable or delivery.partial:
            if delivery.aborted:
                delivery.settle()
            return
        content = link.recv(delivery.pending) or b""
        self.broker.tags.append(_tag(delivery))
        link.advance()
        address = self._address(link)
        if address == "$coordinator":
            self._coordinate(delivery, content)
        elif delivery.remote_state == TRANSACTIONAL:
            transaction = delivery.remote.data[0]
            self.broker.transactions[bytes(transaction)].append((address, content))
            delivery.local.data = [transaction, Described(ulong(Delivery.ACCEPTED), [])]
            delivery.update(TRANSACTIONAL)
            delivery.settle()
        else:
            delivery.update(Delivery.ACCEPTED)
            delivery.settle()
            self._keep(address, content)
        link.flow(1)

    def _coordinate(self, delivery, content):
        message = Message()
        message.decode(content)
        request = message.body
        if request.descriptor in (DECLARE, symbol("amqp:declare:list")):
            transaction = f"txn-{len(self.broker.transactions)}".encode()
            self.broker.transactions[transaction] = []
            delivery.local.data = [transaction]
            delivery.update(DECLARED)
        else:
            transaction, fail = (list(request.value) + [False])[:2]
            work = self.broker.transactions.pop(bytes(transaction), [])
            if not fail:
                for address, kept in work:
                    self._keep(address, kept)
            delivery.update(Delivery.ACCEPTED)
        delivery.settle()


__all__ = ["DECLARE", "DECLARED", "DISCHARGE", "TRANSACTIONAL", "Broker"]
