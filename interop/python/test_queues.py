"""Queues of a router's own, with senders and receivers anywhere in a network of routers of either kind.

Where WAYSTATION_OLD_ROUTER names the old router's program, it stands in for other routers than the one that has the queue.
"""

import itertools

import pytest
from proton import Message
from support.network import Network, mixes

_numbers = itertools.count(1)

#: The router with the queues.
HOME = 0


def with_queues(mix):
    """The queues are kept by one of ours."""
    return mix[HOME] == "n"


@pytest.fixture(
    scope="module",
    params=[(topology, mix) for topology in ("line", "edges") for mix in filter(with_queues, mixes(topology))],
    ids=lambda network: "-".join(network),
)
def shared_network(request, tmp_path_factory):
    topology, mix = request.param
    folder = tmp_path_factory.mktemp("queues")
    sections = f"store {{ path: {folder}/store }}\nqueueTemplate {{ pattern: queues/# }}\n"
    network = Network(folder, topology, mix, sections={HOME: sections})
    yield network
    network.stop()


@pytest.fixture
def name():
    """An address that no other test uses."""
    return f"queues/{next(_numbers)}"


def everywhere(network):
    return range(len(network.nodes))


def test_a_message_sent_anywhere_before_there_is_a_receiver_is_there_when_one_comes_anywhere(network, name):
    for at, to in itertools.product(everywhere(network), repeat=2):
        address = f"{name}/{at}-{to}"
        sender = network.connect(at).sender(address)
        outcomes = network.send_all(sender, range(20))
        assert dict(outcomes) == {"accepted": 20}
        network.disconnect_all()
        receiver = network.connect(to).receiver(address, credit=100, accepts=True)
        network.until(lambda: len(receiver.arrived) == 20, f"what was sent at {at} to arrive at {to}")
        assert [received.body for received in receiver.arrived] == list(range(20))
        network.disconnect_all()


def test_senders_without_an_address_reach_a_queue_that_is_there(network, name):
    network.send_all(network.connect(HOME).sender(name), [0])
    for at in everywhere(network):
        network.wait_for_address(at, name)
        sender = network.connect(at).sender(None)
        outcomes = network.send_all(sender, [Message(address=name, body=1)])
        assert dict(outcomes) == {"accepted": 1}
        network.disconnect_all()
    receiver = network.connect(HOME).receiver(name, credit=100, accepts=True)
    network.until(lambda: len(receiver.arrived) == 1 + len(network.nodes), "all of them")
