"""Messages of any size pass in bounded memory, and who does not read stops only who sends to it."""

import threading

import pytest
from proton import Message
from support import wire
from support.wire import DISPOSITION, FLOW, TRANSFER, Described, Uint, Wire

MIB = 1024 * 1024
GIB = 1024 * MIB
CHUNK = 16000


class StreamingSender:
    """Sends one long message by hand, within the window that the router grants."""

    def __init__(self, port, address):
        self.wire = Wire(port)
        self.wire.open(container="streaming-sender")
        begin = self.wire.begin()
        self.window = begin.field(2)
        self.sent = 0
        self.wire.sender(address)
        self.outcome = None

    def stream(self, frames):
        """Sends a message of this many frames, each with one data section of `CHUNK` bytes in all."""
        section = wire.data_section(bytes(CHUNK - 8))
        more = wire.performative(TRANSFER, Uint(0), None, None, None, None, True, payload=section)
        end = wire.performative(TRANSFER, Uint(0), None, None, None, None, False, payload=section)
        self.wire.transfer(0, 0, section, more=True)
        self.sent = 1
        while self.sent < frames:
            self._wait_for_window()
            batch = min(frames - self.sent, 64, self.window - self.sent)
            self.sent += batch
            self.wire.send(more * (batch - 1) + end if self.sent == frames else more * batch)

    def _wait_for_window(self):
        for frame in self.wire.frames_there():
            self._take(frame)
        while self.sent >= self.window:
            self._take(self.wire.frame())

    def _take(self, frame):
        if frame.descriptor == FLOW:
            # Frames that may have been sent in all: what the router has seen, and its window.
            self.window = (frame.field(0) or 0) + frame.field(1)
        elif frame.descriptor == DISPOSITION:
            self.outcome = frame.field(4)[0]
        else:
            raise AssertionError(f"unexpected {frame}")

    def wait_for_outcome(self):
        while self.outcome is None:
            self._take(self.wire.frame())
        return self.outcome


class StreamingReceiver(threading.Thread):
    """Reads one long message by hand, counting its bytes, and accepts it."""

    def __init__(self, port, address):
        super().__init__(daemon=True)
        self.wire = Wire(port)
        self.wire.open(container="streaming-receiver")
        self.wire.begin()
        self.wire.attach_receiver(address, 0, credit=1)
        self.bytes = 0
        self.error = None
        self.start()

    def run(self):
        try:
            while True:
                frame = self.wire.frame()
                if frame.descriptor != TRANSFER:
                    continue
                self.bytes += len(frame.payload)
                if not frame.field(5):
                    break
            self.wire.send(wire.performative(DISPOSITION, True, Uint(0), None, True, Described(wire.ACCEPTED)))
        except Exception as error:  # Told by the test's own thread.
            self.error = error


def test_a_message_of_5_gib_passes_with_less_than_64_mib_held(start_router, address):
    # The receiver sends nothing meanwhile, not even heartbeats.
    router = start_router(listener="idleTimeoutSeconds: 0")
    receiver = StreamingReceiver(router.port, address)
    sender = StreamingSender(router.port, address)
    before = router.memory("VmHWM")
    frames = 5 * GIB // CHUNK

    sender.stream(frames)

    assert sender.wait_for_outcome() == wire.ACCEPTED
    receiver.join(60)
    assert receiver.error is None
    assert receiver.bytes == frames * CHUNK
    assert router.memory("VmHWM") - before < 64 * MIB


def test_a_receiver_that_stops_reading_stops_its_sender_and_nobody_else(start_router, connect, address):
    router = start_router()
    with Wire(router.port, receive_buffer=65536) as stopped:
        stopped.open()
        stopped.begin()
        stopped.attach_receiver(address, 0, credit=1)
        before = router.memory()
        blocked = threading.Thread(target=send_until_blocked, args=(router.port, address), daemon=True)
        blocked.start()
        blocked.join(3)
        assert blocked.is_alive(), "the sender was not stopped"
        assert router.memory() - before < 64 * MIB

        peer = connect(router)
        receiver = peer.receiver(address + "/other", credit=100, accepts=True)
        sender = peer.sender(address + "/other")
        for number in range(100):
            sender.send(Message(body=bytes([number]) * 1000, inferred=True))

        assert [body[0] for body in receiver.take(100)] == list(range(100))


def send_until_blocked(port, address):
    try:
        StreamingSender(port, address).stream(GIB // CHUNK)
    except (wire.Closed, OSError, TimeoutError):
        pass  # The test is over.


def test_a_client_that_floods_its_own_receiver_is_not_read_for_ever(start_router, address):
    router = start_router()
    with Wire(router.port) as flooding:
        flooding.open()
        flooding.begin()
        flooding.attach_receiver(address, 1, name="own")
        flooding.sender(address)
        before = router.memory()
        flooding.socket.settimeout(3)

        # It keeps to no window, and reads nothing.
        with pytest.raises(TimeoutError):
            for number in range(256 * MIB // CHUNK):
                flooding.transfer(0, 0, wire.data_section(bytes(CHUNK - 8)), more=True)

        assert router.memory() - before < 64 * MIB


def test_the_slowest_of_several_receivers_sets_the_pace_and_all_get_everything(peer, address):
    address = "multicast/" + address
    receivers = [peer.receiver(address, accepts=True) for _ in range(3)]
    body = bytes(20 * MIB)

    sent = peer.sender(address).send(Message(body=body, inferred=True))

    assert all(len(receiver.next().body) == len(body) for receiver in receivers)
    assert sent.outcome() == "accepted"


def test_a_receiver_that_leaves_in_mid_message_does_not_hold_up_the_others(peer, address):
    address = "multicast/" + address
    leaving = peer.connect()
    peer.receiver(address, connection=leaving)
    staying = peer.receiver(address, accepts=True)
    sender = peer.sender(address)
    body = bytes(10 * MIB)
    sent = sender.send(Message(body=body, inferred=True))
    peer.until(lambda: staying.parts, "the beginning of the message")

    peer.disconnect(leaving)

    assert len(staying.next().body) == len(body)
    assert sent.outcome() in ("accepted", "modified")
