"""Outcomes and settlement travel from the receiver to the sender, whole, in every settle mode."""

import pytest
from proton import symbol
from support.peer import MIXED, RECEIVER_FIRST, RECEIVER_SECOND, SETTLED, UNSETTLED


@pytest.mark.parametrize("receiver_settles", [RECEIVER_FIRST, RECEIVER_SECOND])
@pytest.mark.parametrize("sender_settles", [UNSETTLED, MIXED])
@pytest.mark.parametrize("outcome", ["accepted", "released", "rejected", "modified"])
def test_each_outcome_reaches_the_sender(peer, address, outcome, sender_settles, receiver_settles):
    receiver = peer.receiver(address, snd_settle_mode=sender_settles, rcv_settle_mode=receiver_settles)
    sender = peer.sender(address, snd_settle_mode=sender_settles, rcv_settle_mode=receiver_settles)

    sent = sender.send("x")
    received = receiver.next()
    {"accepted": received.accept, "released": received.release, "rejected": received.reject, "modified": received.modify}[
        outcome
    ]()

    assert sent.outcome() == outcome


def test_an_unsettled_delivery_is_not_settled_before_the_receiver_settles_it(peer, address):
    receiver = peer.receiver(address)
    sent = peer.sender(address).send("x")

    receiver.next()
    peer.settle_down()

    assert not sent.delivery.settled


def test_a_settled_delivery_arrives_settled(peer, address):
    receiver = peer.receiver(address)
    peer.sender(address).send("x", settled=True)

    assert receiver.next().settled_by_sender


def test_a_sender_that_settles_everything_needs_no_outcome(peer, address):
    receiver = peer.receiver(address, snd_settle_mode=SETTLED)
    sender = peer.sender(address, snd_settle_mode=SETTLED)

    for number in range(20):
        sender.send(number, settled=True)
        assert receiver.next().body == number
        receiver.flow(1)


def test_a_receiver_that_wants_all_settled_gets_unsettled_deliveries_settled(peer, address):
    receiver = peer.receiver(address, snd_settle_mode=SETTLED)
    sent = peer.sender(address, snd_settle_mode=UNSETTLED).send("x")

    assert receiver.next().settled_by_sender
    assert sent.outcome() == "accepted"


def test_a_rejection_keeps_its_error(peer, address):
    receiver = peer.receiver(address)
    sent = peer.sender(address).send("x")

    receiver.next().reject("test:broken", "it is broken", {symbol("part"): "engine"})

    assert sent.outcome() == "rejected"
    condition = sent.remote.condition
    assert (condition.name, condition.description) == ("test:broken", "it is broken")
    assert condition.info == {symbol("part"): "engine"}


def test_modified_keeps_all_its_fields(peer, address):
    receiver = peer.receiver(address)
    sent = peer.sender(address).send("x")

    receiver.next().modify(failed=True, undeliverable=True, annotations={symbol("x-opt-why"): "busy"})

    assert sent.outcome() == "modified"
    remote = sent.remote
    assert (remote.failed, remote.undeliverable, remote.annotations) == (True, True, {symbol("x-opt-why"): "busy"})


def test_settlement_without_a_state_reaches_the_sender(peer, address):
    receiver = peer.receiver(address)
    sent = peer.sender(address).send("x")

    receiver.next().settle_without_state()

    assert sent.outcome() == "none"


def test_outcomes_in_any_order_reach_the_right_deliveries(peer, address):
    receiver = peer.receiver(address, credit=6)
    sender = peer.sender(address)
    sent = [sender.send(number) for number in range(6)]
    received = {delivery.body: delivery for delivery in (receiver.next() for _ in range(6))}

    for number in (4, 1, 5):
        received[number].release()
    for number in (0, 3, 2):
        received[number].accept()

    assert [delivery.outcome() for delivery in sent] == [
        "accepted", "released", "accepted", "accepted", "released", "released",
    ]


def test_a_sender_may_settle_first(peer, address):
    receiver = peer.receiver(address)
    sent = peer.sender(address).send("x")
    received = receiver.next()

    sent.delivery.settle()

    peer.until(lambda: received.delivery.settled, "the sender's settlement at the receiver")


def test_multicast_reports_the_gravest_outcome(peer, address):
    first, second = peer.receiver("multicast/" + address), peer.receiver("multicast/" + address)
    sent = peer.sender("multicast/" + address).send("x")

    first.next().accept()
    second.next().reject("test:broken")

    assert sent.outcome() == "rejected"
