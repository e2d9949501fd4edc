"""The old manual's scenario "path redundancy and temporal decoupling", with a queue of Router.B's own in the broker's place.

Where WAYSTATION_OLD_ROUTER names the old router's program, routers A and C are of the old kind in a second run.
"""

import itertools
import os

import pytest
from proton import Message
from support.management import Management
from support.network import REST
from support.peer import Peer
from support.proxy import Proxy
from support.router import OLD_ROUTER, Configured, free_port, wait_until

QUEUE = "my_queue"

#: As the manual has it, with ports of the test's own. `{more}` is what a test adds.
A = """
router {{
    mode: interior
    id: Router.A
}}
listener {{
    host: 0.0.0.0
    port: {client}
    authenticatePeer: no
}}
connector {{
    name: INTER_ROUTER_B
    host: 127.0.0.1
    port: {b}
    role: inter-router
}}
connector {{
    name: INTER_ROUTER_C
    host: 127.0.0.1
    port: {c}
    role: inter-router
}}
{more}
"""

B = """
router {{
    mode: interior
    id: Router.B
}}
listener {{
    host: 0.0.0.0
    port: {b}
    authenticatePeer: no
    role: inter-router
}}
listener {{
    host: 0.0.0.0
    port: {client}
    authenticatePeer: no
}}
store {{
    path: {store}
}}
queue {{
    address: my_queue
}}
"""

C = """
router {{
    mode: interior
    id: Router.C
}}
listener {{
    host: 0.0.0.0
    port: {c}
    authenticatePeer: no
    role: inter-router
}}
listener {{
    host: 0.0.0.0
    port: {client}
    authenticatePeer: no
}}
connector {{
    name: INTER_ROUTER_B
    host: 127.0.0.1
    port: {b}
    role: inter-router
}}
"""

#: What the manual has at Router.A for the broker's queue: harmless with one of our own.
WAYPOINT = "address {\n    prefix: my_queue\n    waypoint: yes\n}\n"


class Site:
    """Three routers that are all joined. The connection from A to B can be cut."""

    def __init__(self, folder, more, old):
        ports = {name: free_port() for name in "ABCbcp"}
        self.store = folder / "store"
        self.cable = Proxy(ports["p"], ports["b"])
        texts = {
            "A": A.format(client=ports["A"], b=ports["p"], c=ports["c"], more=more),
            "B": B.format(client=ports["B"], b=ports["b"], store=self.store),
            "C": C.format(client=ports["C"], b=ports["b"], c=ports["c"]),
        }
        self.routers = {}
        for name, text in texts.items():
            home = folder / name
            home.mkdir()
            router = self.routers[name] = Configured(home, text, ports[name])
            router.executable = os.environ[OLD_ROUTER] if old and name in "AC" else None
        for name in "BCA":
            self.routers[name].start()
        self.peers = []
        self.come_to_rest()

    def connect(self, name):
        peer = Peer(self.routers[name])
        self.peers.append(peer)
        return peer

    def knows(self, name):
        """The next hops to the routers that there is a way to, by their ids."""
        peer = Peer(self.routers[name])
        try:
            nodes = Management(peer).query("router.node", "id", "nextHop", "cost")
        finally:
            peer.stop()
        return {node["id"]: node["nextHop"] for node in nodes if node["cost"] is not None}

    def come_to_rest(self):
        """Until every router that runs knows the ways to all others that do."""
        running = {f"Router.{name}" for name, router in self.routers.items() if router.is_running()}
        for name, router in self.routers.items():
            if router.is_running():
                wait_until(lambda: self.knows(name).keys() >= running - {router_id(name)}, f"{name}'s ways", REST)

    def send(self, name, bodies):
        """Sends to the queue from a client of this router, and waits until all are accepted."""
        peer = self.connect(name)
        sender = attached(peer, "sender")
        for body in bodies:
            assert sender.send(Message(body=body)).outcome() == "accepted"
        peer.stop()

    def receive(self, name, count):
        """What a client of this router gets from the queue."""
        peer = self.connect(name)
        receiver = attached(peer, "receiver", credit=count)
        bodies = receiver.take(count)
        assert receiver.has_nothing()
        peer.stop()
        return bodies

    def stop(self):
        for peer in self.peers:
            peer.stop()
        for router in self.routers.values():
            if router.is_running():
                router.stop()
        self.cable.close()


def router_id(name):
    return f"Router.{name}"


def attached(peer, what, **options):
    """A link to the queue, as soon as the network knows where that is: an attach before is of an address like any other."""
    management = Management(peer)

    def known():
        names = {entry["name"] for entry in management.query("router.address", "name")}
        return {f"E{QUEUE}", f"F{QUEUE}"} <= names

    peer.until(known, "the ways to the queue", REST)
    return getattr(peer, what)(QUEUE, **options)


@pytest.fixture(
    params=[("waypoint", False), ("plain", False), *([("waypoint", True)] if os.environ.get(OLD_ROUTER) else [])],
    ids=lambda param: f"{param[0]}-{'old' if param[1] else 'ours'}",
)
def site(request, tmp_path):
    waypoint, old = request.param
    site = Site(tmp_path, WAYPOINT if waypoint == "waypoint" else "", old)
    yield site
    site.stop()


def test_the_receiver_may_be_absent_while_messages_are_sent(site):
    site.send("A", range(1, 11))
    assert site.receive("A", 10) == list(range(1, 11))
    for sends, receives in itertools.product("ABC", repeat=2):
        site.send(sends, [sends + receives])
        assert site.receive(receives, 1) == [sends + receives]


def test_the_connection_to_the_router_with_the_queue_fails(site):
    site.send("A", range(5))
    site.cable.cut()
    wait_until(lambda: site.knows("A").get("Router.B") == "Router.C", "the way through C", REST)
    site.send("A", range(5, 10))
    assert site.receive("A", 10) == list(range(10))
    site.cable.mend()
    # The next hop to a neighbour is none.
    wait_until(lambda: site.knows("A").get("Router.B", "Router.C") != "Router.C", "the direct way", REST)
    site.send("A", ["direct"])
    assert site.receive("C", 1) == ["direct"]


def test_another_router_dies(site):
    site.send("A", range(5))
    site.routers["C"].kill()
    site.send("A", range(5, 10))
    assert site.receive("A", 10) == list(range(10))
    site.send("A", ["kept"])
    # The clients of A go to C, once that is back.
    site.routers["C"].start()
    site.routers["A"].kill()
    site.come_to_rest()
    site.send("C", ["more"])
    assert site.receive("C", 2) == ["kept", "more"]


def test_the_router_with_the_queue_restarts(site):
    site.send("A", range(10))
    peer = site.connect("A")
    sender = attached(peer, "sender")
    site.routers["B"].kill()
    # Senders that were attached learn that the way is lost.
    assert sender.refusal().name == "qd:routed-link-lost"
    site.routers["B"].start()
    site.come_to_rest()
    site.send("A", range(10, 20))
    assert site.receive("C", 20) == list(range(20))


def test_the_router_with_the_queue_dies_and_another_one_takes_its_store(site):
    if site.routers["C"].executable:
        pytest.skip("the old router has no stores")
    site.send("A", range(10))
    site.routers["B"].kill()
    peer = site.connect("C")
    made = Management(peer).create("store", "store", path=str(site.store))
    assert made.status == 201, made.description
    site.send("A", range(10, 20))
    assert site.receive("A", 20) == list(range(20))
