"""What tests of queues say at an attach and about deliveries: termini, filters, lifetimes, transactions; a router that has some."""

from proton import Data, Described, Message, Terminus, symbol, ulong

from .broker import DECLARE, DECLARED, DISCHARGE, TRANSACTIONAL
from .router import Router

#: Descriptors of lifetime policies (part 3 of the specification, section 3.5.10 and following).
DELETE_ON_CLOSE, DELETE_ON_NO_LINKS, DELETE_ON_NO_MESSAGES, DELETE_ON_NO_LINKS_OR_MESSAGES = range(0x2B, 0x2F)

SELECTOR = "apache.org:selector-filter:string"


def capabilities(*names):
    """What a source is to be capable of."""

    def set_up(link):
        link.source.capabilities.put_array(False, Data.SYMBOL)
        link.source.capabilities.enter()
        for name in names:
            link.source.capabilities.put_symbol(name)
        link.source.capabilities.exit()

    return set_up


def selector(text, name="selector", descriptor=symbol(SELECTOR)):
    """A filter."""

    def set_up(link):
        link.source.filter.put_object({symbol(name): Described(descriptor, text)})

    return set_up


def browsing(link):
    link.source.distribution_mode = Terminus.DIST_MODE_COPY


def surviving(link):
    """The terminus is to outlive its link and the router."""
    link.source.durability = Terminus.DELIVERIES
    link.source.expiry_policy = Terminus.EXPIRE_NEVER


def living(lifetime):
    """A dynamic node that is a queue and lives so long."""

    def set_up(link):
        link.source.capabilities.put_symbol("queue")
        link.source.properties.put_object({symbol("lifetime-policy"): Described(ulong(lifetime), [])})

    return set_up


class Transactions:
    """A link to the coordinator."""

    def __init__(self, peer, **options):
        def set_up(link):
            link.target.type = Terminus.COORDINATOR
            link.target.capabilities.put_object(symbol("amqp:local-transactions"))

        self.peer = peer
        self.control = peer.sender(None, set_up=set_up, **options)

    def declare(self):
        """The id of a new transaction."""
        sent = self.control.send(Message(body=Described(ulong(DECLARE), [None])))
        self.peer.until(lambda: sent.delivery.settled or sent.delivery.remote_state, "the declaration's outcome")
        assert sent.delivery.remote_state == DECLARED, sent.remote.condition
        # Proton hands binary out as a view into what does not live long.
        transaction = bytes(sent.remote.data[0])
        sent.delivery.settle()
        return transaction

    def discharge(self, transaction, fail=False):
        """The outcome's name, and its error if there is one."""
        sent = self.control.send(Message(body=Described(ulong(DISCHARGE), [transaction, fail])))
        outcome = sent.outcome()
        return outcome, sent.remote.condition


def post(sender, transaction, body):
    """Sends within a transaction."""
    sender.wait_for_credit()
    delivery = sender.link.delivery(sender.link.delivery_tag())
    delivery.local.data = [transaction]
    delivery.update(TRANSACTIONAL)
    sender.link.stream((body if isinstance(body, Message) else Message(body=body)).encode())
    sender.link.advance()
    return delivery


def retire(received, transaction, outcome, settle=False):
    """Says what becomes of a delivery if the transaction is committed."""
    received.delivery.local.data = [transaction, Described(ulong(outcome), [])]
    received.delivery.update(TRANSACTIONAL)
    if settle:
        received.delivery.settle()
    return received


def with_store(folder, sections):
    """A router whose store is in `folder`, for a fixture; it must still be there at the end, and stop in order."""
    router = Router(folder, sections=sections.format(store=folder / "store")).start()
    yield router
    assert router.is_running(), router.told()
    assert router.stop() == 0
