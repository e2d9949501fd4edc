"""Networks of routers: every message arrives once, wherever its sender and its receivers are.

Where WAYSTATION_OLD_ROUTER names the old router's program, it stands in for each router of each network in turn.
"""

import hashlib
import itertools
import os

import pytest
from proton import Message
from support.management import Management
from support.network import TOPOLOGIES, Network, mixes
from support.router import OLD_ROUTER

MIB = 1024 * 1024
#: Bytes of a large message.
LARGE = (100 if os.environ.get(OLD_ROUTER) else 20) * MIB
_numbers = itertools.count(1)


@pytest.fixture(
    scope="module",
    params=[(topology, mix) for topology in TOPOLOGIES if topology != "uplinks" for mix in mixes(topology)],
    ids=lambda network: "-".join(network),
)
def shared_network(request, tmp_path_factory):
    topology, mix = request.param
    network = Network(tmp_path_factory.mktemp("network"), topology, mix)
    yield network
    network.stop()


@pytest.fixture
def name():
    """Part of an address that no other test uses."""
    return f"network/{next(_numbers)}"


def pairs(network):
    return itertools.permutations(range(len(network.nodes)), 2)


def receivers_everywhere(network, address, credit=1000):
    """A receiver on each router; all routers know of all."""
    receivers = [network.connect(at).receiver(address, credit=credit, accepts=True) for at in range(len(network.nodes))]
    network.wait_for_receivers_everywhere(address)
    return receivers


def bodies(receiver):
    return [received.body for received in receiver.arrived]


def test_messages_get_from_every_router_to_every_other_in_order(network, name):
    for at, to in pairs(network):
        address = f"{name}/{at}-{to}"
        receiver = network.connect(to).receiver(address, credit=1000, accepts=True)
        sender = network.connect(at).sender(address)
        outcomes = network.send_all(sender, range(50))
        assert (dict(outcomes), bodies(receiver)) == ({"accepted": 50}, list(range(50)))
        network.disconnect_all()


def test_senders_without_an_address_reach_every_other_router(network, name):
    for at, to in pairs(network):
        address = f"{name}/{at}-{to}"
        receiver = network.connect(to).receiver(address, credit=1000, accepts=True)
        network.wait_for_address(at, address)
        sender = network.connect(at).sender(None)
        outcomes = network.send_all(sender, [Message(address=address, body=number) for number in range(10)])
        assert (dict(outcomes), bodies(receiver)) == ({"accepted": 10}, list(range(10)))
        network.disconnect_all()


def test_every_outcome_finds_its_way_back(network, name):
    receiver = network.connect(len(network.nodes) - 1).receiver(name, credit=10)
    sender = network.connect(0).sender(name)
    network.until(lambda: sender.link.credit > 0, "credit")
    answers = {
        "accepted": lambda received: received.accept(),
        "rejected": lambda received: received.reject("test:condition", "a reason"),
        "released": lambda received: received.release(),
        "modified": lambda received: received.modify(failed=True, undeliverable=True),
    }
    for outcome, answer in answers.items():
        sent = sender.send_now(outcome)
        answer(network.until(lambda: receiver.arrived, "the message") and receiver.arrived.popleft())
        network.until(lambda sent=sent: sent.delivery.settled, "the outcome")
        assert sent.state() == outcome
        if outcome == "rejected":
            assert (sent.remote.condition.name, sent.remote.condition.description) == ("test:condition", "a reason")
        sent.delivery.settle()


def test_a_balanced_address_gives_each_message_to_one_receiver(network, name):
    receivers = receivers_everywhere(network, name)
    for at in range(len(network.nodes)):
        outcomes = network.send_all(network.connect(at).sender(name), [f"{at}-{number}" for number in range(50)])
        assert dict(outcomes) == {"accepted": 50}
    received = sorted(itertools.chain.from_iterable(bodies(receiver) for receiver in receivers))
    assert received == sorted(f"{at}-{number}" for at in range(len(network.nodes)) for number in range(50))


def test_a_closest_address_prefers_the_receivers_at_hand(network, name):
    """Those at the same router, with its edge routers and, at an edge router, with the interior above it."""
    address = f"closest/{name}"
    receivers = receivers_everywhere(network, address)
    for at in range(len(network.nodes)):
        network.send_all(network.connect(at).sender(address), [f"{at}-{number}" for number in range(10)])
        interior = network.interior_of(at)
        near = [receivers[router] for router in (interior, *network.edges_of(interior))]
        received = itertools.chain.from_iterable(bodies(receiver) for receiver in near)
        sent = [f"{from_}-{number}" for from_ in range(at + 1) for number in range(10)]
        near_by = [body for body in sent if network.interior_of(int(body.split("-")[0])) == interior]
        assert sorted(received) == sorted(near_by)


def test_a_multicast_address_gives_each_message_to_each_receiver_once(network, name):
    address = f"multicast/{name}"
    receivers = receivers_everywhere(network, address)
    everything = [f"{at}-{number}" for at in range(len(network.nodes)) for number in range(10)]
    for at in range(len(network.nodes)):
        sender = network.sender_to_everywhere(at, address)
        outcomes = network.send_all(sender, everything[at * 10 : at * 10 + 10])
        assert dict(outcomes) == {"accepted": 10}
    network.until(lambda: all(len(receiver.arrived) >= len(everything) for receiver in receivers), "every copy")
    network.settle_down()
    for node, receiver in zip(network.nodes, receivers):
        # The old router gives its own receivers some messages twice in a full mesh.
        received = set(bodies(receiver)) if node.is_old else bodies(receiver)
        assert sorted(received) == sorted(everything)


def test_messages_of_all_priorities_arrive(network, name):
    receiver = network.connect(len(network.nodes) - 1).receiver(name, credit=1000, accepts=True)
    sender = network.connect(0).sender(name)
    sent = [Message(body=number, priority=number % 10) for number in range(100)]
    assert dict(network.send_all(sender, sent)) == {"accepted": 100}
    assert sorted(bodies(receiver)) == list(range(100))
    assert all(received.message.priority == received.body % 10 for received in receiver.arrived)


def test_a_large_message_passes_and_small_ones_pass_it(network, name):
    last = len(network.nodes) - 1
    content = hashlib.sha256(b"seed").digest() * (LARGE // 32)
    large = network.connect(last).receiver(f"{name}/large", credit=1, accepts=True)
    small = network.connect(last).receiver(f"{name}/small", credit=100, accepts=True)
    of_large, of_small = network.connect(0).sender(f"{name}/large"), network.connect(0).sender(f"{name}/small")
    network.until(lambda: of_large.link.credit and of_small.link.credit, "credit")
    sent = of_large.send_now(Message(body=content))
    network.process()
    assert dict(network.send_all(of_small, range(20))) == {"accepted": 20}
    network.until(lambda: sent.delivery.settled, "the large message's outcome", 120)
    assert sent.state() == "accepted"
    assert bodies(small) == list(range(20))
    assert hashlib.sha256(large.arrived[0].body).digest() == hashlib.sha256(content).digest()


def test_every_router_is_managed_from_every_other(network):
    for at, to in pairs(network):
        node = network.nodes[to]
        peer = network.connect(at)
        routers = Management(peer, node.management_address).query("router", "id", "mode")
        assert routers == [{"id": node.id, "mode": node.mode}]
        network.disconnect_all()


def test_a_router_that_is_killed_and_started_again_is_part_of_the_network_again(network, name):
    for number, node in enumerate(network.nodes):
        node.kill()
        node.start()
        network.come_to_rest()
        for at in {other for other in range(len(network.nodes)) if other != number}:
            address = f"{name}/{number}/{at}"
            receiver = network.connect(number).receiver(address, credit=100, accepts=True)
            # Until all have heard of it, a message may go by a router that has not, which releases it.
            for other in range(len(network.nodes)):
                network.wait_for_address(other, address, int(other != number))
            sender = network.connect(at).sender(address)
            network.until(lambda: sender.link.credit > 0, "credit", 60)
            assert dict(network.send_all(sender, range(10))) == {"accepted": 10}
            assert bodies(receiver) == list(range(10))
            network.disconnect_all()
