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

#: Topologies: trunks between routers by their numbers, each with the one that connects first.
TOPOLOGIES = {
    "line": [(0, 1), (1, 2)],
    "ring": [(0, 1), (1, 2), (2, 3), (3, 0)],
    "mesh": [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)],
}


def mixes(topology):
    """What kinds of routers to make a topology of: a letter for each, `n` for ours and `o` for the old kind."""
    count = 1 + max(max(trunk) for trunk in TOPOLOGIES[topology])
    ours = "n" * count
    if not os.environ.get(OLD_ROUTER):
        return [ours]
    single = [ours[:at] + "o" + ours[at + 1 :] for at in range(count)]
    return [ours, *single, *(("on" * count)[at : at + count] for at in (0, 1))]


class Node(Router):
    """A router of a network."""

    def __init__(self, folder, id, *, old=False, mode="interior"):
        super().__init__(folder, id=id)
        self.mode = mode
        self.is_old = old
        self.executable = os.environ[OLD_ROUTER] if old else None
        self.trunk_port = free_port()
        self.connects_to = []

    def configure(self, trunks):
        """Writes its configuration; `trunks` are the nodes that it connects to."""
        connectors = "".join(
            f"""
connector {{
    name: to-{node.id}
    role: inter-router
    host: 127.0.0.1
    port: {node.trunk_port}
}}"""
            for node in trunks
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
listener {{
    role: inter-router
    host: 127.0.0.1
    port: {self.trunk_port}
    saslMechanisms: ANONYMOUS
    authenticatePeer: no
}}
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
"""
        )


class Network:
    """Running routers, and the clients that tests connect to them."""

    def __init__(self, folder, topology, mix):
        self.nodes = []
        for number, kind in enumerate(mix):
            home = folder / f"{number}"
            home.mkdir()
            self.nodes.append(Node(home, f"R{number}", old=kind == "o"))
        for number, node in enumerate(self.nodes):
            node.configure([self.nodes[to] for from_, to in TOPOLOGIES[topology] if from_ == number])
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
        """Lets time pass, for tests that expect nothing more to happen."""
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

    def come_to_rest(self):
        """Until every running router knows every other one."""
        running = {node.id: number for number, node in enumerate(self.nodes) if node.is_running()}
        deadline = time.monotonic() + REST
        for number in running.values():
            while not self.knows(number) >= set(running):
                assert time.monotonic() < deadline, f"R{number} knows {self.knows(number)} only\n{self.told()}"
                time.sleep(0.1)

    def wait_for_address(self, number, address, remote):
        """Until a router knows of `remote` other routers with consumers of an address."""
        peer = Peer(self.nodes[number])
        management = Management(peer)

        def there():
            entries = management.query("router.address", "name", "remoteCount")
            return any(entry["name"] == f"M0{address}" and entry["remoteCount"] >= remote for entry in entries)

        peer.until(there, f"{remote} remote consumers of {address} at {self.nodes[number].id}", REST)
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
