"""Queues of RabbitMQ behind the network, reached by auto-links: every message goes through the queue."""

import os

import pytest
from proton import Message
from support.load import Persistent, receive_all, send_all
from support.management import Management
from support.tools import qdstat


def waypoint(queue, brokers, external=None):
    """A configuration that spreads one queue over brokers."""
    other_name = f"externalAddress: {external}" if external else ""
    sections = f"address {{\n prefix: {queue}\n waypoint: yes\n}}\n"
    for number, broker in enumerate(brokers):
        sections += f"connector {{\n name: broker-{number}\n host: 127.0.0.1\n port: {broker.port}\n role: route-container\n}}\n"
        for direction in ("in", "out"):
            sections += (
                f"autoLink {{\n address: {queue}\n connection: broker-{number}\n direction: {direction}\n {other_name}\n}}\n"
            )
    return sections


def wait_for_auto_links(router, connect):
    management = Management(connect(router))

    def active():
        return {link["operStatus"] for link in management.query("router.config.autoLink")} == {"active"}

    management.peer.until(active, "active auto-links", 60)


@pytest.fixture
def start_waypoint(start_router, connect):
    def start(*arguments, **options):
        router = start_router(sections=waypoint(*arguments, **options))
        wait_for_auto_links(router, connect)
        return router

    return start


def test_messages_are_stored_until_a_receiver_comes(start_waypoint, rabbit, queue, connect):
    client = connect(start_waypoint(queue, [rabbit]))
    sender = client.sender(queue)
    assert send_all(sender, range(10)) == {"accepted": 10}
    sender.close()
    assert sorted(receive_all(client.receiver(queue, credit=0, accepts=True), 10)) == list(range(10))


def test_a_queue_on_two_brokers_gets_half_of_the_messages_each(start_waypoint, rabbit, other_rabbit, queue, connect):
    router = start_waypoint(queue, [rabbit, other_rabbit])
    client = connect(router)

    def deliveries(direction):
        links = qdstat(router, "-l").where(type="endpoint", dir=direction, addr=queue)
        return sorted(link["deliv"] for link in links if link["phs"] == {"out": "0", "in": "1"}[direction])

    assert send_all(client.sender(queue), range(10)) == {"accepted": 10}
    assert deliveries("out") == ["5", "5"]
    assert sorted(receive_all(client.receiver(queue, credit=0, accepts=True), 10)) == list(range(10))
    assert deliveries("in") == ["5", "5"]


def test_none_of_many_messages_is_lost_or_doubled_by_two_brokers(start_waypoint, rabbit, other_rabbit, queue, connect):
    client = connect(start_waypoint(queue, [rabbit, other_rabbit]))
    # By hand also with 100,000 and more.
    count = int(os.environ.get("WAYSTATION_MANY", 20_000))
    assert send_all(client.sender(queue), range(count), patience=600) == {"accepted": count}
    received = receive_all(client.receiver(queue, credit=0, accepts=True), count, patience=600)
    assert sorted(received) == list(range(count))


def test_what_was_accepted_outlives_a_broker_that_is_killed_under_load(start_waypoint, rabbit, connect):
    count = 3000
    client = connect(start_waypoint("durable", [rabbit], external="/amq/queue/durable-0"))
    load = Persistent(client.sender("durable"), (Message(body=number, durable=True) for number in range(count)))
    load.run_until(lambda: len(load.accepted) >= count // 3)
    rabbit.kill()
    before = set(load.accepted)
    rabbit.start()
    load.run_until(lambda: len(load.accepted) == count)

    receiver = client.receiver("durable", credit=2 * count, accepts=True)
    received = set()

    def take():
        received.update(delivery.body for delivery in receiver.arrived)
        receiver.arrived.clear()
        return len(received) == count

    client.until(take, "all that was accepted, which is more than " + str(len(before)), 120)
