"""What users of other brokers reported, and what is right with a router's own queues. Each test names its reports."""

import itertools
import time

import pytest
from proton import Message, symbol
from support.management import Management
from support.network import Network
from support.queues import DELETE_ON_CLOSE, browsing, capabilities, living, selector, with_store
from support.router import wait_until
from support.wire import (
    ACCEPTED, ATTACH, DETACH, DISPOSITION, END, FLOW, REJECTED, RELEASED, SOURCE, TARGET, TRANSFER, Described, Symbol,
    Uint, Wire, data_section, performative,
)
from test_queue_clients import becomes, depth, send

_numbers = itertools.count(1)

SECTIONS = """
store {{
    path: {store}
    segmentBytes: 4194304
}}
queueTemplate {{
    pattern: queues/#
    deadLetterAddress: dead-letters
    expiryAddress: expired
}}
queue {{
    address: dead-letters
}}
queue {{
    address: expired
}}
queue {{
    address: rejecting
    maxMessages: 1
    overflow: reject
}}
queue {{
    address: holding
    maxMessages: 1
}}
queue {{
    address: telling
    maxMessages: 2
    overflow: reject
}}
topic {{
    address: news
}}
"""


@pytest.fixture(scope="module")
def router(tmp_path_factory):
    yield from with_store(tmp_path_factory.mktemp("faults"), SECTIONS)


@pytest.fixture
def start_stored(start_router, tmp_path):
    """Starts routers with the same queues, for tests that end them."""

    def start(**settings):
        return start_router(sections=SECTIONS.format(store=tmp_path / "store"), **settings)

    return start


@pytest.fixture
def peer(router, connect):
    return connect(router)


@pytest.fixture
def queue():
    """A queue that no other test uses."""
    return f"queues/f{next(_numbers)}"


@pytest.fixture
def wire(router):
    """A socket to the router, with a session."""
    with Wire(router.port) as wire:
        wire.open()
        wire.begin()
        yield wire


def consumers(peer, queue):
    found = {each["address"]: each["consumers"] for each in Management(peer).query("queue", "address", "consumers")}
    return found.get(queue)


def delete(peer, queue):
    """Deletes a queue whatever is in it."""
    assert Management(peer).delete("queue", name=queue, force=True).status == 204


def take_one(peer, queue):
    receiver = peer.receiver(queue, credit=1)
    receiver.take(1)
    receiver.close()
    becomes(peer, queue, 0)


def manage(peer, queue, operation, **body):
    """Has a queue do something with its messages: with how many it did, and how many it left to their consumers."""
    reply = Management(peer).ask(operation, body, type="org.apache.qpid.dispatch.queue", name=queue)
    assert reply.status == 200, reply.description
    return reply.body["messages"], reply.body["held"]


@pytest.mark.parametrize("which", [{}, {"selector": "JMSPriority = 4"}], ids=["all", "selected"])
def test_messages_that_a_consumer_holds_are_not_moved_so_that_nobody_has_them_twice(peer, queue, which):
    send(peer, queue, *range(5))
    send(peer, queue + "/other", "x")
    receiver = peer.receiver(queue, credit=2)
    held = [receiver.next() for _ in range(2)]
    assert manage(peer, queue, "MOVE", to=queue + "/other", count=2, **which) == (2, 2)
    assert manage(peer, queue, "PURGE", **which) == (1, 2)
    for received in held:
        received.accept()
    becomes(peer, queue, 0)
    assert peer.receiver(queue + "/other").take(3) == ["x", 2, 3]


@pytest.mark.parametrize(
    "payload",
    [b"\x00\x53\x77\xa1\x05x", b"\x00\x53\x77\xa1\x01x\x00\x53\x70\x45", b"\xff\x80\x01\x37\x00x", b"\xff"],
    ids=["cut-short", "header-behind-the-body", "like-another-format", "one-byte"],
)
def test_what_is_no_message_is_rejected_and_does_not_wait_for_a_consumer(wire, peer, queue, payload):
    # DISPATCH-1394, DISPATCH-2309
    wire.sender(queue)
    wire.transfer(0, 0, payload)
    outcome = wire.expect(DISPOSITION).field(4)
    assert outcome[0] == REJECTED and outcome[1][0][1][0] == "amqp:decode-error"
    assert depth(peer, queue) == 0


# === Qpid C++


def test_browsers_pile_nothing_up(peer, queue):
    # QPID-8226
    send(peer, queue, *range(50))
    browser = peer.receiver(queue, set_up=browsing, credit=1000)
    for _ in range(50):
        browser.next()
    send(peer, queue, "more")
    assert browser.next().body == "more"
    receiver = peer.receiver(queue, credit=100)
    assert len(receiver.take(51)) == 51
    becomes(peer, queue, 0)


def test_messages_of_many_frames_are_as_they_were_sent(peer, queue):
    # QPID-5457
    for size in (0, 1, 16_384, 200_000, 3_000_000):
        body = bytes(index % 251 for index in range(min(size, 1000))) * max(1, size // 1000)
        send(peer, queue, Message(body=body))
        assert peer.receiver(queue, credit=1).next().accept().body == body


def test_a_subscription_needs_no_filter_and_a_selector_is_its_own(peer):
    # QPID-4675, QPID-4706
    everything = peer.receiver("news")
    some = peer.receiver("news", set_up=selector("n > 1"))
    send(peer, "news", *(Message(body=n, properties={"n": n}) for n in range(4)))
    assert everything.take(4) == [0, 1, 2, 3]
    assert some.take(2) == [2, 3]


def test_a_deleted_queue_is_listed_no_more_at_once(peer, queue):
    # QPID-8248
    peer.sender(queue).wait_for_credit()
    assert depth(peer, queue) == 0
    delete(peer, queue)
    assert depth(peer, queue) is None


def test_an_exclusive_queue_is_refused_without_a_side_effect(peer, queue):
    # QPID-5061, QPID-5279
    send(peer, queue, "x")
    first = peer.receiver(queue, credit=0, set_up=capabilities("exclusive"))
    for _ in range(3):
        assert peer.receiver(queue).refusal().name == "amqp:resource-locked"
    assert consumers(peer, queue) == 1
    assert first.flow(1).take(1) == ["x"]


def test_an_expired_large_message_leaves_no_file(start_stored, connect, queue):
    # QPID-5485, QPID-5486, QPID-5312, QPID-5498; ARTEMIS-4564
    router = start_stored()
    large = router.folder.parent / "store/large"
    send(connect(router), queue, Message(body=b"x" * 3_000_000, ttl=2))
    assert len(list(large.iterdir())) == 1
    router.kill()
    router.start()
    peer = connect(router)
    becomes(peer, queue, 0)
    expired = peer.receiver("expired", credit=1).next()
    assert len(expired.body) == 3_000_000
    assert expired.message.annotations[symbol("x-opt-dead-letter-reason")] == "expired"
    expired.accept()
    becomes(peer, "expired", 0)
    wait_until(lambda: not list(large.iterdir()), "the file's end")


def test_one_old_message_does_not_use_up_the_log(start_stored, connect, queue):
    # QPID-5121
    router = start_stored()
    peer = connect(router)
    send(peer, f"{queue}/old", "old")
    sender, receiver = peer.sender(queue), peer.receiver(queue, credit=10_000, accepts=True)
    for round in range(4):
        sent = [sender.send(Message(body=b"x" * 10_000)) for _ in range(1000)]
        peer.until(lambda: all(each.delivery.settled for each in sent), "the outcomes", 60)
        peer.until(lambda: len(receiver.arrived) == 1000 * (round + 1), "the messages", 60)
    assert peer.receiver(f"{queue}/old").take(1) == ["old"]


# === Artemis


def test_a_consumer_whose_client_fell_silent_is_gone_and_its_messages_are_free(start_stored, connect, queue):
    # ARTEMIS-4476
    router = start_stored(listener="idleTimeoutSeconds: 1")
    with Wire(router.port) as silent:
        silent.open()
        silent.begin()
        silent.attach_sender(queue, 0)
        silent.expect(FLOW)
        silent.transfer(0, 0, data_section(b"x"))
        silent.expect(DISPOSITION)
        silent.attach_receiver(queue, 1, credit=10)
        silent.expect(TRANSFER)
        # From here on nothing is said, and the socket stays.
        peer = connect(router, heartbeat=1)
        assert peer.receiver(queue).next().message.delivery_count == 1


def test_an_anonymous_sender_is_not_held_up_by_one_full_queue(peer, queue):
    # ARTEMIS-3065, ARTEMIS-1732, ARTEMIS-5002
    send(peer, "rejecting", "full")
    send(peer, queue, "first")
    sender = peer.sender(None)
    for number in range(20):
        assert sender.send(Message(address="rejecting", body=number)).outcome() in ("rejected", "released")
        assert sender.send(Message(address=queue, body=number)).outcome() == "accepted"
    take_one(peer, "rejecting")
    assert sender.send(Message(address="rejecting", body="room")).outcome() == "accepted"
    take_one(peer, "rejecting")


@pytest.mark.parametrize("size", [10, 3_000_000])
def test_what_a_sender_without_an_address_has_for_a_full_queue_does_not_keep_its_client_from_emptying_it(peer, size):
    receiver = peer.receiver("holding", credit=0)
    sender = peer.sender(None)
    messages = [Message(address="holding", body=bytes([65 + number]) * size) for number in range(4)]
    sent = [sender.send_now(message) for message in messages]
    assert sent[0].outcome() == "accepted"
    assert [receiver.flow(1).next().accept().body[0] for _ in sent] == [65, 66, 67, 68]
    assert [each.outcome() for each in sent[1:]] == ["accepted"] * 3


def test_credit_comes_back_after_every_outcome(peer):
    # ARTEMIS-1898
    send(peer, "rejecting", "full")
    sender = peer.sender("rejecting")
    # More than any credit given at once.
    outcomes = {sender.send(number).outcome() for number in range(3000)}
    assert outcomes == {"rejected"}
    take_one(peer, "rejecting")


def test_senders_to_a_full_queue_are_held_back_and_go_on_when_there_is_room(peer):
    # ARTEMIS-5645, ARTEMIS-2494
    sender = peer.sender("holding")
    receiver = peer.receiver("holding", credit=0)
    for number in range(20):
        assert sender.send(number).outcome() == "accepted"
        peer.settle_down(0.02)
        assert sender.link.credit == 0
        assert receiver.flow(1).take(1) == [number]
    sender.close()


def test_the_log_says_once_that_a_queue_is_full_and_that_it_has_room_again(router, peer):
    def said(text):
        return [line for line in router.log().splitlines() if f"The queue 'telling' {text}" in line]

    for _ in range(3):
        send(peer, "telling", 1, 2)
        assert peer.sender("telling").send(3).outcome() == "rejected"
        full = {each["address"]: each["full"] for each in Management(peer).query("queue", "address", "full")}
        assert full["telling"] is True and full["holding"] is False
        receiver = peer.receiver("telling", accepts=True)
        receiver.take(2)
        receiver.close()
        becomes(peer, "telling", 0)
    (full,) = said("is full")
    assert "(warning)" in full and "maxMessages is 2" in full and "rejected" in full
    (room,) = said("has room again")
    assert "(notice)" in room


def test_an_aborted_message_is_none(wire, peer, queue):
    # ARTEMIS-2027, ARTEMIS-2712
    credit = end = wire.sender(queue)
    for number in range(credit + 10):
        while number >= end:
            flow = wire.expect(FLOW)
            end = flow.field(5) + flow.field(6)
        wire.transfer(0, number, data_section(b"x")[:4], more=True)
        wire.transfer(0, number, b"", aborted=True)
    wire.transfer(0, credit + 10, data_section(b"whole"))
    answer = wire.expect(DISPOSITION)
    assert (answer.field(1), answer.field(4)[0]) == (credit + 10, ACCEPTED)
    assert peer.receiver(queue).take(1) == [b"whole"]


def test_dead_letters_and_expired_messages_keep_their_body_and_say_where_they_come_from(peer, queue):
    # ARTEMIS-3024, ARTEMIS-3019
    message = Message(body={"a": [1, "two"]}, properties={"colour": "red"}, subject="kept", ttl=0.2)
    send(peer, queue, message)
    expired = peer.receiver("expired").next()
    expired.reject()
    found = expired.message
    assert (found.body, found.properties, found.subject) == ({"a": [1, "two"]}, {"colour": "red"}, "kept")
    assert found.annotations[symbol("x-opt-ORIG-QUEUE")] == queue
    assert found.annotations[symbol("x-opt-ORIG-ADDRESS")] == queue


def test_the_first_attach_does_not_decide_what_an_address_is(peer, queue):
    # ARTEMIS-1576, ARTEMIS-2100, ARTEMIS-1352
    assert peer.receiver("news", set_up=capabilities("queue")).refusal().name == "amqp:precondition-failed"
    both = [peer.receiver("news", set_up=capabilities("topic")) for _ in range(2)]
    send(peer, "news", "x")
    assert [each.take(1) for each in both] == [["x"], ["x"]]


def test_a_queue_made_for_a_message_is_there_with_it_after_a_kill(start_stored, connect, queue):
    # ARTEMIS-5601
    router = start_stored()
    for number in range(5):
        peer = connect(router)
        assert peer.sender(f"{queue}/{number}").send(number).outcome() == "accepted"
        router.kill()
        router.start()
    peer = connect(router)
    for number in range(5):
        assert peer.receiver(f"{queue}/{number}").take(1) == [number]


# === others


def test_a_queue_deleted_under_its_links_says_so(peer, queue):
    # rabbitmq-server#12817
    send(peer, queue, "x")
    sender, receiver = peer.sender(queue), peer.receiver(queue)
    receiver.next()
    delete(peer, queue)
    assert sender.refusal().name == receiver.refusal().name == "amqp:resource-deleted"
    # The address can be used again.
    send(peer, queue, "new")
    assert peer.receiver(queue).take(1) == ["new"]


def test_a_link_can_be_closed_and_attached_again_by_the_same_name(wire, peer, queue):
    # rabbitmq-server#2589
    send(peer, queue, *range(20))
    for number in range(20):
        wire.attach_receiver(queue, 0, name="again", credit=1)
        delivery = wire.expect(TRANSFER)
        wire.send(performative(DISPOSITION, True, Uint(delivery.field(1)), None, True, Described(ACCEPTED)))
        wire.send(performative(DETACH, Uint(0), number % 2 == 0))
        wire.expect(DETACH)
    becomes(peer, queue, 0)


def test_who_sends_without_credit_is_detached_and_nothing_of_it_is_kept(wire, peer):
    # rabbitmq-server#9870, rabbitmq-server#4832
    wire.attach_sender("holding", 0)
    assert wire.expect(FLOW).field(6) == 1
    for number in range(5):
        wire.transfer(0, number, data_section(b"x"))
    error = wire.expect(DETACH).error(2)
    assert error[0] == "amqp:link:transfer-limit-exceeded"
    assert depth(peer, "holding") <= 1
    receiver = peer.receiver("holding", accepts=True)
    receiver.has_nothing()
    receiver.close()
    becomes(peer, "holding", 0)


def test_after_the_end_of_a_session_nothing_comes_on_its_channel(router, peer, queue):
    # amqpnetlite#159
    send(peer, queue, *range(100))
    with Wire(router.port) as socket:
        socket.open()
        for _ in range(5):
            socket.begin()
            socket.attach_receiver(queue, 0, credit=100)
            socket.expect(TRANSFER)
            socket.send(performative(END))
            while socket.frame().descriptor != END:
                pass
            time.sleep(0.05)
            assert list(socket.frames_there()) == []
    becomes(peer, queue, 100)


def test_a_refused_link_is_attached_without_a_terminus_and_then_detached(wire):
    # ntex-amqp#24
    wire.send(
        performative(
            ATTACH, "none", Uint(0), True, None, None, Described(SOURCE, "news", None, None, None, None, None, None, None,
            None, None, Symbol("queue")), Described(TARGET, "wire"),
        )
    )
    answer = wire.expect(ATTACH)
    assert answer.field(5) is None
    end = wire.frame()
    assert (end.descriptor, end.error(2)[0]) == (DETACH, "amqp:precondition-failed")


def test_a_link_that_is_to_be_resumed_is_attached_anew_or_refused_with_a_reason(wire, peer, queue):
    # fe2o3-amqp#201
    send(peer, queue, "x")
    source, target = Described(SOURCE, queue), Described(TARGET, "wire")
    unsettled = {b"tag": Described(ACCEPTED)}
    wire.send(performative(ATTACH, "resumed", Uint(0), True, None, None, source, target, unsettled))
    answer = wire.expect(ATTACH)
    if answer.field(5) is None:
        assert wire.expect(DETACH).error(2)
    else:
        wire.flow(0, 1)
        assert wire.expect(TRANSFER).payload


@pytest.mark.parametrize("outcome, left", [(ACCEPTED, 0), (RELEASED, 1)])
def test_a_settlement_without_a_state_is_the_default_outcome(wire, peer, queue, outcome, left):
    # QPID-5170
    send(peer, queue, "x")
    source = Described(SOURCE, queue, None, None, None, None, None, None, None, Described(outcome))
    wire.send(performative(ATTACH, "default", Uint(0), True, None, None, source, Described(TARGET, "wire")))
    wire.expect(ATTACH)
    wire.flow(0, 1)
    delivery = wire.expect(TRANSFER)
    wire.send(performative(DISPOSITION, True, Uint(delivery.field(1)), None, True))
    wire.send(performative(DETACH, Uint(0), True))
    wire.expect(DETACH)
    becomes(peer, queue, left)


def test_a_dynamic_queue_is_reached_from_other_routers(tmp_path):
    # QPID-4880
    network = Network(tmp_path, "line", "nnn", sections={0: SECTIONS.format(store=tmp_path / "store")})
    try:
        receiver = network.connect(0).receiver(None, set_up=living(DELETE_ON_CLOSE))
        assert receiver.address
        sender = network.connect(2).sender(receiver.address)
        network.until(lambda: sender.link.credit > 0, "credit")
        sender.send_now("from afar")
        network.until(lambda: receiver.arrived, "the message")
    finally:
        network.stop()
