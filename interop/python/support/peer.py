"""An AMQP client on python-qpid-proton's own event loop that a test drives step by step.

A test says what its links do, and waits for what it expects to see; `Peer.until` runs the event loop meanwhile.
"""

import time
from collections import deque

from proton import Condition, Delivery, Endpoint, Handler, Link, Message
from proton.reactor import Container, LinkOption

from .router import PATIENCE

#: Names of outcomes, as the tests read best.
OUTCOMES = {
    None: "none",
    Delivery.ACCEPTED: "accepted",
    Delivery.REJECTED: "rejected",
    Delivery.RELEASED: "released",
    Delivery.MODIFIED: "modified",
}


#: The state of a connection that both sides have opened and neither has closed.
OPEN = Endpoint.LOCAL_ACTIVE | Endpoint.REMOTE_ACTIVE


class _Events(Handler):
    """Keeps what comes in until a test asks for it, and answers the peer's closes."""

    def on_delivery(self, event):
        delivery = event.delivery
        link = event.link
        if not link.is_receiver:
            return
        receiver = link.context_of_test
        if delivery.aborted:
            receiver.aborted += 1
            receiver.parts.clear()
            link.advance()
            delivery.settle()
            return
        if delivery.readable and delivery.pending:
            receiver.parts += link.recv(delivery.pending)
        if delivery.readable and not delivery.partial:
            content, receiver.parts = bytes(receiver.parts), bytearray()
            link.advance()
            received = Received(receiver, delivery, content)
            if receiver.accepts:
                received.accept()
            receiver.arrived.append(received)

    def on_link_remote_close(self, event):
        event.link.close()

    def on_link_remote_detach(self, event):
        event.link.detach()

    def on_session_remote_close(self, event):
        event.session.close()

    def on_connection_remote_close(self, event):
        event.connection.close()


class Peer:
    """One client container with any number of connections to one router."""

    def __init__(self, router, **connection_options):
        self.router = router
        self.container = Container(_Events())
        self.container.timeout = 0.02
        self.container.start()
        self.links = 0
        self.connections = []
        self.connection = self.connect(**connection_options)

    def connect(self, **options):
        """A further connection; the links made without naming one use the first."""
        options.setdefault("reconnect", False)
        options.setdefault("allowed_mechs", "ANONYMOUS")
        connection = self.container.connect(self.router.url, handler=_Events(), **options)
        self.connections.append(connection)
        self.until(lambda: connection.state & (Endpoint.REMOTE_ACTIVE | Endpoint.REMOTE_CLOSED), "the peer's open")
        return connection

    def until(self, condition, what, patience=PATIENCE):
        """Runs the event loop until `condition` gives something true, which is returned."""
        deadline = time.monotonic() + patience
        while True:
            result = condition()
            if result:
                return result
            assert time.monotonic() < deadline, f"waited in vain for {what}\n{self.router.told()}"
            self.container.process()

    def sync(self):
        """Makes a round trip on each connection: the router has read by then what was said before."""
        for connection in self.connections:
            if connection.state & OPEN == OPEN and self.is_connected(connection):
                self._round_trip(connection)

    def _round_trip(self, connection):
        session = self.session(connection)

        def is_over():
            return session.state & Endpoint.REMOTE_ACTIVE or connection.state & Endpoint.REMOTE_CLOSED or not self.is_connected(connection)

        self.until(is_over, "the answer to a begin")
        session.close()

    def settle_down(self, seconds=0.3):
        """Runs the event loop for a while, for tests that expect nothing more to happen once the router has read everything."""
        self.sync()
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self.container.process()

    def _name(self):
        self.links += 1
        return f"link-{self.links}"

    def sender(self, address, connection=None, **options):
        return Sender(self, address, connection or self.connection, **options)

    def receiver(self, address=None, connection=None, **options):
        return Receiver(self, address, connection or self.connection, **options)

    def session(self, connection=None):
        session = (connection or self.connection).session()
        session.open()
        return session

    def is_connected(self, connection=None):
        transport = (connection or self.connection).transport
        return transport is not None and not transport.closed

    def close(self, connection=None):
        connection = connection or self.connection
        connection.close()
        self.until(lambda: connection.state & Endpoint.REMOTE_CLOSED, "the answer to the close")

    def disconnect(self, connection=None):
        """Drops the socket, with nothing said on the AMQP level."""
        connection = connection or self.connection
        connection.transport._selectable._delegate.close()
        connection.transport.close_tail()
        connection.transport.close_head()
        self.settle_down(0.05)

    def stop(self):
        """Closes what is still open, and ends the event loop."""
        for connection in self.connections:
            if connection.state & Endpoint.LOCAL_ACTIVE:
                connection.close()
        deadline = time.monotonic() + 5
        while any(not connection.state & Endpoint.REMOTE_CLOSED for connection in self.connections):
            if time.monotonic() > deadline or not self.container.process():
                break
        self.container.stop()
        self.container.process()


class _Link:
    """What senders and receivers have in common."""

    def _attach(self, peer, link, snd_settle_mode, rcv_settle_mode, wait):
        self.peer = peer
        self.link = link
        link.context_of_test = self
        if snd_settle_mode is not None:
            link.snd_settle_mode = snd_settle_mode
        if rcv_settle_mode is not None:
            link.rcv_settle_mode = rcv_settle_mode
        link.open()
        if wait:
            peer.until(lambda: link.state & (Endpoint.REMOTE_ACTIVE | Endpoint.REMOTE_CLOSED), "the peer's attach")

    def refusal(self):
        """The condition with which the router detached the link."""
        self.peer.until(lambda: self.link.state & Endpoint.REMOTE_CLOSED, "the router's detach")
        return self.link.remote_condition

    def close(self):
        self.link.close()
        self.peer.until(lambda: self.link.state & Endpoint.REMOTE_CLOSED, "the answer to the detach")


class Sender(_Link):
    """A sending link. Without an address it is an anonymous one."""

    def __init__(
        self, peer, address, connection, *, session=None, name=None, snd_settle_mode=None, rcv_settle_mode=None,
        capability=None, wait=True, set_up=None,
    ):
        session = session or peer.session(connection)
        link = session.sender(name or peer._name())
        link.source.address = "test-source"
        link.target.address = address
        if capability:
            link.target.capabilities.put_symbol(capability)
        if set_up:
            set_up(link)
        self._attach(peer, link, snd_settle_mode, rcv_settle_mode, wait)

    def wait_for_credit(self, credit=1):
        self.peer.until(lambda: self.link.credit >= credit, f"credit of {credit}, there is {self.link.credit}")
        return self

    def send(self, message, *, settled=False):
        """Sends one delivery as soon as there is credit for it."""
        self.wait_for_credit()
        return self.send_now(message, settled=settled)

    def send_now(self, message, *, settled=False):
        """Sends one delivery, whether there is credit or not."""
        if isinstance(message, bytes):
            encoded = message
        else:
            encoded = (message if isinstance(message, Message) else Message(body=message)).encode()
        delivery = self.link.delivery(self.link.delivery_tag())
        self.link.stream(encoded)
        self.link.advance()
        if settled:
            delivery.settle()
        return Sent(self, delivery)


class Sent:
    """A delivery that was sent."""

    def __init__(self, sender, delivery):
        self.sender = sender
        self.delivery = delivery

    def outcome(self):
        """The name of the outcome with which the router settled it."""
        self.sender.peer.until(lambda: self.delivery.settled, "the delivery's settlement")
        self.delivery.settle()
        return OUTCOMES[self.delivery.remote_state or None]

    def state(self):
        """The name of its state now, settled or not."""
        return OUTCOMES.get(self.delivery.remote_state or None, "other")

    @property
    def remote(self):
        """The outcome with all its fields."""
        return self.delivery.remote


class Receiver(_Link):
    """A receiving link. Without an address its source is dynamic. With `accepts` it accepts all that arrives."""

    def __init__(
        self, peer, address, connection, *, credit=10, session=None, name=None, snd_settle_mode=None,
        rcv_settle_mode=None, capability=None, wait=True, set_up=None, accepts=False,
    ):
        self.accepts = accepts
        self.arrived = deque()
        self.parts = bytearray()
        self.aborted = 0
        session = session or peer.session(connection)
        link = session.receiver(name or peer._name())
        link.target.address = "test-target"
        if address is None:
            link.source.dynamic = True
        else:
            link.source.address = address
        if capability:
            link.source.capabilities.put_symbol(capability)
        if set_up:
            set_up(link)
        self._attach(peer, link, snd_settle_mode, rcv_settle_mode, wait)
        if credit:
            link.flow(credit)

    @property
    def address(self):
        """The address that the router gave to a dynamic source."""
        return self.link.remote_source.address

    def flow(self, credit):
        self.link.flow(credit)
        return self

    def drain(self, credit):
        """Asks for up to `credit` messages now, and waits until the router has no more."""
        self.link.drain(credit)
        self.peer.until(lambda: not self.link.draining(), "the end of the drain")

    def next(self):
        """The next delivery that arrives, unsettled."""
        self.peer.until(lambda: self.arrived, "a delivery")
        return self.arrived.popleft()

    def take(self, count):
        """The bodies of the next `count` deliveries, which are accepted."""
        deliveries = [self.next() for _ in range(count)]
        return [delivery.body if self.accepts else delivery.accept().body for delivery in deliveries]

    def has_nothing(self):
        """True if nothing arrives for a while."""
        self.peer.settle_down()
        return not self.arrived


class Received:
    """A delivery that came in."""

    def __init__(self, receiver, delivery, content):
        self.receiver = receiver
        self.delivery = delivery
        self.settled_by_sender = delivery.settled
        self.content = content

    @property
    def message(self):
        message = Message()
        message.decode(self.content)
        return message

    @property
    def body(self):
        message = self.message
        body = message.body
        # Proton hands binary out as a view into the message, which does not keep the message alive.
        return bytes(body) if isinstance(body, memoryview) else body

    def _settle(self, state):
        self.delivery.update(state)
        self.delivery.settle()
        return self

    def accept(self):
        return self._settle(Delivery.ACCEPTED)

    def release(self):
        return self._settle(Delivery.RELEASED)

    def reject(self, condition=None, description=None, info=None):
        if condition:
            self.delivery.local.condition = Condition(condition, description, info)
        return self._settle(Delivery.REJECTED)

    def modify(self, failed=False, undeliverable=False, annotations=None):
        self.delivery.local.failed = failed
        self.delivery.local.undeliverable = undeliverable
        if annotations:
            self.delivery.local.annotations = annotations
        return self._settle(Delivery.MODIFIED)

    def settle_without_state(self):
        self.delivery.settle()
        return self


SETTLED = Link.SND_SETTLED
UNSETTLED = Link.SND_UNSETTLED
MIXED = Link.SND_MIXED
RECEIVER_FIRST = Link.RCV_FIRST
RECEIVER_SECOND = Link.RCV_SECOND

__all__ = [
    "MIXED", "RECEIVER_FIRST", "RECEIVER_SECOND", "SETTLED", "UNSETTLED",
    "LinkOption", "Peer", "Received", "Receiver", "Sender", "Sent",
]
