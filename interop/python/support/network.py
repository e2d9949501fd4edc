"""Networks of routers, of ours alone or together with old ones, and clients all over them."""

import os
import time
from collections import Counter

from proton import ProtonException

from .management import Management
from .peer import Peer
from .router import OLD_ROUTER, PATIENCE, Router, free_port

#: Seconds that a network may take to come to rest after whatever happened to it.
REST = 60

#: Topologies: connections between routers by their numbers, each with the one that connects first.
TOPOLOGIES = {
    "line": [(0, 1), (1, 2)],
    "ring": [(0, 1), (1, 2), (2, 3), (3, 0)],
    "mesh": [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)],
    "edges": [(1, 0), (2, 0), (3, 0), (4, 1), (5, 1)],
    "uplinks": [(1, 0), (2, 0), (2, 1)],
}

#: Which of their routers are edge routers.
EDGES = {"edges": {2, 3, 4, 5}, "uplinks": {2}}


def mixes(topology):
    """What kinds of routers to make a topology of: a letter for each, `n` for ours and `o` for the old kind."""
    count = 1 + max(max(trunk) for trunk in TOPOLOGIES[topology])
    edges = EDGES.get(topology, set())
    ours = "n" * count
    if not os.environ.get(OLD_ROUTER):
        return [ours]
    single = [ours[:at] + "o" + ours[at + 1 :] for at in range(count)]
    sides = ["".join("o" if (at in edges) == old_edges else "n" for at in range(count)) for old_edges in (True, False)]
    every = [ours, *single, *(("on" * count)[at : at + count] for at in (0, 1)), *(sides if edges else [])]
    return list(dict.fromkeys(every))


class Node(Router):
    """A router of a network."""

    def __init__(self, folder, id, *, old=False, mode="interior"):
        super().__init__(folder, id=id)
        self.mode = mode
        self.is_old = old
        self.executable = os.environ[OLD_ROUTER] if old else None
        self.trunk_port = free_port()
        self.edge_port = free_port()
        self.uplinks = []

    @property
    def is_edge(self):
        return self.mode == "edge"

    @property
    def management_address(self):
        """Where every router of the network finds its management."""
        return f"_edge/{self.id}/$management" if self.is_edge else f"_topo/0/{self.id}/$management"

    def configure(self, trunks, sections=""):
        """Writes its configuration; `trunks` are the nodes that it connects to, `sections` further ones."""
        self.uplinks = trunks if self.is_edge else []
        role = "edge" if self.is_edge else "inter-router"
        connectors = "".join(
            f"""
connector {{
    name: to-{node.id}
    role: {role}
    host: 127.0.0.1
    port: {node.edge_port if self.is_edge else node.trunk_port}
}}"""
            for node in trunks
        )
        listeners = "".join(
            f"""
listener {{
    role: {role}
    host: 127.0.0.1
    port: {port}
    saslMechanisms: ANONYMOUS
    authenticatePeer: no
}}"""
            for role, port in (() if self.is_edge else (("inter-router", self.trunk_port), ("edge", self.edge_port)))
        )
        self.config_file.write_text(
            f"""
router {{
    mode: {self.mode}
    id: {self.id}
}}
listener {{
    host: 127.0.0.1
    port: {self.port}
    saslMechanisms: ANONYMOUS
    authenticatePeer: no
}}
{listeners}
{connectors}
address {{
    prefix: multicast
    distribution: multicast
}}
address {{
    prefix: closest
    distribution: closest
}}
log {{
    module: DEFAULT
    enable: info+
    outputFile: {self.log_file}
}}
{sections}
"""
        )


class Network:
    """Running routers, and the clients that tests connect to them."""

    def __init__(self, folder, topology, mix, sections=None):
        """`sections`: further sections of the configuration of some routers, by their numbers."""
        self.nodes = []
        for number, kind in enumerate(mix):
            home = folder / f"{number}"
            home.mkdir()
            mode = "edge" if number in EDGES.get(topology, set()) else "interior"
            self.nodes.append(Node(home, f"R{number}", old=kind == "o", mode=mode))
        for number, node in enumerate(self.nodes):
            trunks = [self.nodes[to] for from_, to in TOPOLOGIES[topology] if from_ == number]
            node.configure(trunks, (sections or {}).get(number, ""))
        self.peers = []
        for node in self.nodes:
            node.start()
        self.come_to_rest()

    def connect(self, number, **options):
        """A client of a router."""
        peer = Peer(self.nodes[number], **options)
        peer.container.timeout = 0.001
        self.peers.append(peer)
        return peer

    def until(self, condition, what, patience=PATIENCE):
        """Runs the event loops of all clients until `condition` gives something true, which is returned."""
        deadline = time.monotonic() + patience
        while True:
            result = condition()
            if result:
                return result
            assert time.monotonic() < deadline, f"waited in vain for {what}\n{self.told()}"
            self.process()

    def process(self):
        """One turn of every client's event loop."""
        for peer in self.peers:
            peer.container.process()

    def settle_down(self, seconds=0.5):
        """Lets time pass, for tests that expect nothing more to happen once the routers have read everything."""
        for peer in self.peers:
            peer.sync()
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self.process()

    def send_all(self, sender, bodies, **options):
        """Sends a message for each body as credit allows, and returns the outcomes' names once all are settled."""
        sent = []
        for body in bodies:
            self.until(lambda: sender.link.credit > 0, "credit")
            sent.append(sender.send_now(body, **options))
        self.until(lambda: all(delivery.delivery.settled for delivery in sent), "the outcomes")
        for delivery in sent:
            delivery.delivery.settle()
        return Counter(delivery.state() for delivery in sent)

    def knows(self, number):
        """The ids of the routers that a router knows a way to, itself among them."""
        try:
            peer = Peer(self.nodes[number])
        except (AssertionError, ProtonException):
            return set()
        try:
            nodes = Management(peer).query("router.node", "id", "cost")
            return {node["id"] for node in nodes if node["id"] == self.nodes[number].id or node["cost"] is not None}
        finally:
            peer.stop()

    def active_uplink(self, number):
        """The container id of the router that an edge router is attached to; `None` while there is none."""
        try:
            peer = Peer(self.nodes[number])
        except (AssertionError, ProtonException):
            return None
        try:
            connections = Management(peer).query("connection", "container", "role", "active")
            return next((conn["container"] for conn in connections if conn["role"] == "edge" and conn["active"]), None)
        finally:
            peer.stop()

    def come_to_rest(self):
        """Until every running interior router knows every other one, and every edge router has an uplink."""
        running = {node.id: number for number, node in enumerate(self.nodes) if node.is_running()}
        interior = {id for id, number in running.items() if not self.nodes[number].is_edge}
        deadline = time.monotonic() + REST
        for number in running.values():
            edge = self.nodes[number].is_edge
            while not (self.active_uplink(number) in interior if edge else self.knows(number) >= interior):
                assert time.monotonic() < deadline, f"R{number} knows {self.knows(number)} only\n{self.told()}"
                time.sleep(0.1)

    def interior_of(self, number):
        """The interior router that stands for a router: itself, or the one that an edge router is attached to."""
        node = self.nodes[number]
        return self.nodes.index(node.uplinks[0]) if node.is_edge else number

    def edges_of(self, number):
        """The edge routers that are attached to an interior router."""
        return [at for at, node in enumerate(self.nodes) if node.is_edge and self.interior_of(at) == number]

    def wait_for_address(self, number, address, count=1):
        """Until a router has `count` destinations for an address: receivers, edge routers, other interior routers. For
        an edge router it is the interior that must have them."""
        node = self.nodes[self.interior_of(number)]
        self.wait_for_entry(node, address, lambda entry: entry["subscriberCount"] + entry["remoteCount"] >= count)

    def wait_for_receivers_everywhere(self, address):
        """Until each router knows of the receivers at all others."""
        for at, node in enumerate(self.nodes):
            if not node.is_edge:
                interior = sum(not other.is_edge for other in self.nodes)
                self.wait_for_address(at, address, interior + len(self.edges_of(at)))

    def sender_to_everywhere(self, number, address):
        """A sender at a router, whose messages leave an edge router from the first one on though there is a receiver."""
        sender = self.connect(number).sender(address)
        if self.nodes[number].is_edge:
            self.wait_for_entry(self.nodes[number], address, lambda entry: entry["subscriberCount"] >= 2)
        return sender

    def wait_for_link_routes(self, prefix):
        """Until each interior router knows where links to this prefix and from it go."""
        for node in self.nodes:
            for direction in () if node.is_edge else "CD":
                self.wait_for_entry(node, prefix, lambda entry: True, f"{direction}{prefix}")

    def wait_for_entry(self, node, address, condition, key=None):
        """Until a router's entry for an address is as it should be."""
        peer = Peer(node)
        management = Management(peer)

        def there():
            entries = management.query("router.address", "name", "subscriberCount", "remoteCount")
            return any(entry["name"] == (key or f"M0{address}") and condition(entry) for entry in entries)

        peer.until(there, f"the consumers of {address} at {node.id}", REST)
        peer.stop()

    def told(self):
        return "\n".join(f"--- {node.id}\n{node.told()[-1500:]}" for node in self.nodes)

    def disconnect_all(self):
        for peer in self.peers:
            peer.stop()
        self.peers = []

    def stop(self):
        self.disconnect_all()
        for node in self.nodes:
            if node.is_running():
                node.stop()
