"""Links routed to RabbitMQ: clients are attached at its queues, and get its answers, also where it cannot do a thing."""

import itertools

import pytest
from proton import Endpoint, Message, Terminus
from support.load import receive_all, send_all
from support.management import Management

#: What the router tells of all links of a session that the broker ends.
LOST = "qd:routed-link-lost"

_numbers = itertools.count()

SECTIONS = """
connector {{
    name: broker
    host: 127.0.0.1
    port: {port}
    role: route-container
}}
linkRoute {{
    prefix: amq/queue
    connection: broker
    direction: in
}}
linkRoute {{
    prefix: amq/queue
    connection: broker
    direction: out
}}
linkRoute {{
    prefix: $coordinator
    connection: broker
    direction: in
}}
address {{
    prefix: waypoint
    waypoint: yes
}}
autoLink {{
    address: waypoint
    connection: broker
    direction: in
}}
autoLink {{
    address: waypoint
    connection: broker
    direction: out
}}
"""


@pytest.fixture
def routed(start_router, rabbit, connect):
    """A router that RabbitMQ is connected to: with link routes, and with auto-links that must outlive whatever happens."""
    router = start_router(sections=SECTIONS.format(port=rabbit.port))
    router.management = Management(connect(router))
    router.management.peer.until(lambda: is_whole(router), "active auto-links and link routes", 60)
    return router


def is_whole(router):
    kinds = ("router.config.autoLink", "router.config.linkRoute")
    return all(entity["operStatus"] == "active" for kind in kinds for entity in router.management.query(kind))


@pytest.fixture
def queue():
    """One of the broker's durable queues that is nobody else's. (A queue that RabbitMQ 3.10 makes for a link of its own accord is
    at times not there yet for the next link a few milliseconds later, and it ends the session for that.)"""
    return f"routed-{next(_numbers)}"


@pytest.fixture
def client(routed, connect):
    return connect(routed)


@pytest.fixture
def still_serves(routed, rabbit, connect, queue):
    """Whether the broker is still reached in both ways, once the router has put right what the broker ended."""

    def still_serves(*addresses):
        routed.management.peer.until(lambda: is_whole(routed), "active auto-links and link routes", 60)
        for address in addresses or (f"/amq/queue/{queue}-after", "waypoint"):
            serves(address)
        return True

    def serves(address):
        faults = rabbit.lost_processes()
        try:
            client = connect(routed)
            assert send_all(client.sender(address), range(3)) == {"accepted": 3}
            assert sorted(receive_all(client.receiver(address, credit=0, accepts=True), 3)) == [0, 1, 2]
        except AssertionError:
            # The session that it has ended by a fault of its own is not the one in question.
            if rabbit.lost_processes() == faults:
                raise
            serves(address)

    return still_serves


def test_messages_are_stored_until_a_receiver_comes(client, queue):
    address = f"/amq/queue/{queue}"
    sender = client.sender(address)
    assert send_all(sender, range(10)) == {"accepted": 10}
    sender.close()
    assert receive_all(client.receiver(address, credit=0, accepts=True), 10) == list(range(10))


def test_what_is_released_comes_again(client, queue):
    address = f"/amq/queue/{queue}"
    client.sender(address).send("x").outcome()
    receiver = client.receiver(address, credit=1)
    receiver.next().release()
    receiver.flow(1)
    assert receiver.take(1) == ["x"]


def test_what_is_rejected_does_not_come_again(client, queue):
    address = f"/amq/queue/{queue}"
    sender = client.sender(address)
    send_all(sender, [1, 2])
    receiver = client.receiver(address, credit=1)
    receiver.next().reject()
    receiver.flow(1)
    assert receiver.take(1) == [2]


def test_a_large_message_takes_no_more_memory_than_a_small_one(routed, client, queue):
    address = f"/amq/queue/{queue}"
    content = bytes(range(256)) * 4096 * 32
    before = routed.memory("VmHWM")
    sent = client.sender(address).send(Message(body=content))
    client.until(lambda: sent.delivery.settled, "the outcome", 120)
    assert sent.state() == "accepted"
    receiver = client.receiver(address, credit=1)
    client.until(lambda: receiver.arrived, "the message", 120)
    assert receiver.take(1) == [content]
    assert routed.memory("VmHWM") - before < 32 << 20


def test_the_plug_in_has_no_transactions_and_ends_the_session(client, still_serves):
    def coordinator(link):
        link.target.type = Terminus.COORDINATOR
        link.target.address = None

    assert client.sender(None, set_up=coordinator, wait=False).refusal().name == LOST
    assert still_serves()


def test_the_plug_in_has_no_dynamic_sources_and_ends_the_session(client, still_serves):
    def dynamic(link):
        link.source.address = None
        link.source.dynamic = True
        link.source.properties.put_dict({"x-opt-qd.address": "amq/queue/temporary"})

    assert client.receiver("any", set_up=dynamic, wait=False).refusal().name == LOST
    assert still_serves()


def test_the_plug_in_does_not_know_modified_and_ends_the_session(client, still_serves, queue):
    address = f"/amq/queue/{queue}"
    client.sender(address).send("x").outcome()
    receiver = client.receiver(address, credit=1)
    receiver.next().modify(failed=True)
    assert receiver.refusal().name == LOST
    assert still_serves()


def test_the_plug_in_cannot_drain_and_ends_the_session(client, still_serves, queue):
    receiver = client.receiver(f"/amq/queue/{queue}", credit=0)
    receiver.link.drain(10)
    assert receiver.refusal().name == LOST
    assert still_serves()


def test_the_plug_in_takes_no_more_than_128_mebibytes_and_ends_the_session(client, still_serves, queue):
    sender = client.sender(f"/amq/queue/{queue}")
    sender.send(Message(body=b"x" * (129 << 20)))
    client.until(lambda: sender.link.state & Endpoint.REMOTE_CLOSED, "the end of the link", 120)
    assert sender.link.remote_condition.name == LOST
    # It ends the sessions of other clients' links too, some time later; that of the auto-links stays.
    assert still_serves("waypoint")


def test_the_plug_in_does_not_browse_but_consumes(client, queue):
    address = f"/amq/queue/{queue}"
    client.sender(address).send("x").outcome()

    def browse(link):
        link.source.distribution_mode = Terminus.DIST_MODE_COPY

    browser = client.receiver(address, credit=1, set_up=browse)
    assert browser.take(1) == ["x"]
    assert client.receiver(address, credit=1).has_nothing()
