"""All messages that are on their way share a bound: above it, those wait who send to receivers that do not read."""

import time

import pytest
from proton import Message

MIB = 1024 * 1024
#: What messages may take.
BOUND = 32 * MIB
#: What the router may take beside them: buffers, what was on its way when senders were told to stop, and what the allocator keeps.
BESIDE = 96 * MIB
#: Senders, each on a connection of its own and to a receiver of its own.
PAIRS = 40
#: Messages of each, as many as there is credit for, and their size: all together seven times the bound.
EACH = 250
BODY = bytes(24_000)
#: Bytes that a client has ready for its socket at most.
AHEAD = 100_000


class Eager:
    """A sender that sends whenever it may, and its receiver, which reads nothing until it is told to."""

    def __init__(self, peer, number):
        address = f"slow/{number}"
        self.receiver = peer.receiver(address, connection=peer.connect(), credit=0, accepts=True)
        self.sender = peer.sender(address, connection=peer.connect())
        self.sent = []

    def send(self):
        """Sends what link and socket take. True if that was something."""
        before = len(self.sent)
        link = self.sender.link
        while len(self.sent) < EACH and link.credit and link.session.outgoing_bytes < AHEAD:
            message = Message(body=BODY, properties={"number": len(self.sent)})
            self.sent.append(self.sender.send_now(message))
        return len(self.sent) > before

    def has_got_everything(self):
        """Whether all messages came, in order, and the sender knows."""
        if len(self.receiver.arrived) < EACH or not self.sent[-1].delivery.settled:
            return False
        numbers = [received.message.properties["number"] for received in self.receiver.arrived]
        assert numbers == list(range(EACH))
        assert all(sent.outcome() == "accepted" for sent in self.sent)
        return True


@pytest.fixture
def bounded(start_router):
    return start_router(router=f"transitBytes: {BOUND}")


def test_thousands_of_messages_that_nobody_reads_stay_within_the_bound_and_hold_up_nobody_else(bounded, connect):
    at_rest = bounded.memory()
    peer = connect(bounded)
    pairs = [Eager(peer, number) for number in range(PAIRS)]
    peer.container.timeout = 0.001

    def all_have_said_what_they_can():
        """All have sent what they may, or what the sockets take, and can send nothing for a while."""
        if any([pair.send() for pair in pairs]) or "held up" not in bounded.log():
            return False
        deadline = time.monotonic() + 0.5
        while time.monotonic() < deadline:
            peer.container.process()
            if any([pair.send() for pair in pairs]):
                return False
        return True

    peer.until(all_have_said_what_they_can, "all senders to be held up", patience=60)
    assert bounded.memory("VmHWM") < at_rest + BOUND * 5 // 4 + BESIDE

    other = connect(bounded)
    receiver = other.receiver("swift", credit=1000, accepts=True)
    sender = other.sender("swift")
    for number in range(1000):
        assert sender.send(f"{number}").outcome() == "accepted"
    assert len(receiver.take(1000)) == 1000

    for pair in pairs:
        pair.receiver.flow(EACH)

    waiting = list(pairs)

    def all_is_there():
        waiting[:] = [pair for pair in waiting if pair.send() or not pair.has_got_everything()]
        return not waiting

    peer.until(all_is_there, "all messages", patience=120)
    assert bounded.memory("VmHWM") < at_rest + BOUND * 5 // 4 + BESIDE
