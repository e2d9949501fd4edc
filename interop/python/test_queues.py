"""Queues of a router's own, with senders and receivers anywhere in a network of routers of either kind.

Where WAYSTATION_OLD_ROUTER names the old router's program, it stands in for other routers than the one that has the queue.
"""

import itertools

import pytest
from proton import Message
from support.management import Management
from support.network import Network, mixes
from support.transactions import Coordinator

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


def test_a_sender_without_an_address_makes_a_queue_from_anywhere(network, name):
    for at in everywhere(network):
        address = f"{name}/{at}"
        sender = network.connect(at).sender(None)
        outcomes = network.send_all(sender, [Message(address=address, body=number) for number in range(20)])
        old_on_the_way = any(node.is_old for node in network.nodes)
        assert dict(outcomes) == {"accepted": 20} or old_on_the_way
        network.disconnect_all()
        if not old_on_the_way:
            receiver = network.connect(HOME).receiver(address, credit=100, accepts=True)
            network.until(lambda receiver=receiver: len(receiver.arrived) == 20, f"what was sent at {at} to arrive")
            assert [received.body for received in receiver.arrived] == list(range(20))
            network.disconnect_all()


def test_nothing_of_what_routers_write_to_messages_is_left_when_they_come_out_of_a_queue(network, name):
    network.send_all(network.connect(HOME).sender(name), [0])
    sizes = [10, 200_000, 3_000_000]
    for at in everywhere(network):
        network.wait_for_address(at, name)
        sender = network.connect(at).sender(None)
        messages = [Message(address=name, body=bytes(size), annotations={"x-opt-mine": at}) for size in sizes]
        assert dict(network.send_all(sender, messages)) == {"accepted": len(sizes)}
        network.disconnect_all()
    receiver = network.connect(everywhere(network)[-1]).receiver(name, credit=100, accepts=True)
    network.until(lambda: len(receiver.arrived) == 1 + len(sizes) * len(network.nodes), "all of them")
    arrived = list(receiver.arrived)[1:]
    assert [len(received.body) for received in arrived] == sizes * len(network.nodes)
    written = {str(key) for received in arrived for key in received.message.annotations}
    assert written == {"x-opt-mine"}


def depth(network, address):
    queues = Management(network.connect(HOME)).query("queue", "address", "depth")
    return next((queue["depth"] for queue in queues if queue["address"] == address), None)


def with_one_message(network, address, body):
    """A queue with a message in it."""
    network.send_all(network.connect(HOME).sender(address), [body])


def test_receivers_that_are_lost_while_messages_come_to_them_lose_none(network, name):
    # DISPATCH's AMQP_rx_handler rejects what comes for a receiver that it has lost.
    count = 200
    outcomes = network.send_all(network.connect(HOME).sender(name), [Message(body=f"{number:5000}") for number in range(count)])
    assert dict(outcomes) == {"accepted": count}
    for at in everywhere(network):
        for _ in range(3):
            peer = network.connect(at)
            receiver = peer.receiver(name, credit=count)
            network.until(lambda receiver=receiver: receiver.arrived, f"something at {at}")
            network.peers.remove(peer)
            peer.disconnect()
    receiver = network.connect(HOME).receiver(name, credit=count, accepts=True)
    network.until(lambda: len(receiver.arrived) >= count, "what nobody has accepted")
    network.settle_down(0.1)
    assert sorted(int(received.body) for received in receiver.arrived) == list(range(count))


def test_a_transaction_at_any_router_is_committed_or_rolled_back_as_a_whole(network, name):
    for at in everywhere(network):
        source, target = f"{name}/{at}/source", f"{name}/{at}/target"
        with_one_message(network, source, "taken")
        peer = network.connect(at)
        coordinator = Coordinator(peer)
        receiver, sender = peer.receiver(source), peer.sender(target)
        received = receiver.next()
        transaction = coordinator.declare()
        transaction.send(sender, "undone")
        transaction.accept(received)
        assert transaction.roll_back() == "accepted"
        assert (depth(network, source), depth(network, target)) == (1, 0)
        # It is still the receiver's, who can have it again.
        received.release()
        received = receiver.next()
        transaction = coordinator.declare()
        transaction.send(sender, "done")
        transaction.accept(received)
        assert (depth(network, source), depth(network, target)) == (1, 0)
        assert transaction.commit() == "accepted"
        peer.until(lambda received=received: received.delivery.settled, "the settlement of what was taken")
        assert (at, depth(network, source), depth(network, target)) == (at, 0, 1)
        assert network.connect(HOME).receiver(target).take(1) == ["done"]
        network.disconnect_all()


def test_the_transaction_of_a_lost_client_is_rolled_back(network, name):
    for at in everywhere(network):
        source, target = f"{name}/{at}/source", f"{name}/{at}/target"
        with_one_message(network, source, "taken")
        peer = network.connect(at)
        transaction = Coordinator(peer).declare()
        transaction.send(peer.sender(target), "undone")
        transaction.accept(peer.receiver(source).next())
        peer.disconnect()
        receiver = network.connect(HOME).receiver(source)
        assert receiver.take(1) == ["taken"]
        assert depth(network, target) == 0
        network.disconnect_all()


def test_transactions_of_one_session_are_apart(network, name):
    for at in everywhere(network):
        address = f"{name}/{at}"
        peer = network.connect(at)
        session = peer.session()
        coordinator, sender = Coordinator(peer, session=session), peer.sender(address, session=session)
        first, second = coordinator.declare(), coordinator.declare()
        first.send(sender, "first")
        second.send(sender, "second")
        assert first.roll_back() == "accepted"
        assert second.commit() == "accepted"
        assert depth(network, address) == 1
        assert network.connect(HOME).receiver(address).take(1) == ["second"]
        network.disconnect_all()
