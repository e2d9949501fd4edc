"""Queues of an edge router, with senders and receivers anywhere in its network."""

import itertools

import pytest
from proton import Message
from support.management import Management
from support.network import Network

#: The edge router with the queues.
HOME = 2


@pytest.fixture(scope="module")
def shared_network(tmp_path_factory):
    folder = tmp_path_factory.mktemp("queues")
    sections = f"store {{ path: {folder}/store }}\nqueueTemplate {{ pattern: queues/# }}\n"
    network = Network(folder, "edges", "nnnnnn", sections={HOME: sections})
    yield network
    network.stop()


def test_a_message_is_in_the_queue_once_however_it_comes_and_stays_there_until_it_is_taken(network):
    everywhere = range(len(network.nodes))
    for at, with_address in itertools.product(everywhere, (True, False)):
        address = f"queues/{at}/{with_address}"
        sender = network.connect(at).sender(address if with_address else None)
        outcomes = network.send_all(sender, [Message(address=address, body=number) for number in range(5)])
        assert dict(outcomes) == {"accepted": 5}, address
        network.disconnect_all()
    queues = Management(network.connect(HOME)).query("queue", "address", "depth", "messagesIn")
    assert [queue["messagesIn"] for queue in queues] == [5] * len(queues)
    assert [queue["depth"] for queue in queues] == [5] * len(queues)
    for queue, to in zip(queues, itertools.cycle(everywhere)):
        receiver = network.connect(to).receiver(queue["address"], credit=10, accepts=True)
        network.until(lambda receiver=receiver: len(receiver.arrived) == 5, f"what was in {queue['address']}")
        assert [received.body for received in receiver.arrived] == list(range(5))
        network.disconnect_all()
