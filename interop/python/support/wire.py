"""AMQP frames written and read by hand, for what no client library would ever send."""

import socket
import struct
import time

from .router import PATIENCE

AMQP = b"AMQP\x00\x01\x00\x00"
SASL = b"AMQP\x03\x01\x00\x00"

#: Descriptors of performatives and states (part 2 and 3 of the specification, section 2.7 and 3.4).
OPEN, BEGIN, ATTACH, FLOW, TRANSFER, DISPOSITION, DETACH, END, CLOSE = range(0x10, 0x19)
ERROR, RECEIVED, ACCEPTED, REJECTED, RELEASED, MODIFIED = 0x1D, 0x23, 0x24, 0x25, 0x26, 0x27
SOURCE, TARGET = 0x28, 0x29


class Symbol(str):
    """Text that is encoded as a symbol."""


class Uint(int):
    """A number that is encoded as a uint; a plain int here is a ulong."""


class Described(tuple):
    """A descriptor and a list of fields."""

    def __new__(cls, descriptor, *fields):
        return super().__new__(cls, (descriptor, list(fields)))


def encode(value):
    """The value in one of its shorter encodings."""
    if value is None:
        return b"\x40"
    if isinstance(value, bool):
        return b"\x41" if value else b"\x42"
    if isinstance(value, Uint):
        return b"\x52" + bytes([value]) if value < 256 else b"\x70" + struct.pack(">I", value)
    if isinstance(value, int):
        return b"\x53" + bytes([value]) if value < 256 else b"\x80" + struct.pack(">Q", value)
    if isinstance(value, Symbol):
        return b"\xb3" + struct.pack(">I", len(value)) + value.encode()
    if isinstance(value, str):
        data = value.encode()
        return b"\xb1" + struct.pack(">I", len(data)) + data
    if isinstance(value, bytes):
        return b"\xb0" + struct.pack(">I", len(value)) + value
    if isinstance(value, Described):
        return b"\x00" + encode(value[0]) + encode(value[1])
    if isinstance(value, list):
        content = b"".join(encode(item) for item in value)
        return b"\xd0" + struct.pack(">II", len(content) + 4, len(value)) + content
    if isinstance(value, dict):
        content = b"".join(encode(key) + encode(item) for key, item in value.items())
        return b"\xd1" + struct.pack(">II", len(content) + 4, 2 * len(value)) + content
    raise TypeError(f"no encoding for {value!r}")


_FIXED = {
    0x50: ">B", 0x51: ">b", 0x52: ">B", 0x53: ">B", 0x54: ">b", 0x55: ">b", 0x60: ">H", 0x61: ">h", 0x70: ">I",
    0x71: ">i", 0x72: ">f", 0x80: ">Q", 0x81: ">q", 0x82: ">d", 0x83: ">q",
}
_CONSTANT = {0x40: None, 0x41: True, 0x42: False, 0x43: 0, 0x44: 0, 0x45: []}


def decode(data, at=0):
    """One value, and the offset behind it. Described values come as (descriptor, value)."""
    code = data[at]
    at += 1
    if code == 0x00:
        descriptor, at = decode(data, at)
        value, at = decode(data, at)
        return (descriptor, value), at
    if code in _CONSTANT:
        return _CONSTANT[code], at
    if code == 0x56:
        return bool(data[at]), at + 1
    if code in _FIXED:
        size = struct.calcsize(_FIXED[code])
        return struct.unpack_from(_FIXED[code], data, at)[0], at + size
    wide = code & 0x10
    size = struct.unpack_from(">I" if wide else ">B", data, at)[0]
    at += 4 if wide else 1
    content, end = data[at : at + size], at + size
    if code in (0xA0, 0xB0):
        return bytes(content), end
    if code in (0xA1, 0xB1):
        return content.decode(), end
    if code in (0xA3, 0xB3):
        return Symbol(content.decode()), end
    if code in (0xE0, 0xF0):
        return bytes(content), end  # Arrays are not looked into here.
    count = struct.unpack_from(">I" if wide else ">B", content, 0)[0]
    inner, items = 4 if wide else 1, []
    for _ in range(count):
        item, inner = decode(content, inner)
        items.append(item)
    if code in (0xC1, 0xD1):
        return dict(zip(items[::2], items[1::2])), end
    return items, end


def frame(body, *, channel=0, kind=0, doff=2, size=None):
    """A frame around a body; the size can be made wrong."""
    length = len(body) + 4 * doff
    return struct.pack(">IBBH", length if size is None else size, doff, kind, channel) + bytes(max(0, 4 * doff - 8)) + body


def performative(descriptor, *fields, payload=b"", channel=0):
    """A whole frame with a performative in it."""
    return frame(encode(Described(descriptor, *fields)) + payload, channel=channel)


class Frame:
    """A frame that came in."""

    def __init__(self, channel, body):
        self.channel = channel
        self.descriptor, self.fields, self.payload = None, [], b""
        if body:
            (self.descriptor, self.fields), end = decode(body)
            self.payload = body[end:]

    def field(self, number):
        return self.fields[number] if number < len(self.fields) else None

    def error(self, number=0):
        """Condition and description of an error that stands in this field."""
        error = self.field(number)
        if error is None:
            return None
        fields = error[1] + [None, None]
        return fields[0], fields[1]

    def __repr__(self):
        return f"Frame({self.channel}, {self.descriptor and hex(self.descriptor)}, {self.fields}, {self.payload[:40]!r})"


class Closed(Exception):
    """The router closed the socket."""


class Wire:
    """A socket to the router."""

    def __init__(self, port, *, receive_buffer=None):
        self.socket = socket.socket()
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        # Or each small frame waits for the acknowledgement of the one before.
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(("127.0.0.1", port))
        self.received = bytearray()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data)
        return self

    def _fill(self, size):
        while len(self.received) < size:
            try:
                data = self.socket.recv(262144)
            except ConnectionResetError:
                raise Closed from None
            if not data:
                raise Closed
            self.received += data

    def take(self, size):
        self._fill(size)
        data = bytes(self.received[:size])
        del self.received[:size]
        return data

    def frame(self):
        """The next frame that is not empty."""
        while True:
            size, doff, _, channel = struct.unpack(">IBBH", self.take(8))
            body = self.take(size - 8)[4 * doff - 8 :]
            if body:
                return Frame(channel, body)

    def frames_there(self):
        """The frames that have come in already, without waiting."""
        self.socket.setblocking(False)
        try:
            data = self.socket.recv(262144)
            if not data:
                raise Closed
            self.received += data
        except BlockingIOError:
            pass
        finally:
            self.socket.settimeout(PATIENCE)
        while len(self.received) >= 4 and len(self.received) >= struct.unpack_from(">I", self.received)[0]:
            yield self.frame()

    def expect(self, descriptor):
        """The next frame with this performative; others are passed over."""
        seen = []
        while True:
            try:
                frame = self.frame()
            except Closed:
                raise AssertionError(f"the router closed the socket; before came {seen}") from None
            if frame.descriptor == descriptor:
                return frame
            seen.append(frame)

    def is_closed(self):
        """Reads until the router closes the socket."""
        deadline = time.monotonic() + PATIENCE
        try:
            while time.monotonic() < deadline:
                self._fill(len(self.received) + 1)
        except Closed:
            return True
        except TimeoutError:
            pass
        return False

    # === what an ordinary client does

    def open(self, *, container="wire", idle_time_out=None, max_frame_size=None, channel_max=None):
        """Protocol header and open, without SASL."""
        self.send(AMQP)
        assert self.take(8) == AMQP
        size = None if max_frame_size is None else Uint(max_frame_size)
        idle = None if idle_time_out is None else Uint(idle_time_out)
        channels = None if channel_max is None else _Ushort(channel_max)
        self.send(performative_open(container, size, channels, idle))
        return self.expect(OPEN)

    def begin(self, channel=0, *, incoming_window=2**31 - 1, next_outgoing_id=0):
        self.send(
            performative(BEGIN, None, Uint(next_outgoing_id), Uint(incoming_window), Uint(2**31 - 1), channel=channel)
        )
        return self.expect(BEGIN)

    def attach_sender(self, address, handle=0, *, name=None, channel=0, settled=None):
        """Attaches; without waiting for credit."""
        target = Described(TARGET, address)
        self.send(
            performative(
                ATTACH, name or f"sender-{handle}", Uint(handle), False, settled, None, Described(SOURCE, "wire"), target,
                None, None, Uint(0), channel=channel,
            )
        )
        return self.expect(ATTACH)

    def attach_receiver(self, address, handle=0, *, credit=0, name=None, channel=0):
        source = Described(SOURCE, address)
        self.send(
            performative(
                ATTACH, name or f"receiver-{handle}", Uint(handle), True, None, None, source, Described(TARGET, "wire"),
                channel=channel,
            )
        )
        answer = self.expect(ATTACH)
        if credit:
            self.flow(handle, credit, channel=channel)
        return answer

    def flow(self, handle, credit, *, delivery_count=0, channel=0, drain=False, incoming_window=2**31 - 1):
        self.send(
            performative(
                FLOW, Uint(0), Uint(incoming_window), Uint(0), Uint(2**31 - 1), Uint(handle), Uint(delivery_count),
                Uint(credit), None, drain, channel=channel,
            )
        )

    def transfer(self, handle, delivery, payload, *, settled=False, more=False, aborted=False, tag=None, channel=0):
        tag = struct.pack(">I", delivery) if tag is None else tag
        self.send(
            performative(
                TRANSFER, Uint(handle), Uint(delivery), tag, Uint(0), settled, more, None, None, None, aborted,
                payload=payload, channel=channel,
            )
        )

    def sender(self, address, handle=0, **options):
        """Attaches and waits for credit, which it returns."""
        self.attach_sender(address, handle, **options)
        flow = self.expect(FLOW)
        return flow.field(6)


class _Ushort(int):
    pass


def performative_open(container, max_frame_size=None, channel_max=None, idle_time_out=None):
    fields = [encode(container), encode(None), encode(max_frame_size)]
    fields.append(encode(None) if channel_max is None else b"\x60" + struct.pack(">H", channel_max))
    fields.append(encode(idle_time_out))
    content = b"".join(fields)
    body = b"\x00\x53\x10\xd0" + struct.pack(">II", len(content) + 4, len(fields)) + content
    return frame(body)


def data_section(content):
    """A message of one data section."""
    return b"\x00\x53\x75\xb0" + struct.pack(">I", len(content)) + content
