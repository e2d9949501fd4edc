"""Who may send, and when: credit, drain and flow control on both sides of the router."""

from proton import Message
from support.peer import SETTLED

CAPACITY = 250  # The default linkCapacity.


def test_a_sender_without_a_consumer_gets_no_credit(peer, address):
    sender = peer.sender(address)

    peer.settle_down()

    assert sender.link.credit == 0


def test_a_sender_gets_its_credit_when_a_consumer_comes(peer, address):
    sender = peer.sender(address)
    peer.receiver(address)

    sender.wait_for_credit(CAPACITY)

    assert sender.link.credit == CAPACITY


def test_an_anonymous_sender_gets_its_credit_at_once(peer):
    sender = peer.sender(None)

    sender.wait_for_credit(CAPACITY)

    assert sender.link.credit == CAPACITY


def test_settled_deliveries_are_made_up_for_in_credit(peer, address):
    receiver = peer.receiver(address, credit=300)
    sender = peer.sender(address)

    for number in range(300):
        sender.send(number)
        receiver.next().accept()

    sender.wait_for_credit(CAPACITY)


def test_presettled_deliveries_are_made_up_for_in_credit(peer, address):
    receiver = peer.receiver(address, credit=600)
    sender = peer.sender(address, snd_settle_mode=SETTLED)

    for number in range(600):
        sender.send(number, settled=True)
    receiver.take(600)

    sender.wait_for_credit(CAPACITY)


def test_rejected_and_released_deliveries_are_made_up_for_in_credit(peer, address):
    receiver = peer.receiver(address, credit=20)
    sender = peer.sender(address)

    sent = []
    for number in range(20):
        sent.append(sender.send(number))
        received = receiver.next()
        received.release() if number % 2 else received.reject("test:no")

    assert [delivery.outcome() for delivery in sent] == ["rejected", "released"] * 10
    sender.wait_for_credit(CAPACITY)


def test_when_the_last_consumer_has_left_the_sender_is_drained(peer, address):
    receiver = peer.receiver(address)
    sender = peer.sender(address).wait_for_credit(CAPACITY)
    receiver.close()

    assert sender.send_now("too late").outcome() == "released"

    peer.until(lambda: sender.link.drain_mode, "the request to drain")


def test_when_a_consumer_returns_traffic_resumes(peer, address):
    receiver = peer.receiver(address)
    sender = peer.sender(address).wait_for_credit(CAPACITY)
    receiver.close()
    sender.send_now("too late").outcome()
    peer.until(lambda: sender.link.drain_mode, "the request to drain")

    receiver = peer.receiver(address, credit=500, accepts=True)
    sender.wait_for_credit(CAPACITY)
    sent = [sender.send(number) for number in range(300)]

    assert receiver.take(300) == list(range(300))
    assert all(delivery.outcome() == "accepted" for delivery in sent)


def test_a_delivery_that_finds_no_consumer_is_released(peer, address):
    receiver = peer.receiver(address)
    sender = peer.sender(address).wait_for_credit(CAPACITY)
    receiver.close()

    sent = sender.send_now("too late")

    assert sent.outcome() == "released"


def test_a_presettled_delivery_on_an_anonymous_link_with_no_consumer_is_dropped_and_the_link_lives(peer, address):
    sender = peer.sender(None)
    sender.send(Message(address=address, body="lost"), settled=True)
    assert sender.send(Message(address=address, body="after it")).outcome() == "released"

    receiver = peer.receiver(address)
    sender.send(Message(address=address, body="kept"), settled=True)

    assert receiver.next().body == "kept"


def test_deliveries_wait_for_a_receiver_without_credit(peer, address):
    receiver = peer.receiver(address, credit=0)
    sender = peer.sender(address).wait_for_credit()
    sender.send("early")
    assert receiver.has_nothing()

    receiver.flow(1)

    assert receiver.next().accept().body == "early"


def test_no_more_arrives_than_there_is_credit_for(peer, address):
    receiver = peer.receiver(address, credit=3)
    sender = peer.sender(address)
    for number in range(10):
        sender.send(number)

    peer.settle_down()

    assert len(receiver.arrived) == 3


def test_a_drain_with_nothing_to_send_ends_at_once(peer, address):
    receiver = peer.receiver(address, credit=0)

    receiver.drain(10)

    assert receiver.link.credit == 0


def test_a_drain_delivers_what_there_is_and_then_ends(peer, address):
    receiver = peer.receiver(address, credit=0)
    sender = peer.sender(address).wait_for_credit()
    for number in range(4):
        sender.send(number)
    peer.settle_down()

    receiver.drain(10)

    assert receiver.take(4) == [0, 1, 2, 3]
    assert receiver.link.credit == 0


def test_after_a_drain_new_credit_works(peer, address):
    receiver = peer.receiver(address, credit=0)
    receiver.drain(10)
    sender = peer.sender(address)
    sender.send("after")

    receiver.link.drain_mode = False
    receiver.flow(1)

    assert receiver.next().accept().body == "after"


def test_a_slow_receiver_stops_its_own_sender_and_nobody_else(peer, address):
    peer.receiver(address + "/slow", credit=0)
    slow = peer.sender(address + "/slow")
    for _ in range(CAPACITY):
        slow.send("x" * 1000)
    peer.settle_down()
    assert slow.link.credit == 0

    quick = peer.receiver(address + "/quick", credit=300, accepts=True)
    sender = peer.sender(address + "/quick")
    for number in range(300):
        sender.send(number)

    assert quick.take(300) == list(range(300))


def test_presettled_deliveries_are_never_dropped_while_the_receiver_has_credit(peer, address):
    receiver = peer.receiver(address, credit=20000)
    sender = peer.sender(address, snd_settle_mode=SETTLED)

    for number in range(20000):
        sender.send(number, settled=True)

    assert receiver.take(20000) == list(range(20000))
