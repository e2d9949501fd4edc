"""Links that the router attaches by itself at a broker, which stores and forwards the messages of an address."""

import pytest
from support.broker import Broker
from support.management import Management
from support.router import wait_until

SECTIONS = """
connector {{
    name: broker
    host: 127.0.0.1
    port: {port}
    role: route-container
}}
address {{
    prefix: queue
    waypoint: yes
}}
autoLink {{
    address: queue.a
    connection: broker
    direction: out
}}
autoLink {{
    address: queue.a
    connection: broker
    direction: in
}}
autoLink {{
    name: external
    address: queue.b
    externalAddress: other.name
    connection: broker
    direction: out
}}
"""


def states(management):
    return {link["operStatus"] for link in management.query("router.config.autoLink")}


@pytest.fixture
def waypoint(start_router, broker, connect):
    """A router with auto-links to the broker, which is connected."""
    router = start_router(sections=SECTIONS.format(port=broker.port))
    router.management = Management(connect(router))
    wait_until(lambda: states(router.management) == {"active"}, "active auto-links")
    return router


@pytest.fixture
def client(waypoint, connect):
    return connect(waypoint)


def test_messages_wait_at_the_broker_for_a_receiver(client, broker):
    sender = client.sender("queue.a")
    assert {sender.send(number).outcome() for number in range(20)} == {"accepted"}
    receiver = client.receiver("queue.a", credit=20)
    assert sorted(receiver.take(20)) == list(range(20))


def test_the_broker_may_call_the_queue_otherwise(client, broker):
    assert client.sender("queue.b").send("x").outcome() == "accepted"
    assert len(broker.queues["other.name"]) == 1


def test_a_broker_that_was_killed_and_comes_back_is_found_again(waypoint, client, broker):
    broker.stop()
    wait_until(lambda: states(waypoint.management) == {"inactive"}, "inactive auto-links")
    again = Broker(port=broker.port).start()
    wait_until(lambda: states(waypoint.management) == {"active"}, "active auto-links")
    assert client.sender("queue.a").send("x").outcome() == "accepted"
    again.stop()


def test_a_queue_that_appears_later_is_found(waypoint, broker):
    broker.missing.add("queue.later")
    management = waypoint.management
    made = management.create(
        "router.config.autoLink", "later", address="queue.later", connection="broker", direction="out"
    )
    assert made.status == 201

    def later():
        return next(link for link in management.query("router.config.autoLink") if link["name"] == "later")

    failed = wait_until(lambda: later()["operStatus"] == "failed" and later(), "the failure")
    assert failed["lastError"] == "Queue queue.later does not exist"
    broker.missing.clear()
    wait_until(lambda: later()["operStatus"] == "active", "an active auto-link")


def test_auto_links_go_at_run_time(waypoint, broker):
    assert waypoint.management.delete("router.config.autoLink", name="external").status == 204
    wait_until(lambda: any(closed for _, closed, _ in broker.detached), "the detach at the broker")
    assert len(waypoint.management.query("router.config.autoLink")) == 2


def test_two_brokers_share_a_queue(start_router, connect):
    brokers = [Broker(container_id=f"broker-{number}").start() for number in range(2)]
    sections = "".join(
        f"""
connector {{
    name: broker-{number}
    host: 127.0.0.1
    port: {broker.port}
    role: route-container
}}
autoLink {{
    address: sharded
    connection: broker-{number}
    direction: out
}}
autoLink {{
    address: sharded
    connection: broker-{number}
    direction: in
}}
"""
        for number, broker in enumerate(brokers)
    )
    router = start_router(sections="address {\n prefix: sharded\n waypoint: yes\n}\n" + sections)
    management = Management(connect(router))
    wait_until(lambda: states(management) == {"active"}, "active auto-links")
    client = connect(router)
    sender = client.sender("sharded")
    for number in range(10):
        assert sender.send(number).outcome() == "accepted"
    assert [len(broker.queues["sharded"]) for broker in brokers] == [5, 5]
    assert sorted(client.receiver("sharded", credit=10).take(10)) == list(range(10))
    for broker in brokers:
        broker.stop()
