"""Transactions over a router's own queues, with python-qpid-proton."""

import itertools

import pytest
from proton import Delivery, Described, Message, ulong
from support.broker import DISCHARGE, TRANSACTIONAL
from support.peer import OUTCOMES
from support.queues import Transactions, post, retire, with_store
from test_queue_clients import becomes, depth, send

_numbers = itertools.count(1)

SECTIONS = """
store {{
    path: {store}
    segmentBytes: 4194304
}}
queueTemplate {{
    pattern: queues/#
}}
queue {{
    address: small
    maxMessages: 2
    overflow: reject
}}
queue {{
    address: memory
    durable: no
}}
"""


@pytest.fixture(scope="module")
def router(tmp_path_factory):
    yield from with_store(tmp_path_factory.mktemp("transactions"), SECTIONS)


@pytest.fixture
def peer(router, connect):
    return connect(router)


@pytest.fixture
def queue():
    """A queue that no other test uses."""
    return f"queues/t{next(_numbers)}"


def settled(peer, *deliveries):
    peer.until(lambda: all(each.remote_state == TRANSACTIONAL for each in deliveries), "transactional outcomes")


@pytest.mark.parametrize("fail", [False, True])
def test_what_is_sent_is_there_only_after_the_commit(peer, queue, fail):
    transactions = Transactions(peer)
    transaction = transactions.declare()
    senders = [peer.sender(f"{queue}/{number}") for number in range(3)]
    posted = [post(sender, transaction, "x") for sender in senders]
    settled(peer, *posted)
    assert [depth(peer, f"{queue}/{number}") for number in range(3)] == [0, 0, 0]
    assert transactions.discharge(transaction, fail) == ("accepted", None)
    for number in range(3):
        becomes(peer, f"{queue}/{number}", 0 if fail else 1)


@pytest.mark.parametrize("settle", [False, True])
def test_what_is_accepted_is_gone_after_the_commit(peer, queue, settle):
    send(peer, queue, *range(5))
    receiver = peer.receiver(queue)
    transactions = Transactions(peer)
    transaction = transactions.declare()
    retired = [retire(receiver.next(), transaction, Delivery.ACCEPTED, settle) for _ in range(5)]
    transactions.peer.settle_down(0.1)
    assert depth(peer, queue) == 5
    assert transactions.discharge(transaction) == ("accepted", None)
    becomes(peer, queue, 0)
    if not settle:
        peer.until(lambda: all(each.delivery.settled for each in retired), "the queue's settlement")


@pytest.mark.parametrize("when", ["never", "at once", "later", "later without a state"])
def test_what_is_accepted_is_there_again_after_a_rollback(router, peer, queue, connect, when):
    send(peer, queue, *range(3))
    client = connect(router)
    receiver = client.receiver(queue)
    transactions = Transactions(client)
    transaction = transactions.declare()
    held = [retire(receiver.next(), transaction, Delivery.ACCEPTED, when == "at once") for _ in range(3)]
    client.settle_down(0.1)
    if when == "later":
        [each.delivery.settle() for each in held]
    elif when == "later without a state":
        for each in held:
            each.delivery.local.data = None
            each.delivery.settle()
    client.settle_down(0.1)
    assert transactions.discharge(transaction, True) == ("accepted", None)
    if when == "never":
        # They are still with their receiver, as they were.
        assert receiver.has_nothing()
        [each.release() for each in held]
        client.settle_down(0.1)
    # They are back with it, or come to it again.
    receiver.close()
    assert peer.receiver(queue).take(3) == [0, 1, 2]


@pytest.mark.parametrize("settle", [False, True])
@pytest.mark.parametrize("fail", [False, True])
def test_what_is_accepted_stays_so_when_its_receiver_closes_before_the_end(router, peer, queue, connect, settle, fail):
    send(peer, queue, "x")
    client = connect(router)
    receiver = client.receiver(queue)
    transactions = Transactions(client)
    transaction = transactions.declare()
    retire(receiver.next(), transaction, Delivery.ACCEPTED, settle)
    client.settle_down(0.1)
    receiver.close()
    other = peer.receiver(queue)
    assert other.has_nothing()
    assert transactions.discharge(transaction, fail) == ("accepted", None)
    if fail:
        assert other.take(1) == ["x"]
    becomes(peer, queue, 0)


def test_messages_move_between_queues_in_one_transaction(peer, queue):
    send(peer, queue, *range(10))
    receiver, sender = peer.receiver(queue, credit=0), peer.sender(f"{queue}/to")
    transactions = Transactions(peer)
    for number in range(10):
        transaction = transactions.declare()
        received = receiver.flow(1).next()
        settled(peer, post(sender, transaction, received.body))
        retire(received, transaction, Delivery.ACCEPTED)
        # Every third is not to be.
        if number % 3 == 2:
            assert transactions.discharge(transaction, True) == ("accepted", None)
            received.release()
            received = receiver.flow(1).next()
            assert received.body == number
            received.accept()
        else:
            assert transactions.discharge(transaction) == ("accepted", None)
    becomes(peer, queue, 0)
    assert peer.receiver(f"{queue}/to", credit=100).take(7) == [0, 1, 3, 4, 6, 7, 9]


@pytest.mark.parametrize("other", ["queues/other", "memory"])
def test_nothing_of_a_transaction_is_done_if_a_part_of_it_cannot_be(peer, other):
    transactions = Transactions(peer)
    transaction = transactions.declare()
    settled(peer, post(peer.sender(other), transaction, "x"))
    full = peer.sender("small")
    settled(peer, *(post(full, transaction, number) for number in range(3)))
    outcome, error = transactions.discharge(transaction)
    assert (outcome, error.name) == ("rejected", "amqp:transaction:rollback")
    assert depth(peer, other) == 0 and depth(peer, "small") == 0


@pytest.mark.parametrize("outcome", [Delivery.RELEASED, Delivery.MODIFIED, Delivery.REJECTED])
def test_each_outcome_can_be_part_of_a_transaction(peer, queue, outcome):
    send(peer, queue, "x")
    receiver = peer.receiver(queue, credit=1)
    transactions = Transactions(peer)
    transaction = transactions.declare()
    retire(receiver.next(), transaction, outcome)
    assert transactions.discharge(transaction) == ("accepted", None)
    if outcome == Delivery.REJECTED:
        becomes(peer, queue, 0)
    else:
        assert receiver.flow(1).next().body == "x", OUTCOMES[outcome]


def test_a_transaction_can_be_discharged_once(peer):
    transactions = Transactions(peer)
    transaction = transactions.declare()
    assert transactions.discharge(transaction)[0] == "accepted"
    for id in (transaction, b"", b"nonsense", bytes(16), bytes(70000)):
        outcome, error = transactions.discharge(id)
        assert (outcome, error.name) == ("rejected", "amqp:transaction:unknown-id")


def test_nobody_can_post_to_a_transaction_whose_name_he_was_not_told(router, peer, queue, connect):
    theirs = Transactions(connect(router))
    mine = Transactions(peer)
    transaction, known = theirs.declare(), mine.declare()
    near = []
    for step in (-2, -1, 1, 2):
        near.append(known[:8] + ((int.from_bytes(known[8:], "big") + step) % 2**64).to_bytes(8, "big"))
        near.append(((int.from_bytes(known[:8], "big") + step) % 2**64).to_bytes(8, "big") + known[8:])
    assert transaction not in near
    sender = peer.sender(queue)
    for guess in near:
        posted = post(sender, guess, "x")
        peer.until(lambda posted=posted: posted.settled, "an outcome")
        assert posted.remote_state == Delivery.REJECTED
        assert posted.remote.condition.name == "amqp:transaction:unknown-id"


def test_a_transaction_of_a_lost_client_is_rolled_back(router, peer, queue, connect):
    send(peer, queue, "held")
    client = connect(router)
    transactions = Transactions(client)
    transaction = transactions.declare()
    settled(client, post(client.sender(queue), transaction, "lost"))
    retire(client.receiver(queue).next(), transaction, Delivery.ACCEPTED)
    client.settle_down(0.1)
    client.disconnect()
    again = peer.receiver(queue).next()
    assert (again.body, again.message.delivery_count) == ("held", 1)
    becomes(peer, queue, 1)


@pytest.mark.parametrize("body", [None, "nonsense", 49, [], {}, Described(ulong(0x99), []), Described(ulong(DISCHARGE), [])])
def test_a_coordinator_refuses_what_it_does_not_know_and_goes_on(peer, body):
    transactions = Transactions(peer)
    sent = transactions.control.send(Message(body=body))
    assert sent.outcome() == "rejected"
    assert transactions.discharge(transactions.declare()) == ("accepted", None)


def test_many_transactions_of_one_client_are_open_at_once_up_to_a_limit(peer):
    transactions = Transactions(peer)
    opened = []
    with pytest.raises(AssertionError):
        for _ in range(2000):
            opened.append(transactions.declare())
    assert len(opened) >= 100
    for transaction in opened[:3]:
        assert transactions.discharge(transaction) == ("accepted", None)
    transactions.declare()


def test_large_messages_are_part_of_transactions(peer, queue):
    large = Message(body=b"x" * 3_000_000)
    transactions = Transactions(peer)
    sender, receiver = peer.sender(queue), peer.receiver(queue)
    for fail in (True, False):
        transaction = transactions.declare()
        settled(peer, post(sender, transaction, large))
        assert transactions.discharge(transaction, fail) == ("accepted", None)
    received = receiver.next()
    assert len(received.body) == 3_000_000
    transaction = transactions.declare()
    retire(received, transaction, Delivery.ACCEPTED)
    assert transactions.discharge(transaction) == ("accepted", None)
    becomes(peer, queue, 0)


def test_a_transaction_larger_than_a_segment_of_the_log_is_done_or_refused_and_nothing_else_stops(peer, queue):
    transactions = Transactions(peer)
    transaction = transactions.declare()
    sender = peer.sender(queue)
    settled(peer, *(post(sender, transaction, b"x" * 60_000) for _ in range(100)))
    outcome, error = transactions.discharge(transaction)
    assert outcome in ("accepted", "rejected"), error
    becomes(peer, queue, 100 if outcome == "accepted" else 0)
    send(peer, f"{queue}/other", "x")
