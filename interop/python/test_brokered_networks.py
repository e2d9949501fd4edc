"""Brokers behind a network of routers: their queues are reached from everywhere, whichever router a broker is connected to.

Where WAYSTATION_OLD_ROUTER names the old router's program, it stands in for each router of each network in turn.
"""

import itertools
from collections import Counter

import pytest
from proton import Described, Message, ulong
from support.broker import DISCHARGE, Broker
from support.management import Management
from support.network import Network, mixes
from support.peer import Peer
from support.router import wait_until
from test_link_routes import coordinator, declare

_numbers = itertools.count(1)
#: Seconds that the network may take to learn something.
LEARNS = 60


@pytest.fixture(
    scope="module",
    params=[(topology, mix) for topology in ("line", "edges") for mix in mixes(topology)],
    ids=lambda network: "-".join(network),
)
def shared_network(request, tmp_path_factory):
    topology, mix = request.param
    network = Network(tmp_path_factory.mktemp("network"), topology, mix)
    yield network
    network.stop()


@pytest.fixture
def network(shared_network):
    yield Brokered(shared_network)
    shared_network.disconnect_all()


@pytest.fixture
def name():
    """Part of an address that no other test uses."""
    return f"brokered{next(_numbers)}"


@pytest.fixture
def start_broker():
    """Starts brokers that end with the test."""
    started = []

    def start(container_id="broker"):
        broker = Broker(container_id=f"{container_id}-{next(_numbers)}").start()
        started.append(broker)
        return broker

    yield start
    for broker in started:
        broker.stop()


class Brokered:
    """A network whose routers are configured while it runs, as with `qdmanage`."""

    def __init__(self, network):
        self.network = network
        self.nodes = network.nodes
        self.last = len(network.nodes) - 1

    def manage(self, at, *requests):
        """Creates entities at a router."""
        peer = Peer(self.nodes[at])
        management = Management(peer)
        for entity_type, name, attributes in requests:
            made = management.create(entity_type, name, **attributes)
            assert made.status == 201, made.description
        peer.stop()

    def connect_broker(self, at, broker):
        """Has a router connect to a broker; gives the connector's name."""
        name = f"to-{broker.container_id}"
        self.manage(at, ("connector", name, {"host": "127.0.0.1", "port": str(broker.port), "role": "route-container"}))
        return name

    def route_links(self, at, prefix, connection):
        for direction in ("in", "out"):
            attributes = {"prefix": prefix, "connection": connection, "direction": direction}
            self.manage(at, ("router.config.linkRoute", f"{prefix}-{direction}", attributes))
        self.wait_for_entities(at, "router.config.linkRoute", prefix)
        # One direction may be known before the other, and a receiver is served by whatever is known.
        self.network.wait_for_link_routes(prefix)

    def waypoint_everywhere(self, prefix, **attributes):
        for at in range(len(self.nodes)):
            self.manage(at, ("router.config.address", prefix, {"prefix": prefix, **attributes}))

    def auto_links(self, at, address, connection, directions=("in", "out"), **attributes):
        for direction in directions:
            name = f"{address}-{connection}-{direction}"
            given = {"address": address, "connection": connection, "direction": direction, **attributes}
            self.manage(at, ("router.config.autoLink", name, given))
        self.wait_for_entities(at, "router.config.autoLink", address)

    def wait_for_entities(self, at, entity_type, name):
        """Until all entities whose names begin so are active."""
        peer = Peer(self.nodes[at])
        management = Management(peer)

        def active():
            found = [entity for entity in management.query(entity_type) if entity["name"].startswith(name)]
            return found and all(entity["operStatus"] == "active" for entity in found)

        peer.until(active, f"{name} at {self.nodes[at].id}", LEARNS)
        peer.stop()

    def attach(self, at, what, address, **options):
        """A sender or receiver that is attached as soon as the router knows where to."""
        deadline = itertools.count()
        while True:
            peer = self.network.connect(at)
            link = getattr(peer, what)(address, wait=False, **options)
            # Who is refused is given no terminus; why comes behind that, maybe much later.
            terminus = link.link.remote_target if what == "sender" else link.link.remote_source
            self.network.until(lambda: terminus.address or link.link.remote_condition, "an answer")
            if terminus.address:
                return link
            assert next(deadline) < 600, link.link.remote_condition
            peer.stop()
            self.network.peers.remove(peer)

    def send_all(self, sender, bodies):
        return self.network.send_all(sender, bodies)

    def receive(self, receiver, count):
        self.network.until(lambda: len(receiver.arrived) >= count, f"{count} messages", LEARNS)
        return [receiver.arrived.popleft().body for _ in range(count)]


def test_links_are_routed_from_every_router_to_the_broker(network, start_broker, name):
    broker = start_broker()
    network.route_links(0, name, network.connect_broker(0, broker))
    for at in range(len(network.nodes)):
        queue = f"{name}.{at}"
        sender = network.attach(at, "sender", queue)
        assert network.send_all(sender, range(20)) == {"accepted": 20}
        assert len(broker.queues[queue]) == 20
        receiver = network.attach(at, "receiver", queue, credit=20, accepts=True)
        assert network.receive(receiver, 20) == list(range(20))


def test_a_transaction_passes_the_whole_network(network, start_broker, name):
    broker = start_broker()
    connection = network.connect_broker(0, broker)
    network.route_links(0, name, connection)
    network.manage(0, ("router.config.linkRoute", f"{name}-coordinator", {"prefix": "$coordinator", "connection": connection, "direction": "in"}))
    sender = network.attach(network.last, "sender", f"{name}.transacted")
    client = sender.peer

    def reached():
        control = coordinator(client)
        client.until(lambda: control.link.credit or control.link.remote_condition, "the coordinator's credit", LEARNS)
        return not control.link.remote_condition and control

    control = wait_until(reached, "the coordinator", LEARNS)
    transaction = declare(client, control)
    for body in ("one", "two"):
        sender.wait_for_credit()
        delivery = sender.link.delivery(sender.link.delivery_tag())
        delivery.local.data = [transaction]
        delivery.update(0x34)
        sender.link.stream(Message(body=body).encode())
        sender.link.advance()
        client.until(lambda delivery=delivery: delivery.remote_state == 0x34, "a transactional outcome")
    assert not broker.queues[f"{name}.transacted"]
    assert control.send(Message(body=Described(ulong(DISCHARGE), [transaction, False]))).outcome() == "accepted"
    assert len(broker.queues[f"{name}.transacted"]) == 2
    peer = Peer(network.nodes[0])
    Management(peer).delete("router.config.linkRoute", name=f"{name}-coordinator")
    peer.stop()


def test_a_drain_passes_the_whole_network_and_credit_flows_after_it(network, start_broker, name):
    broker = start_broker()
    network.route_links(0, name, network.connect_broker(0, broker))
    queue = f"{name}.drained"
    sender = network.attach(network.last, "sender", queue)
    network.send_all(sender, range(3))
    receiver = network.attach(network.last, "receiver", queue, credit=0, accepts=True)
    receiver.drain(10)
    assert network.receive(receiver, 3) == [0, 1, 2]
    receiver.link.flow(5)
    network.send_all(sender, range(3, 8))
    assert network.receive(receiver, 5) == [3, 4, 5, 6, 7]


def test_the_loss_of_the_broker_reaches_clients_everywhere(network, start_broker, name):
    broker = start_broker()
    network.route_links(0, name, network.connect_broker(0, broker))
    senders = [network.attach(at, "sender", f"{name}.lost") for at in range(len(network.nodes))]
    broker.stop()
    assert {sender.refusal().name for sender in senders} == {"qd:routed-link-lost"}


def test_a_queue_behind_one_router_serves_all(network, start_broker, name):
    broker = start_broker()
    network.waypoint_everywhere(name, waypoint=True)
    network.auto_links(0, name, network.connect_broker(0, broker))
    network.network.wait_for_address(network.last, name)
    sender = network.attach(network.last, "sender", name)
    assert network.send_all(sender, range(50)) == {"accepted": 50}
    receiver = network.attach(1, "receiver", name, credit=50, accepts=True)
    assert sorted(network.receive(receiver, 50)) == list(range(50))


def test_a_queue_is_spread_over_brokers_at_several_routers(network, start_broker, name):
    brokers = [start_broker() for _ in range(2)]
    network.waypoint_everywhere(name, waypoint=True)
    for at, broker in enumerate(brokers):
        network.auto_links(at, name, network.connect_broker(at, broker))
    for at in (0, 1):
        network.network.wait_for_address(at, name, 2)
    sender = network.attach(0, "sender", name)
    outcomes = network.send_all(sender, range(400))
    assert outcomes == {"accepted": 400}
    shares = [len(broker.queues[name]) for broker in brokers]
    assert sum(shares) == 400 and min(shares) > 0, shares
    receiver = network.attach(network.last, "receiver", name, credit=400, accepts=True)
    assert Counter(network.receive(receiver, 400)) == Counter(range(400))


def test_a_broker_takes_what_nobody_else_takes(network, start_broker, name):
    broker = start_broker()
    network.waypoint_everywhere(name, enableFallback=True)
    network.auto_links(0, name, network.connect_broker(0, broker), fallback=True)
    # An old router gives its senders no credit for a fallback, also where all routers are old.
    at = max(number for number, node in enumerate(network.nodes) if not node.is_old)
    sender = network.attach(at, "sender", name)
    assert network.send_all(sender, ["stored"]) == {"accepted": 1}
    first = network.attach(1, "receiver", name, credit=10, accepts=True)
    # What was stored comes from the broker, and from then on messages go straight to the receiver.
    assert network.receive(first, 1) == ["stored"]
    network.network.wait_for_address(network.network.interior_of(at), name)
    wait_until(lambda: network.send_all(sender, ["direct"]) and not broker.queues[name], "a direct message", LEARNS)
    first.close()

    def stored():
        return network.send_all(sender, ["again"]) == {"accepted": 1} and broker.queues[name]

    wait_until(stored, "a stored message", LEARNS)
