"""What went wrong between routers and brokers elsewhere, and must not here."""

import pytest
from proton import Described, Message, ulong
from support.broker import DISCHARGE, Broker
from support.management import Management
from support.router import wait_until
from test_link_routes import SECTIONS, coordinator, declare, is_active, send_within

#: So many that a router that loses some of them does so here.
MANY = 500


def many_auto_links(port):
    links = "".join(
        f"autoLink {{\n address: queue.{number}\n connection: broker\n direction: {direction}\n}}\n"
        for number in range(MANY // 2)
        for direction in ("in", "out")
    )
    return (
        f"connector {{\n name: broker\n host: 127.0.0.1\n port: {port}\n role: route-container\n}}\n"
        "address {\n prefix: queue\n waypoint: yes\n}\n" + links
    )


def wait_for_all(management):
    def complete():
        states = [link["operStatus"] for link in management.query("router.config.autoLink", "operStatus")]
        return len(states) == MANY and set(states) == {"active"}

    management.peer.until(complete, "all auto-links", 60)


def test_hundreds_of_auto_links_are_complete_after_each_restart_of_broker_and_router(start_router, broker, connect):
    router = start_router(sections=many_auto_links(broker.port))
    management = Management(connect(router))
    wait_for_all(management)
    for _ in range(2):
        broker.stop()
        broker = Broker(port=broker.port).start()
        wait_for_all(management)
        # Each of them is attached at the broker, once.
        names = [name for name, *_ in broker.attached]
        assert len(names) == len(set(names)) == MANY
    router.stop()
    router.start()
    wait_for_all(Management(connect(router)))
    broker.stop()


def test_a_coordinator_without_a_link_route_is_refused_with_a_text_that_says_so(peer):
    condition = coordinator(peer).refusal()
    assert condition.name == "amqp:precondition-failed"
    assert "linkRoute to a coordinator must be configured" in condition.description


@pytest.fixture
def client(start_router, broker, connect):
    """A client of a router with link routes to the broker."""
    router = start_router(sections=SECTIONS.format(port=broker.port))
    management = Management(connect(router))
    wait_until(lambda: is_active(management), "active link routes")
    return connect(router)


def test_credit_reaches_the_broker_after_each_of_many_drains(client):
    sender = client.sender("queue.drains")
    receiver = client.receiver("queue.drains", credit=0, accepts=True)
    for round in range(10):
        receiver.drain(5)
        assert receiver.link.credit == 0
        sender.send(round).outcome()
        receiver.flow(1)
        client.until(lambda: receiver.arrived, "the message")
        assert receiver.arrived.popleft().body == round


def test_transactions_one_after_the_other_keep_their_identities_apart(client, broker):
    control, sender = coordinator(client), client.sender("queue.transactions")
    first, second = declare(client, control), declare(client, control)
    assert first != second
    for body, transaction in ((1, first), (2, second), (3, first)):
        state = send_within(sender, transaction, body)
        assert state.remote.data[0] == transaction
    control.send(Message(body=Described(ulong(DISCHARGE), [first, False]))).outcome()
    control.send(Message(body=Described(ulong(DISCHARGE), [second, True]))).outcome()
    receiver = client.receiver("queue.transactions", credit=5)
    assert receiver.take(2) == [1, 3]
    assert receiver.has_nothing()
