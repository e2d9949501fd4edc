"""The manual's network that survives the loss of a router, and keeps messages for receivers that are away.

Routers A, B and C; clients are at A; the broker is behind B, and, once B is lost, behind C.
"""

import json

import pytest
from proton import Message
from support.load import Persistent, receive_all, send_all
from support.manual import Triangle, connector, waypoint
from support.tools import qdmanage, qdstat


@pytest.fixture
def start_triangle(tmp_path, rabbit):
    """Starts the network with the auto-links of a queue at B."""
    started = []

    def start(queue, at_c=""):
        at_b = connector("BROKER", rabbit.port, "route-container") + waypoint(queue, "BROKER")
        triangle = Triangle(tmp_path, {"A": waypoint(queue), "B": at_b, "C": at_c})
        started.append(triangle)
        return triangle

    yield start
    for triangle in started:
        triangle.stop()


def created_at_run_time(queue, rabbit):
    """The manual's text for `qdmanage create --stdin`."""
    return json.dumps(
        [
            {"type": "connector", "name": "BROKER", "port": rabbit.port, "role": "route-container"},
            {"type": "address", "prefix": queue, "waypoint": "yes"},
            {"type": "autoLink", "addr": queue, "connection": "BROKER", "dir": "in"},
            {"type": "autoLink", "addr": queue, "connection": "BROKER", "dir": "out"},
        ]
    )


def phase(router, queue, number):
    """The row of a phase of the queue's address."""
    rows = qdstat(router, "-a").where(addr=queue, phs=str(number))
    return rows[0] if rows else None


def wait_until_reachable(client, router, queue):
    """Until a router has the queue, at itself or at another router."""

    def reachable():
        row = phase(router, queue, 0)
        return row and (row["local"], row["remote"]) != ("0", "0")

    client.until(reachable, "the queue", 60)


def test_a_queue_is_reached_through_c_after_b_is_lost(start_triangle, rabbit, queue, connect):
    triangle = start_triangle(queue)
    client = connect(triangle["A"])
    wait_until_reachable(client, triangle["A"], queue)

    assert send_all(client.sender(queue), range(10)) == {"accepted": 10}
    assert phase(triangle["B"], queue, 0)["out"] == "10"
    assert sorted(receive_all(client.receiver(queue, credit=0, accepts=True), 10)) == list(range(10))
    assert phase(triangle["B"], queue, 1)["in"] == "10"

    triangle["B"].kill()
    created = qdmanage(triangle["C"], "create", "--stdin", text=created_at_run_time(queue, rabbit))
    assert [entity["type"].rsplit(".", 1)[1] for entity in created] == ["connector", "address", "autoLink", "autoLink"]
    assert [entity["phase"] for entity in created[2:]] == [1, 0]
    assert {entity["operStatus"] for entity in created[2:]} <= {"inactive", "attaching", "active"}

    client = connect(triangle["A"])
    wait_until_reachable(client, triangle["C"], queue)
    load = Persistent(client.sender(queue), (Message(body=number) for number in range(10)))
    load.run_until(lambda: len(load.accepted) == 10)
    assert int(phase(triangle["C"], queue, 0)["out"]) >= 10
    received = set()
    receiver = client.receiver(queue, credit=50, accepts=True)
    client.until(lambda: received.update(each.body for each in receiver.arrived) or len(received) == 10, "the messages")
    assert int(phase(triangle["C"], queue, 1)["in"]) >= 10


def test_receivers_may_be_away_while_messages_come(start_triangle, queue, connect):
    triangle = start_triangle(queue, at_c=waypoint(queue))
    client = connect(triangle["A"])
    wait_until_reachable(client, triangle["A"], queue)
    sender = client.sender(queue)
    assert send_all(sender, range(10)) == {"accepted": 10}
    sender.close()
    assert sorted(receive_all(connect(triangle["C"]).receiver(queue, credit=0, accepts=True), 10)) == list(range(10))
