"""Links that are routed to a broker as a whole: it is as if the client were attached there."""

import pytest
from proton import Described, Message, Terminus, ulong
from support.broker import DECLARE, DECLARED, DISCHARGE, TRANSACTIONAL
from support.management import Management
from support.peer import RECEIVER_SECOND
from support.router import wait_until

SECTIONS = """
connector {{
    name: broker
    host: 127.0.0.1
    port: {port}
    role: route-container
}}
linkRoute {{
    prefix: queue
    connection: broker
    direction: in
}}
linkRoute {{
    prefix: queue
    connection: broker
    direction: out
}}
linkRoute {{
    prefix: $coordinator
    connection: broker
    direction: in
}}
linkRoute {{
    prefix: client
    connection: broker
    direction: out
    delExternalPrefix: client.
    addExternalPrefix: queue.
}}
"""


def is_active(management):
    routes = management.query("router.config.linkRoute")
    return routes and all(route["operStatus"] == "active" for route in routes)


@pytest.fixture
def routed(start_router, broker, connect):
    """A router with link routes to the broker, which is connected."""
    router = start_router(sections=SECTIONS.format(port=broker.port))
    router.management = Management(connect(router))
    wait_until(lambda: is_active(router.management), "active link routes")
    return router


@pytest.fixture
def client(routed, connect):
    return connect(routed)


def test_messages_wait_at_the_broker_for_a_receiver(client, broker):
    sender = client.sender("queue.a")
    sent = [sender.send(f"message {number}") for number in range(20)]
    assert {one.outcome() for one in sent} == {"accepted"}
    assert len(broker.queues["queue.a"]) == 20
    receiver = client.receiver("queue.a", credit=20)
    assert receiver.take(20) == [f"message {number}" for number in range(20)]


def test_the_broker_sees_the_tags_of_the_client(client, broker):
    sender = client.sender("queue.tags")
    sent = sender.send("x")
    sent.outcome()
    assert broker.tags == [sent.delivery.tag]


def test_names_of_links_say_whose_they_are(client, broker):
    client.sender("queue.names", name="mine")
    assert broker.attached[-1][0] == f"mine@{client.container.container_id}"


def test_a_queue_that_is_not_there_is_refused_in_the_brokers_words(client, broker):
    broker.missing.add("queue.none")
    sender = client.sender("queue.none", wait=False)
    condition = sender.refusal()
    assert (condition.name, condition.description) == ("amqp:not-found", "Queue queue.none does not exist")


def test_prefixes_change_on_the_way_and_the_client_sees_its_own(client, broker):
    receiver = client.receiver("client.b")
    assert broker.attached[-1][1] == "queue.b"
    assert receiver.address == "client.b"


def test_a_dynamic_node_is_the_brokers(client):
    def dynamic(link):
        link.source.address = None
        link.source.dynamic = True
        link.source.properties.put_dict({"x-opt-qd.address": "queue.temporary"})

    receiver = client.receiver("any", set_up=dynamic)
    assert receiver.address.startswith("dynamic-")


def test_a_large_message_passes(client):
    content = bytes(range(256)) * 4096 * 20
    sender = client.sender("queue.large")
    receiver = client.receiver("queue.large", credit=1)
    sent = sender.send(Message(body=content))
    assert receiver.take(1) == [content]
    assert sent.outcome() == "accepted"


def test_a_drain_reaches_the_broker_and_comes_back(client):
    sender = client.sender("queue.drain")
    for number in range(3):
        sender.send(number).outcome()
    receiver = client.receiver("queue.drain", credit=0, accepts=True)
    receiver.drain(10)
    assert [received.body for received in receiver.arrived] == [0, 1, 2]
    assert receiver.link.credit == 0


def test_a_detach_keeps_its_kind(client, broker):
    closed, detached = client.sender("queue.closed", name="closed"), client.sender("queue.detached", name="detached")
    closed.close()
    detached.link.detach()
    client.until(lambda: len(broker.detached) == 2, "two detaches")
    kinds = {name.split("@")[0]: closed for name, closed, _ in broker.detached}
    assert kinds == {"closed": True, "detached": False}


def test_a_link_of_a_name_just_detached_is_attached_again(client, broker):
    for _ in range(20):
        sender = client.sender("queue.again", name="again")
        assert sender.send("x").outcome() == "accepted"
        sender.close()
    assert len(broker.queues["queue.again"]) == 20


def test_the_loss_of_the_broker_closes_the_link(client, broker):
    sender = client.sender("queue.lost")
    broker.stop()
    assert sender.refusal().name == "qd:routed-link-lost"


def test_without_the_broker_there_is_no_route(routed, client, broker):
    broker.stop()
    wait_until(lambda: not is_active(routed.management), "inactive link routes")
    assert client.sender("queue.none", wait=False).refusal().name == "qd:no-route-to-dest"


def coordinator(client):
    def set_up(link):
        link.target.type = Terminus.COORDINATOR
        link.target.address = None

    return client.sender(None, set_up=set_up)


def declare(client, control):
    declared = control.send(Message(body=Described(ulong(DECLARE), [])))
    client.until(lambda: declared.delivery.remote_state == DECLARED, "the transaction's identity")
    return declared.delivery.remote.data[0]


def send_within(sender, transaction, body):
    sender.wait_for_credit()
    delivery = sender.link.delivery(sender.link.delivery_tag())
    delivery.local.data = [transaction]
    delivery.update(TRANSACTIONAL)
    sender.link.stream(Message(body=body).encode())
    sender.link.advance()
    sender.peer.until(lambda: delivery.remote_state == TRANSACTIONAL, "a transactional outcome")
    return delivery


@pytest.mark.parametrize("fail", [False, True])
def test_a_transaction_is_the_brokers(client, broker, fail):
    control, sender = coordinator(client), client.sender("queue.transacted")
    transaction = declare(client, control)
    for body in ("one", "two"):
        send_within(sender, transaction, body)
    assert not broker.queues["queue.transacted"]
    discharged = control.send(Message(body=Described(ulong(DISCHARGE), [transaction, fail])))
    assert discharged.outcome() == "accepted"
    assert len(broker.queues["queue.transacted"]) == (0 if fail else 2)


def test_an_outcome_of_the_receiver_waits_for_the_sender_to_settle(client):
    client.sender("queue.second").send("x").outcome()
    receiver = client.receiver("queue.second", credit=1, rcv_settle_mode=RECEIVER_SECOND)
    received = receiver.next()
    received.delivery.update(received.delivery.ACCEPTED)
    client.until(lambda: received.delivery.settled, "the sender's settlement")


def test_link_routes_come_and_go_at_run_time(routed, client):
    management = routed.management
    created = management.create(
        "router.config.linkRoute", "later", prefix="later", connection="broker", direction="in"
    )
    assert (created.status, created.body["operStatus"]) == (201, "active")
    assert client.sender("later.a").send("x").outcome() == "accepted"
    assert management.delete("router.config.linkRoute", name="later").status == 204
    assert len(management.query("router.config.linkRoute")) == 4
