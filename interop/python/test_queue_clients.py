"""A router's own queues, as python-qpid-proton uses them: what an attach can ask for, every outcome, drains, browsers."""

import itertools

import pytest
from proton import Message, Terminus, symbol, ulong
from support.management import Management
from support.peer import RECEIVER_SECOND, SETTLED, UNSETTLED
from support.queues import (
    DELETE_ON_CLOSE, DELETE_ON_NO_LINKS, DELETE_ON_NO_LINKS_OR_MESSAGES, DELETE_ON_NO_MESSAGES, SELECTOR, browsing, capabilities, living, selector, surviving, with_store,
)

_numbers = itertools.count(1)

SECTIONS = """
store {{
    path: {store}
}}
queueTemplate {{
    pattern: queues/#
    deadLetterAddress: dead-letters
    deliveryLimit: 3
}}
queue {{
    address: dead-letters
}}
"""


@pytest.fixture(scope="module")
def router(tmp_path_factory):
    yield from with_store(tmp_path_factory.mktemp("queues"), SECTIONS)


@pytest.fixture
def peer(router, connect):
    return connect(router)


@pytest.fixture
def queue():
    """A queue that no other test uses."""
    return f"queues/{next(_numbers)}"


@pytest.fixture
def topic(peer):
    """A topic that no other test uses."""
    name = f"topic/{next(_numbers)}"
    assert Management(peer).create("topic", name, address=name).status == 201
    return name


def depth(peer, queue):
    """Messages in a queue, `None` if there is no such queue."""
    found = {each["address"]: each["depth"] for each in Management(peer).query("queue", "address", "depth")}
    return found.get(queue)


def becomes(peer, queue, wanted):
    peer.until(lambda: depth(peer, queue) == wanted, f"{wanted} messages in {queue}")


def send(peer, queue, *bodies):
    sender = peer.sender(queue)
    for body in bodies:
        assert sender.send(body).outcome() == "accepted"
    sender.close()


# === settlement


@pytest.mark.parametrize("snd", [None, SETTLED, UNSETTLED])
@pytest.mark.parametrize("rcv", [None, RECEIVER_SECOND])
def test_messages_come_in_order_in_every_settle_mode(peer, queue, snd, rcv):
    sender = peer.sender(queue, snd_settle_mode=snd)
    for number in range(30):
        sender.send(number, settled=snd == SETTLED)
    receiver = peer.receiver(queue, credit=30, snd_settle_mode=snd, rcv_settle_mode=rcv)
    got = [receiver.next() for _ in range(30)]
    assert [each.body for each in got] == list(range(30))
    assert {each.settled_by_sender for each in got} == {snd == SETTLED}
    if snd != SETTLED:
        for each in got:
            each.delivery.update(each.delivery.ACCEPTED)
            if rcv == RECEIVER_SECOND:
                # Who settles second is told that the queue knows.
                peer.until(lambda each=each: each.delivery.settled, "the queue's settlement")
            each.delivery.settle()
    becomes(peer, queue, 0)


# === outcomes


def test_a_released_message_comes_again_at_its_place_and_is_not_counted(peer, queue):
    send(peer, queue, *range(3))
    receiver = peer.receiver(queue, credit=1)
    receiver.next().release()
    receiver.flow(3)
    again = receiver.next()
    assert (again.body, again.message.delivery_count, again.message.first_acquirer) == (0, 0, False)
    again.accept()
    assert receiver.take(2) == [1, 2]


def test_a_failed_message_comes_again_is_counted_and_has_the_annotations(peer, queue):
    send(peer, queue, "x")
    receiver = peer.receiver(queue, credit=1)
    receiver.next().modify(failed=True, annotations={symbol("x-opt-why"): "torn"})
    again = receiver.flow(1).next()
    message = again.message
    assert (message.delivery_count, message.annotations) == (1, {symbol("x-opt-why"): "torn"})
    again.accept()


def test_a_message_undeliverable_here_goes_to_another_client(peer, queue, connect, router):
    send(peer, queue, "x")
    receiver = peer.receiver(queue, credit=10)
    receiver.next().modify(undeliverable=True)
    assert receiver.has_nothing()
    other = connect(router).receiver(queue)
    assert other.take(1) == ["x"]


def test_a_rejected_message_is_a_dead_letter_that_says_why(peer, queue):
    send(peer, queue, "x")
    peer.receiver(queue).next().reject("test:broken", "it is broken")
    dead = peer.receiver("dead-letters").next()
    annotations = dead.message.annotations
    assert annotations[symbol("x-opt-dead-letter-reason")] == "rejected"
    assert annotations[symbol("x-opt-dead-letter-origin")] == queue
    assert "it is broken" in annotations[symbol("x-opt-dead-letter-error")]
    dead.accept()


def test_a_message_that_fails_too_often_is_a_dead_letter(peer, queue):
    send(peer, queue, "x")
    receiver = peer.receiver(queue, credit=0)
    for count in range(3):
        failed = receiver.flow(1).next()
        assert failed.message.delivery_count == count
        failed.modify(failed=True)
    dead = peer.receiver("dead-letters").next()
    assert dead.message.annotations[symbol("x-opt-dead-letter-reason")] == "delivery-limit"
    dead.accept()


def test_what_a_lost_client_held_is_counted_and_comes_again(router, peer, queue, connect):
    send(peer, queue, *range(5))
    lost = connect(router)
    receiver = lost.receiver(queue, credit=3)
    [receiver.next() for _ in range(3)]
    lost.disconnect()
    again = peer.receiver(queue)
    got = [again.next() for _ in range(5)]
    assert [(each.body, each.message.delivery_count) for each in got] == [(0, 1), (1, 1), (2, 1), (3, 0), (4, 0)]
    [each.accept() for each in got]


def test_settling_without_a_state_means_accepted(peer, queue):
    send(peer, queue, "x")
    peer.receiver(queue).next().settle_without_state()
    becomes(peer, queue, 0)


# === credit


def test_a_drain_brings_what_there_is_and_gives_back_the_rest(peer, queue):
    send(peer, queue, *range(3))
    receiver = peer.receiver(queue, credit=0, accepts=True)
    receiver.drain(10)
    assert [each.body for each in receiver.arrived] == [0, 1, 2]
    assert receiver.link.credit == 0
    receiver.drain(10)
    send(peer, queue, 3)
    receiver.flow(1)
    peer.until(lambda: len(receiver.arrived) == 4, "the message after the drain")


def test_no_more_comes_than_there_is_credit_for(peer, queue):
    send(peer, queue, *range(10))
    receiver = peer.receiver(queue, credit=4)
    assert [receiver.next().body for _ in range(4)] == [0, 1, 2, 3]
    assert receiver.has_nothing()


# === browsers


def test_a_browser_sees_all_that_is_there_and_what_comes_and_takes_nothing(peer, queue):
    send(peer, queue, *range(3))
    browser = peer.receiver(queue, set_up=browsing, credit=100)
    assert browser.link.remote_source.distribution_mode == Terminus.DIST_MODE_COPY
    assert browser.take(3) == [0, 1, 2]
    send(peer, queue, 3)
    seen = browser.next()
    assert (seen.body, seen.message.delivery_count) == (3, 0)
    seen.reject()
    browser.close()
    receiver = peer.receiver(queue)
    assert receiver.link.remote_source.distribution_mode == Terminus.DIST_MODE_MOVE
    got = [receiver.next() for _ in range(4)]
    assert [(each.body, each.message.delivery_count) for each in got] == [(number, 0) for number in range(4)]


def test_a_browser_settled_by_the_sender_sees_messages_that_others_hold(peer, queue):
    send(peer, queue, *range(3))
    holder = peer.receiver(queue)
    held = [holder.next() for _ in range(3)]
    browser = peer.receiver(queue, set_up=browsing, snd_settle_mode=SETTLED)
    assert [browser.next().body for _ in range(3)] == [0, 1, 2]
    [each.accept() for each in held]
    becomes(peer, queue, 0)


# === filters


@pytest.mark.parametrize("descriptor", [symbol(SELECTOR), ulong(0x468C00000004)])
def test_a_selector_is_applied_and_echoed(peer, queue, descriptor):
    send(peer, queue, *(Message(body=number, properties={"n": number}) for number in range(6)))
    receiver = peer.receiver(queue, set_up=selector("n > 2 AND n <> 4", name="mine", descriptor=descriptor))
    assert receiver.take(2) == [3, 5]
    assert receiver.has_nothing()
    data = receiver.link.remote_source.filter
    data.rewind()
    assert data.next()
    echoed = data.get_object()
    assert list(echoed) == [symbol("mine")] and echoed[symbol("mine")].value == "n > 2 AND n <> 4"
    becomes(peer, queue, 4)


def test_a_filter_that_is_not_known_is_left_out_of_the_answer(peer, queue):
    send(peer, queue, "x")
    receiver = peer.receiver(queue, set_up=selector("whatever", descriptor=symbol("example.org:unknown:string")))
    data = receiver.link.remote_source.filter
    data.rewind()
    assert not data.next() or not data.get_object()
    assert receiver.take(1) == ["x"]


def test_a_selector_that_is_none_is_refused_and_says_where(peer, queue):
    send(peer, queue, "x")
    refusal = peer.receiver(queue, set_up=selector("n = ")).refusal()
    assert refusal.name == "amqp:invalid-field" and refusal.description
    assert peer.receiver(queue).take(1) == ["x"]


# === capabilities


def test_capabilities_that_there_are_are_answered(peer, queue):
    receiver = peer.receiver(queue, set_up=capabilities("queue", "example-unknown"))
    data = receiver.link.remote_source.capabilities
    data.rewind()
    assert data.next()
    found = data.get_object()
    names = [found] if isinstance(found, str) else list(getattr(found, "elements", found))
    assert names == ["queue"]


def test_a_queue_is_no_topic_and_a_topic_is_no_queue(peer, queue, topic):
    send(peer, queue, "x")
    assert peer.receiver(queue, set_up=capabilities("topic")).refusal().name == "amqp:precondition-failed"
    assert peer.receiver(topic, set_up=capabilities("queue")).refusal().name == "amqp:precondition-failed"


def test_an_exclusive_consumer_keeps_others_out(peer, queue):
    first = peer.receiver(queue, set_up=capabilities("exclusive"))
    assert peer.receiver(queue).refusal().name == "amqp:resource-locked"
    first.close()
    second = peer.receiver(queue)
    assert peer.receiver(queue, set_up=capabilities("exclusive")).refusal().name == "amqp:resource-locked"
    send(peer, queue, "x")
    assert second.take(1) == ["x"]


# === subscriptions


def test_each_subscription_of_a_topic_gets_a_copy(peer, topic):
    first, second = peer.receiver(topic), peer.receiver(topic)
    send(peer, topic, "x")
    assert first.take(1) == second.take(1) == ["x"]


def test_a_durable_subscription_goes_on_after_a_detach_and_ends_with_a_close(router, peer, topic, connect):
    def subscriber():
        client = connect(router)
        client.container.container_id = "subscriber"
        return client

    client = subscriber()
    connection = client.connect()
    receiver = client.receiver(topic, connection, name="mine", set_up=surviving)
    assert receiver.link.remote_source.durability == Terminus.DELIVERIES
    assert receiver.link.remote_source.expiry_policy == Terminus.EXPIRE_NEVER
    receiver.link.detach()
    client.settle_down(0.1)
    send(peer, topic, "meanwhile")
    receiver = client.receiver(topic, client.connect(), name="mine", set_up=surviving)
    assert receiver.take(1) == ["meanwhile"]
    receiver.close()
    send(peer, topic, "nobody's")
    receiver = client.receiver(topic, client.connect(), name="mine", set_up=surviving)
    assert receiver.has_nothing()
    receiver.close()


def test_a_shared_subscription_is_one_for_all_its_consumers(router, peer, topic, connect):
    ones = [
        connect(router).receiver(topic, name="together", set_up=capabilities("shared", "global"), accepts=True)
        for _ in range(2)
    ]
    [one.peer.settle_down(0.1) for one in ones]
    alone = peer.receiver(topic, credit=100)
    send(peer, topic, *range(10))
    assert alone.take(10) == list(range(10))

    def got():
        [one.peer.container.process() for one in ones]
        return sorted(each.body for one in ones for each in one.arrived)

    peer.until(lambda: len(got()) >= 10, "all of them")
    assert got() == list(range(10)) and all(one.arrived for one in ones)


def test_a_subscription_in_use_is_refused_to_who_wants_another_selector(router, peer, topic):
    def sharing(text):
        def set_up(link):
            capabilities("shared")(link)
            selector(text)(link)

        return set_up

    first = peer.receiver(topic, name="together", set_up=sharing("a = 1"))
    condition = peer.receiver(topic, name="together|2", set_up=sharing("a = 2")).refusal()
    assert condition.name == "amqp:resource-locked" and "another selector" in condition.description
    same = peer.receiver(topic, name="together|2", set_up=sharing("a = 1"), credit=0)
    send(peer, topic, Message(body="one", properties={"a": 1}), Message(body="two", properties={"a": 2}))
    assert first.take(1) == ["one"] and first.has_nothing()
    first.close()
    same.close()
    # Nobody uses it any more.
    receiver = peer.receiver(topic, name="together|2", set_up=sharing("a = 2"))
    send(peer, topic, Message(body="two", properties={"a": 2}))
    assert receiver.take(1) == ["two"]


def test_a_topic_that_was_just_made_takes_messages_that_name_it(peer, topic):
    receiver = peer.receiver(topic)
    assert peer.sender(None).send(Message(address=topic, body="x")).outcome() == "accepted"
    assert receiver.take(1) == ["x"]


# === dynamic nodes


def dynamic(peer, lifetime):
    receiver = peer.receiver(None, set_up=living(lifetime))
    assert receiver.address and receiver.link.remote_source.dynamic
    return receiver


def test_a_dynamic_queue_keeps_messages_and_goes_with_its_link(router, peer, connect):
    receiver = dynamic(peer, DELETE_ON_CLOSE)
    address = receiver.address
    other = connect(router)
    send(other, address, "x", "y")
    assert receiver.take(1) == ["x"]
    receiver.close()
    peer.until(lambda: depth(peer, address) is None, "the end of the queue")


def test_a_dynamic_queue_lives_as_long_as_it_has_links(router, peer, connect):
    receiver = dynamic(peer, DELETE_ON_NO_LINKS)
    address = receiver.address
    sender = connect(router).sender(address)
    sender.send("x").outcome()
    receiver.close()
    assert depth(peer, address) == 1
    sender.close()
    peer.until(lambda: depth(peer, address) is None, "the end of the queue")


def test_a_dynamic_queue_lives_as_long_as_it_has_messages(peer):
    receiver = dynamic(peer, DELETE_ON_NO_MESSAGES)
    address = receiver.address
    send(peer, address, "x")
    receiver.next().accept()
    peer.until(lambda: depth(peer, address) is None, "the end of the queue")


def test_a_dynamic_queue_lives_as_long_as_it_has_links_or_messages(peer):
    receiver = dynamic(peer, DELETE_ON_NO_LINKS_OR_MESSAGES)
    address = receiver.address
    send(peer, address, "x")
    receiver.next().release()
    receiver.close()
    assert depth(peer, address) == 1
    receiver = peer.receiver(address)
    assert receiver.take(1) == ["x"]
    receiver.close()
    peer.until(lambda: depth(peer, address) is None, "the end of the queue")
