"""Many messages at once, each accounted for."""

from collections import Counter, deque


def send_all(sender, messages, patience=120):
    """Sends messages as credit allows; gives the number of each outcome once all are settled."""
    outcomes = Counter()
    waiting = deque()

    def settle():
        while waiting and waiting[0].delivery.settled:
            sent = waiting.popleft()
            outcomes[sent.state()] += 1
            sent.delivery.settle()

    for message in messages:
        sender.peer.until(lambda: sender.link.credit > 0, "credit", patience)
        waiting.append(sender.send_now(message))
        settle()
    sender.peer.until(lambda: settle() or not waiting, "the outcomes", patience)
    return outcomes


def receive_all(receiver, count, patience=120):
    """The bodies of the next `count` messages that a receiver gets that accepts by itself; it is given credit for them."""
    receiver.flow(count - len(receiver.arrived))
    receiver.peer.until(lambda: len(receiver.arrived) >= count, f"{count} messages", patience)
    return [receiver.arrived.popleft().body for _ in range(count)]


class Persistent:
    """Sends messages, each again until it is accepted, with up to `window` of them on their way."""

    def __init__(self, sender, messages, window=100):
        self.sender = sender
        self.messages = messages
        self.window = window
        self.waiting = {}
        self.again = deque()
        self.accepted = set()

    def run_until(self, condition, patience=120):
        """Goes on until `condition` holds."""
        self.sender.peer.until(lambda: self._turn() or condition(), "acceptance of what is sent", patience)

    def _turn(self):
        while self.sender.link.credit > 0 and len(self.waiting) < self.window:
            message = self.again.popleft() if self.again else next(self.messages, None)
            if message is None:
                break
            self.waiting[message.body] = message, self.sender.send_now(message)
        for body, (message, sent) in list(self.waiting.items()):
            if sent.delivery.settled:
                del self.waiting[body]
                if sent.state() == "accepted":
                    self.accepted.add(body)
                else:
                    self.again.append(message)
                sent.delivery.settle()
