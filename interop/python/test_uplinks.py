"""An edge router with two interior routers to attach to: which one it uses, and what happens when that fails.

Where WAYSTATION_OLD_ROUTER names the old router's program, it stands in for each router in turn.
"""

import itertools
import signal

import pytest
from support.network import REST, Network, mixes
from support.router import wait_until

#: The edge router of the topology; the others are the two interior routers.
EDGE = 2
_numbers = itertools.count(1)


@pytest.fixture(scope="module", params=mixes("uplinks"))
def shared_network(request, tmp_path_factory):
    network = Network(tmp_path_factory.mktemp("uplinks"), "uplinks", request.param)
    yield network
    network.stop()


@pytest.fixture
def network(shared_network):
    yield shared_network
    shared_network.disconnect_all()
    for node in shared_network.nodes:
        if node.is_running():
            node.process.send_signal(signal.SIGCONT)
        else:
            node.start()
    shared_network.come_to_rest()


@pytest.fixture
def name():
    """Part of an address that no other test uses."""
    return f"uplinks/{next(_numbers)}"


def active_and_other(network):
    """The numbers of the interior router that the edge router uses, and of the other one."""
    id = wait_until(lambda: network.active_uplink(EDGE), "an uplink", REST)
    active = next(number for number, node in enumerate(network.nodes) if node.id == id)
    return active, 1 - active


def passes(network, at, to, address):
    """Ten messages find their way from one router to another."""
    receiver = network.connect(to).receiver(address, credit=10, accepts=True)
    sender = network.connect(at).sender(address)
    network.until(lambda: sender.link.credit > 0, "credit", REST)
    assert dict(network.send_all(sender, range(10))) == {"accepted": 10}
    assert [received.body for received in receiver.arrived] == list(range(10))


def test_one_of_several_uplinks_is_in_use(network, name):
    active, other = active_and_other(network)
    for at, to in ((EDGE, active), (active, EDGE), (EDGE, other), (other, EDGE)):
        passes(network, at, to, f"{name}/{at}-{to}")


def test_a_killed_uplink_is_replaced_by_another_one_and_links_stay_attached(network, name):
    active, other = active_and_other(network)
    receiver = network.connect(EDGE).receiver(f"{name}/down", credit=100, accepts=True)
    sender = network.connect(EDGE).sender(f"{name}/up")
    network.nodes[active].kill()

    upper = network.connect(other).receiver(f"{name}/up", credit=100, accepts=True)
    lower = network.connect(other).sender(f"{name}/down")
    network.until(lambda: sender.link.credit > 0 and lower.link.credit > 0, "credit", REST)

    assert dict(network.send_all(sender, range(10))) == {"accepted": 10}
    assert dict(network.send_all(lower, range(10))) == {"accepted": 10}
    assert len(upper.arrived) == len(receiver.arrived) == 10


def test_a_silent_uplink_is_replaced_by_another_one(network, name):
    active, other = active_and_other(network)
    network.nodes[active].process.send_signal(signal.SIGSTOP)
    wait_until(lambda: network.active_uplink(EDGE) == network.nodes[other].id, "the other uplink", REST)
    passes(network, EDGE, other, name)


def test_a_silent_edge_router_is_given_up(network, name):
    active, _ = active_and_other(network)
    network.nodes[EDGE].process.send_signal(signal.SIGSTOP)
    text = f"Lost heartbeat from container {network.nodes[EDGE].id}, closing connection"
    wait_until(lambda: text in network.nodes[active].log(), "the edge router to be given up", REST)


def test_links_are_attached_though_the_interior_does_not_answer(network, name):
    active, _ = active_and_other(network)
    network.nodes[active].process.send_signal(signal.SIGSTOP)
    passes(network, EDGE, EDGE, name)


def test_a_link_can_be_detached_while_the_interior_is_asked_about_it(network, name):
    active, _ = active_and_other(network)
    network.nodes[active].process.send_signal(signal.SIGSTOP)
    peer = network.connect(EDGE)
    peer.sender(name, wait=False).close()
    assert peer.is_connected()
