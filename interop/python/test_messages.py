"""Messages arrive as they were sent: every size, every type, every section."""

import uuid

import pytest
from proton import (
    Array, Data, Described, Message, UNDESCRIBED, byte, char, decimal32, decimal64, decimal128, float32, int32, short,
    symbol, timestamp, ubyte, uint, ulong, ushort,
)

KIB = 1024
MIB = 1024 * KIB


@pytest.mark.parametrize("size", [0, 1, 255, 256, 512, 16 * KIB - 200, 16 * KIB, 16 * KIB + 1, 100 * KIB, MIB, 8 * MIB, 64 * MIB])
def test_a_body_of_this_many_bytes_arrives_whole(peer, address, size):
    body = bytes(range(256)) * (size // 256) + bytes(size % 256)
    receiver = peer.receiver(address)
    sent = peer.sender(address).send(Message(body=body, inferred=True))

    received = receiver.next()

    assert received.accept().body == body
    assert sent.outcome() == "accepted"


def test_a_message_of_no_bytes_is_rejected(peer, address):
    peer.receiver(address)
    sent = peer.sender(address).send(b"")

    assert sent.outcome() == "rejected"
    assert sent.remote.condition.name == "amqp:decode-error"


VALUES = {
    "null": None,
    "true": True,
    "false": False,
    "ubyte": ubyte(255),
    "ushort": ushort(65535),
    "uint 0": uint(0),
    "uint small": uint(200),
    "uint": uint(4294967295),
    "ulong 0": ulong(0),
    "ulong small": ulong(200),
    "ulong": ulong(2**64 - 1),
    "byte": byte(-128),
    "short": short(-32768),
    "int small": int32(-1),
    "int": int32(-(2**31)),
    "long small": -1,
    "long": -(2**63),
    "float": float32(0.5),
    "double": 3.141592653589793,
    "decimal32": decimal32(0x22500001),
    "decimal64": decimal64(0x2250000000000001),
    "decimal128": decimal128(bytes(range(16))),
    "char": char("\U0001f600"),
    "timestamp": timestamp(1764460800123),
    "timestamp before the epoch": timestamp(-1),
    "uuid": uuid.UUID(bytes=bytes(range(16))),
    "binary": b"\x00\xff" * 10,
    "binary, long": b"\x01" * 70000,
    "string": "grüße",
    "string, long": "é" * 40000,
    "string, empty": "",
    "symbol": symbol("sym-bol"),
    "symbol, long": symbol("s" * 300),
    "list": [1, "two", b"three", None, [4.0]],
    "list, empty": [],
    "list, long": list(range(1000)),
    "map": {"a": 1, symbol("b"): [True], 3: {"c": None}},
    "map, empty": {},
    "array of int": Array(UNDESCRIBED, Data.INT, 1, -2, 300000),
    "array of symbol": Array(UNDESCRIBED, Data.SYMBOL, symbol("x"), symbol("y" * 300)),
    "array of bool": Array(UNDESCRIBED, Data.BOOL, True, False),
    "array of string": Array(UNDESCRIBED, Data.STRING, "a", "b"),
    "array, empty": Array(UNDESCRIBED, Data.LONG),
    "array of described": Array(symbol("test:kind"), Data.INT, 1, 2),
    "described by symbol": Described(symbol("test:thing"), ["x"]),
    "described by number": Described(ulong(12345), "y"),
}


@pytest.mark.parametrize("name", VALUES)
def test_a_value_of_this_type_arrives_as_it_was(peer, address, name):
    message = Message(body=VALUES[name])
    receiver = peer.receiver(address)
    peer.sender(address).send(message)

    received = receiver.next().accept()

    assert received.content == message.encode()


def test_every_section_and_field_arrives_as_it_was(peer, address):
    message = Message(
        durable=True, priority=7, ttl=12.345, first_acquirer=True, delivery_count=3,
        id="the-id", user_id=b"the-user", address="somewhere", subject="a subject", reply_to="back", correlation_id=ulong(77),
        content_type=symbol("text/plain"), content_encoding=symbol("gzip"), expiry_time=1764460800, creation_time=1764460700,
        group_id="the-group", group_sequence=9, reply_to_group_id="other-group",
        instructions={symbol("x-opt-deliver"): "this way"},
        annotations={symbol("x-opt-note"): "noted"},
        properties={"p": 1, "q": "two", "r": b"three", "s": True},
        body=["any", {"value": 1}],
    )
    receiver = peer.receiver(address)
    peer.sender(address).send(message)

    assert fields(receiver.next().accept().message) == fields(message)


def fields(message):
    """All that a message says, however it is encoded."""
    names = [name for name in dir(Message) if isinstance(getattr(Message, name), property) and name != "instructions"]
    return {name: getattr(message, name) for name in names} | {"instructions": message.instructions}


@pytest.mark.parametrize(
    "body",
    [
        b"\x00\x53\x75\xa0\x01a\x00\x53\x75\xa0\x01b\x00\x53\x75\xa0\x00",
        b"\x00\x53\x76\xc0\x03\x01\x54\x01\x00\x53\x76\x45",
        b"\x00\x53\x77\x40\x00\x53\x78\xc1\x01\x00",
    ],
    ids=["several data sections", "several sequences", "a footer"],
)
def test_a_body_of_several_sections_arrives_as_it_was(peer, address, body):
    receiver = peer.receiver(address)
    peer.sender(address).send(body)

    assert receiver.next().accept().content == body


def test_long_encodings_arrive_as_they_were(peer, address):
    # The same descriptor as an eight-byte number, and the string with a four-byte length.
    content = b"\x00\x80\x00\x00\x00\x00\x00\x00\x00\x77\xb1\x00\x00\x00\x03abc"
    receiver = peer.receiver(address)
    peer.sender(address).send(content)

    received = receiver.next().accept()

    assert received.body == "abc"
    assert received.content.endswith(b"\xb1\x00\x00\x00\x03abc")


def test_a_thousand_messages_arrive_once_each_and_in_order(peer, address):
    receiver = peer.receiver(address, credit=1000, accepts=True)
    sender = peer.sender(address)

    sent = [sender.send(number) for number in range(1000)]

    assert receiver.take(1000) == list(range(1000))
    assert {delivery.outcome() for delivery in sent} == {"accepted"}


def test_large_and_small_messages_on_one_connection_do_not_mix(peer, address):
    large, small = peer.receiver(address + "/large"), peer.receiver(address + "/small", credit=100)
    to_large, to_small = peer.sender(address + "/large"), peer.sender(address + "/small")

    sent = to_large.send(Message(body=b"L" * 5 * MIB, inferred=True))
    for number in range(100):
        to_small.send(number)

    assert small.take(100) == list(range(100))
    assert large.next().accept().body == b"L" * 5 * MIB
    assert sent.outcome() == "accepted"


def test_a_small_frame_size_is_kept_to(router, connect, address):
    peer = connect(router, max_frame_size=512)
    receiver = peer.receiver(address)
    body = b"abcdefgh" * 2000

    peer.sender(address).send(Message(body=body, inferred=True))

    assert receiver.next().accept().body == body
