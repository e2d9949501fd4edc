"""Local transactions of a client, step by step (part 4 of the specification)."""

from proton import Data, Described, Message, Terminus, symbol, ulong

from .peer import Sender

DECLARED, TRANSACTIONAL = 0x33, 0x34
ACCEPTED = 0x24


class Coordinator(Sender):
    """A link to a coordinator."""

    def __init__(self, peer, session=None):
        def ask(link):
            link.target.type = Terminus.COORDINATOR
            link.target.capabilities.put_array(False, Data.SYMBOL)
            link.target.capabilities.enter()
            link.target.capabilities.put_symbol("amqp:local-transactions")
            link.target.capabilities.exit()

        super().__init__(peer, None, peer.connection, session=session, name="coordinator", set_up=ask)

    def declare(self):
        """A new transaction, for which it waits."""
        sent = self.send(Message(body=Described(symbol("amqp:declare:list"), [None])))
        self.peer.until(lambda: sent.delivery.settled, "the answer to the declare")
        assert sent.delivery.remote_state == DECLARED, sent.delivery.remote_state
        sent.delivery.settle()
        return Transaction(self, sent.delivery.remote.data[0])


class Transaction:
    """A transaction that is not over."""

    def __init__(self, coordinator, id):
        self.coordinator = coordinator
        self.id = id

    def send(self, sender, body):
        """Sends a message as part of it, and waits until the router has taken note of it."""
        message = body if isinstance(body, Message) else Message(body=body)
        sender.wait_for_credit()
        delivery = sender.link.delivery(sender.link.delivery_tag())
        delivery.local.data = [self.id]
        delivery.update(TRANSACTIONAL)
        sender.link.stream(message.encode())
        sender.link.advance()
        sender.peer.until(lambda: delivery.settled, "the settlement of a message in a transaction")
        state = delivery.remote_state
        delivery.settle()
        return state

    def accept(self, received):
        """Accepts a delivery as part of it; the router settles it first."""
        received.delivery.local.data = [self.id, Described(ulong(ACCEPTED), [])]
        received.delivery.update(TRANSACTIONAL)

    def _discharge(self, fail):
        body = Described(symbol("amqp:discharge:list"), [self.id, fail])
        return self.coordinator.send(Message(body=body)).outcome()

    def commit(self):
        return self._discharge(False)

    def roll_back(self):
        return self._discharge(True)
