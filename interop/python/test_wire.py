"""Bytes that no client library sends: the router answers with the right error, keeps its limits, and serves the others."""

import random

import pytest
from support import wire
from support.wire import (
    AMQP, ATTACH, BEGIN, CLOSE, DETACH, DISPOSITION, END, FLOW, OPEN, SASL, TRANSFER, Described, Symbol, Uint, Wire,
)


@pytest.fixture
def dial(router):
    """Opens sockets to the shared router; afterwards it must still serve."""
    wires = []

    def dial(**options):
        wires.append(Wire(router.port, **options))
        return wires[-1]

    yield dial
    for each in wires:
        each.socket.close()
    assert router.is_running(), router.told()
    with Wire(router.port) as other:
        assert other.open().descriptor == OPEN


@pytest.fixture
def session(dial):
    """A socket with a session on channel 0."""
    socket = dial()
    socket.open()
    socket.begin()
    return socket


# === protocol headers


def test_the_header_may_come_byte_by_byte(dial):
    socket = dial()
    for byte in AMQP:
        socket.send(bytes([byte]))

    assert socket.take(8) == AMQP


def test_header_and_open_may_come_in_any_split(dial):
    data = AMQP + wire.performative_open("split")
    for cut in range(1, len(data)):
        with dial() as socket:
            socket.send(data[:cut])
            socket.send(data[cut:])
            assert socket.take(8) == AMQP
            assert socket.frame().descriptor == OPEN


def test_an_unknown_protocol_is_answered_with_the_one_spoken_here(dial):
    socket = dial().send(b"AMQP\x00\x09\x01\x00")

    assert socket.take(8) in (AMQP, SASL)
    assert socket.is_closed()


def test_something_else_altogether_is_dropped(dial):
    assert dial().send(b"GET / HTTP/1.1\r\nHost: here\r\n\r\n").is_closed()


def test_sasl_anonymous_by_hand(dial):
    socket = dial().send(SASL)
    assert socket.take(8) == SASL
    assert socket.frame().descriptor == 0x40
    socket.send(wire.frame(wire.encode(Described(0x41, Symbol("ANONYMOUS"), b"me")), kind=1))
    outcome = socket.frame()
    assert (outcome.descriptor, outcome.field(0)) == (0x44, 0)

    assert socket.open().descriptor == OPEN


def test_a_mechanism_that_was_not_offered_is_refused(dial):
    socket = dial().send(SASL)
    assert socket.take(8) == SASL
    socket.frame()
    socket.send(wire.frame(wire.encode(Described(0x41, Symbol("SCRAM-SHA-512"), b"x")), kind=1))

    assert socket.frame().field(0) != 0
    assert socket.is_closed()


# === frames


@pytest.mark.parametrize(
    "data",
    [
        wire.frame(b"", size=4),
        wire.frame(b"", size=0xFFFFFFFF),
        wire.frame(b"", size=1 << 20),
        wire.frame(b"\x00\x53\x10\x45", doff=1, size=12),
        wire.frame(b"\x00\x53\x10\x45", doff=255, size=12),
        wire.frame(b"\x00\x53\x10\x45", kind=7),
        wire.frame(b"\x01\x02\x03"),
        wire.frame(b"\x00\x53\x99\x45"),
        wire.frame(b"\x00\x53\x10\xd0\xff\xff\xff\xff\xff\xff\xff\xff"),
        wire.frame(b"\x00\x53\x10\xc0\x02\x40"),
        wire.frame(b"\x00" * 200),
        wire.frame(b"\x00\x53\x10\xc0\x05\x02\x40\x40\x40"),
        wire.frame(b"\x00\x53\x10\x45"),
    ],
    ids=[
        "size below eight", "size of 4 GiB", "size beyond the frame size", "doff of one", "doff beyond the size",
        "unknown type", "not a described value", "unknown performative", "list of 4 GiB", "list cut short", "descriptors for ever",
        "open without a container-id", "open without fields",
    ],
)
def test_a_broken_frame_ends_its_connection_only(dial, data):
    socket = dial().send(AMQP)
    assert socket.take(8) == AMQP

    socket.send(data + bytes(64))

    assert socket.is_closed()


def test_nesting_without_end_ends_the_connection(session):
    deep = b"\x00\x53\x77"
    for _ in range(5000):
        deep = b"\x00\x53\x01" + deep
    session.send(wire.frame(deep[:16000]))

    assert session.is_closed()


def test_noise_never_harms_the_router(dial):
    noise = random.Random(1)
    for _ in range(50):
        socket = dial()
        try:
            socket.send(AMQP + wire.performative_open("noise"))
            for _ in range(20):
                socket.send(wire.frame(noise.randbytes(noise.randrange(200)), channel=noise.randrange(3)))
        except OSError:
            pass  # Dropped already.


def test_half_an_open_and_then_nothing_disturbs_nobody(dial, peer, address):
    dial().send(AMQP + wire.performative_open("half")[:10])
    dial().send(AMQP[:3])

    receiver = peer.receiver(address)
    peer.sender(address).send("x")

    assert receiver.next().body == "x"


def test_half_open_connections_are_dropped_in_time(start_router):
    router = start_router(listener="initialHandshakeTimeoutSeconds: 1")

    with Wire(router.port) as silent, Wire(router.port) as half:
        half.send(AMQP)
        assert silent.is_closed()
        assert half.is_closed()


def test_a_late_open_is_told_so(start_router):
    router = start_router(listener="initialHandshakeTimeoutSeconds: 1")

    with Wire(router.port) as socket:
        socket.send(AMQP)
        assert socket.take(8) == AMQP
        assert socket.expect(CLOSE).error() == ("amqp:not-allowed", "Timeout waiting for initial handshake")


def test_a_client_that_falls_silent_is_dropped(start_router):
    router = start_router(listener="idleTimeoutSeconds: 2")

    with Wire(router.port) as socket:
        assert socket.open().field(4) == 1000
        assert socket.expect(CLOSE).error()[0] == "amqp:resource-limit-exceeded"
        assert socket.is_closed()


def test_the_router_keeps_a_client_with_a_short_idle_time_out_alive(dial):
    socket = dial()
    socket.open(idle_time_out=400)

    beats = [socket.take(8) for _ in range(3)]

    assert beats == [wire.frame(b"")] * 3


# === open, begin, attach


def test_the_open_says_who_the_router_is(dial, router):
    answer = dial().open()

    assert answer.field(0) == router.id
    properties = answer.field(9)
    assert properties["product"] == "qpid-dispatch-router"
    assert isinstance(properties["qd.conn-id"], int)


def test_limits_are_announced(start_router):
    router = start_router(listener="maxFrameSize: 2048\n    maxSessions: 10\n    maxSessionFrames: 100")

    with Wire(router.port) as socket:
        answer = socket.open()
        assert (answer.field(2), answer.field(3)) == (2048, 9)
        assert socket.begin().field(2) == 100


def test_a_channel_beyond_the_maximum_ends_the_connection(start_router):
    router = start_router(listener="maxSessions: 2")

    with Wire(router.port) as socket:
        socket.open()
        socket.begin(0)
        socket.begin(1)
        socket.send(wire.performative(BEGIN, None, Uint(0), Uint(100), Uint(100), channel=2))
        assert socket.expect(CLOSE).error() is not None


def test_a_frame_for_a_session_that_does_not_exist_ends_the_connection(dial):
    socket = dial()
    socket.open()

    socket.send(wire.performative(FLOW, Uint(0), Uint(1), Uint(0), Uint(1), channel=7))

    assert socket.expect(CLOSE).error() is not None
    assert socket.is_closed()


def test_a_transfer_on_a_handle_that_is_not_attached_is_an_error_of_its_session_at_most(session):
    session.transfer(99, 0, b"x")

    assert session.frame().descriptor in (END, CLOSE)


def test_a_handle_in_use_cannot_be_attached_again(session, address):
    session.attach_sender(address, 0, name="one")

    session.send(
        wire.performative(ATTACH, "two", Uint(0), False, None, None, Described(0x28, "s"), Described(0x29, address), None, None, Uint(0))
    )

    answer = session.frame()
    while answer.descriptor == FLOW:
        answer = session.frame()
    assert answer.descriptor in (END, CLOSE)


def test_more_transfers_than_credit_detach_the_link_or_end_the_session(session, address):
    session.attach_sender(address)  # No consumer, so no credit.

    session.transfer(0, 0, wire.data_section(b"x"))

    answers = [session.frame()]
    while answers[-1].descriptor not in (DETACH, END, CLOSE, DISPOSITION):
        answers.append(session.frame())
    assert answers[-1].descriptor in (DETACH, END, CLOSE, DISPOSITION)


def test_ending_a_session_with_live_links_and_deliveries_frees_all_of_it(session, peer, address):
    receiver = peer.receiver(address)
    session.sender(address)
    session.transfer(0, 0, wire.data_section(b"kept"))
    assert bytes(receiver.next().body) == b"kept"

    session.send(wire.performative(END))

    assert session.expect(END).error() is None
    session.begin()
    assert session.sender(address) > 0


def test_after_an_end_nothing_but_the_end_comes_on_its_channel(session, address):
    session.attach_receiver(address, 0, credit=10)
    session.send(wire.performative(END))

    assert session.frame().descriptor == END


def test_a_resumed_link_is_told_that_resumption_is_not_supported(session, address):
    unsettled = {b"tag": Described(0x24)}
    session.send(
        wire.performative(
            ATTACH, "old", Uint(0), False, None, None, Described(0x28, "s"), Described(0x29, address), unsettled, None, Uint(0)
        )
    )

    answer = session.frame()

    assert answer.descriptor in (ATTACH, DETACH, END)


# === messages


MALFORMED = {
    "a section cut short": b"\x00\x53\x77\xa1\x20short",
    "no section": b"hello",
    "unknown section": b"\x00\x53\x7f\xa1\x01x",
    "a body that is no value": b"\x00\x53\x77\x99",
    "properties that are no list": b"\x00\x53\x73\xa1\x01x\x00\x53\x77\x40",
    "annotations that are no map": b"\x00\x53\x72\x45\x00\x53\x77\x40",
    "annotations of an odd count": b"\x00\x53\x72\xc1\x03\x01\xa3\x00\x00\x53\x77\x40",
    "a map beyond its size": b"\x00\x53\x74\xd1\x00\x00\x00\x08\x7f\xff\xff\xff\x40\x40\x40\x40\x00\x53\x77\x40",
}


@pytest.mark.parametrize("content", MALFORMED.values(), ids=MALFORMED.keys())
def test_a_malformed_message_is_rejected_and_reaches_nobody(session, peer, address, content):
    receiver = peer.receiver(address)
    credit = session.sender(address)

    session.transfer(0, 0, content)

    outcome = session.expect(DISPOSITION)
    assert outcome.field(4)[0] == wire.REJECTED
    assert outcome.field(4)[1][0][1][0] in ("amqp:decode-error", "amqp:invalid-field")
    session.transfer(0, 1, wire.data_section(b"fine"))
    assert bytes(receiver.next().body) == b"fine"
    assert credit > 1


def test_sections_in_the_wrong_order_are_rejected(session, peer, address):
    peer.receiver(address)
    session.sender(address)

    session.transfer(0, 0, b"\x00\x53\x77\x40\x00\x53\x70\x45")

    assert session.expect(DISPOSITION).field(4)[0] == wire.REJECTED


def test_a_delivery_may_come_byte_by_byte(session, peer, address):
    receiver = peer.receiver(address)
    session.sender(address)
    content = wire.data_section(b"in many frames")

    for at, byte in enumerate(content):
        session.transfer(0, 0, bytes([byte]), more=at + 1 < len(content))

    assert bytes(receiver.next().body) == b"in many frames"


def test_settled_may_come_with_the_last_frame_only(session, peer, address):
    receiver = peer.receiver(address)
    session.sender(address)
    content = wire.data_section(b"settled late")

    session.transfer(0, 0, content[:5], more=True)
    session.transfer(0, 0, content[5:], settled=True)

    assert receiver.next().settled_by_sender


def test_an_aborted_delivery_reaches_nobody_and_its_credit_comes_back(session, peer, address):
    receiver = peer.receiver(address, credit=600, accepts=True)
    session.sender(address)
    whole = wire.data_section(b"whole")

    # More deliveries than the sender has credit for at first, each second one aborted.
    for number in range(0, 600, 2):
        session.transfer(0, number, whole[:8], more=True)
        session.transfer(0, number, b"", aborted=True)
        session.transfer(0, number + 1, whole)
        peer.until(lambda: any(frame.descriptor == DISPOSITION for frame in session.frames_there()), "its outcome")

    assert receiver.take(300) == [b"whole"] * 300
    assert receiver.has_nothing()


def test_a_large_delivery_aborted_in_the_middle_is_aborted_at_the_receiver(session, peer, address):
    receiver = peer.receiver(address)
    session.sender(address)
    start = b"\x00\x53\x75\xb0\x01\x00\x00\x00"
    session.transfer(0, 0, start, more=True)
    for _ in range(60):
        session.transfer(0, 0, bytes(10000), more=True)
    peer.until(lambda: receiver.parts, "the beginning of the message")

    session.transfer(0, 0, b"", aborted=True)

    peer.until(lambda: receiver.aborted == 1, "the abort")
    session.transfer(0, 1, wire.data_section(b"next"))
    assert bytes(receiver.next().body) == b"next"


def test_a_sender_lost_in_mid_delivery_aborts_it_and_frees_the_receiver(dial, peer, address):
    receiver = peer.receiver(address)
    socket = dial()
    socket.open()
    socket.begin()
    socket.sender(address)
    socket.transfer(0, 0, b"\x00\x53\x75\xb0\x01\x00\x00\x00", more=True)
    for _ in range(60):
        socket.transfer(0, 0, bytes(10000), more=True)
    peer.until(lambda: receiver.parts, "the beginning of the message")

    socket.socket.close()

    peer.until(lambda: receiver.aborted == 1, "the abort")
    peer.sender(address).send("next")
    assert receiver.next().body == "next"


def test_a_drain_is_answered_with_the_delivery_count_moved_on(session, address):
    session.attach_receiver(address)

    session.flow(0, 10, drain=True)

    answer = session.expect(FLOW)
    while answer.field(6) != 0:
        answer = session.expect(FLOW)
    assert answer.field(5) == 10


def test_an_echo_is_answered(session, address):
    session.attach_receiver(address)

    session.send(
        wire.performative(FLOW, Uint(0), Uint(1000), Uint(0), Uint(1000), Uint(0), Uint(0), Uint(0), None, False, True)
    )

    assert session.expect(FLOW).field(4) == 0


def test_a_disposition_for_a_delivery_settled_already_is_ignored(session, peer, address):
    session.attach_receiver(address, 0, credit=10)
    sent = peer.sender(address).send("once")
    peer.sync()
    delivery = session.expect(TRANSFER).field(1)
    accepted = wire.performative(DISPOSITION, True, Uint(delivery), None, True, Described(0x24))

    session.send(accepted * 3)

    assert sent.outcome() == "accepted"
    session.send(wire.performative(DETACH, Uint(0), True))
    assert session.expect(DETACH).error(2) is None


def test_a_disposition_for_deliveries_that_never_were_disturbs_nobody(session, peer, address):
    session.send(wire.performative(DISPOSITION, True, Uint(5), Uint(4000000000), True, Described(0x24)))

    receiver = peer.receiver(address)
    peer.sender(address).send("x")

    assert receiver.next().body == "x"


def test_dispositions_of_several_deliveries_may_be_one_range(session, peer, address):
    session.attach_receiver(address, 0, credit=10)
    sender = peer.sender(address)
    sent = [sender.send(number) for number in range(5)]
    peer.sync()
    first, *_, last = [session.expect(TRANSFER).field(1) for _ in range(5)]

    session.send(wire.performative(DISPOSITION, True, Uint(first), Uint(last), True, Described(0x24)))

    assert {delivery.outcome() for delivery in sent} == {"accepted"}


def test_a_closed_session_window_holds_deliveries_back(dial, peer, address):
    socket = dial()
    socket.open()
    socket.begin(incoming_window=2)
    socket.attach_receiver(address, 0)
    socket.flow(0, 100, incoming_window=2)
    sender = peer.sender(address)
    for number in range(5):
        sender.send(number, settled=True)
    peer.settle_down()
    assert [socket.expect(TRANSFER).field(1) for _ in range(2)] == [0, 1]

    socket.send(wire.performative(FLOW, Uint(2), Uint(10), Uint(0), Uint(100)))

    assert [socket.expect(TRANSFER).field(1) for _ in range(3)] == [2, 3, 4]


def test_many_attaches_and_detaches_leave_nothing_behind(session, address):
    for number in range(500):
        session.attach_receiver(address, 0, name=f"r{number}")
        session.send(wire.performative(DETACH, Uint(0), True))
        session.expect(DETACH)

    assert session.attach_receiver(address, 0).descriptor == ATTACH
