"""What the router says over HTTP, read by other people's parsers and clients."""

import contextlib
import urllib.error
import urllib.request

import pytest
import websockets.exceptions
from prometheus_client.parser import text_string_to_metric_families
from proton import Message
from support.router import PATIENCE, free_port
from websockets.sync.client import connect as connect_websocket

AMQP = b"AMQP\0\1\0\0"


@pytest.fixture
def web(start_router):
    """A router that speaks HTTP at `router.web`."""
    port = free_port()
    listener = f"listener {{\n host: 127.0.0.1\n port: {port}\n http: yes\n name: web\n}}\n"
    router = start_router(sections=listener)
    router.wait_for_port(port)
    router.web = f"127.0.0.1:{port}"
    return router


def get(router, path):
    with urllib.request.urlopen(f"http://{router.web}{path}", timeout=PATIENCE) as answer:
        return answer.read().decode()


def metrics(router, query=""):
    """Families by name, as Prometheus's own parser has them."""
    return {family.name: family for family in text_string_to_metric_families(get(router, f"/metrics{query}"))}


def value(families, name, **labels):
    samples = (sample for family in families.values() for sample in family.samples)
    return next(
        (sample.value for sample in samples if sample.name == name and labels.items() <= sample.labels.items()), None
    )


def test_a_router_that_serves_is_well(web):
    assert [get(web, path) for path in ("/healthz", "/healthz/live", "/healthz/ready")] == ["OK\n"] * 3


def test_metrics_tell_of_every_part(web, connect, address):
    peer = connect(web)
    receiver = peer.receiver(address, accepts=True)
    assert peer.sender(address).send("x").outcome() == "accepted"
    receiver.take(1)
    found = metrics(web)
    assert value(found, "qdr_deliveries_ingress_total") == value(found, "waystation_deliveries_ingress_total") >= 1
    assert value(found, "waystation_address_deliveries_egress_total", address=address) == 1
    assert value(found, "waystation_link_deliveries_total", address=address, direction="out") == 1
    assert value(found, "waystation_listener_up", http="yes", listener="web") == 1
    assert value(found, "waystation_delivery_settlement_seconds_count") >= 1
    assert value(found, "waystation_connection_uptime_seconds", role="normal", direction="in") is not None


def test_names_of_new_metrics_keep_to_the_rules(web):
    families = [family for name, family in metrics(web, "?names=new").items()]
    assert all(family.documentation for family in families)
    assert all(family.name.startswith(("waystation_", "process_")) for family in families)
    # The parser takes the ending off where it belongs.
    assert not [family.name for family in families if family.name.endswith("_total")]
    assert {family.type for family in families} == {"counter", "gauge", "histogram"}


def test_histograms_are_cumulative_and_end_with_all(web):
    histogram = metrics(web)["waystation_delivery_transit_seconds"]
    buckets = [sample for sample in histogram.samples if sample.name.endswith("_bucket")]
    counts = [sample.value for sample in buckets]
    assert counts == sorted(counts) and buckets[-1].labels["le"] == "+Inf"
    assert counts[-1] == value({"": histogram}, "waystation_delivery_transit_seconds_count")


def test_details_and_old_names_can_be_left_out(web):
    lean = metrics(web, "?names=new&detail=no")
    assert "waystation_connections" in lean
    assert not [name for name in lean if name.startswith(("qdr_", "waystation_link_deliveries", "waystation_address_"))]
    with pytest.raises(urllib.error.HTTPError, match="400"):
        get(web, "/metrics?nonsense")


def test_the_protocol_header_is_answered_over_a_websocket(web):
    with connect_websocket(f"ws://{web.web}", subprotocols=["amqp"]) as socket:
        assert socket.subprotocol == "amqp"
        socket.send(AMQP)
        assert socket.recv(timeout=PATIENCE).startswith(AMQP)
        assert socket.ping().wait(PATIENCE)


def test_text_over_a_websocket_is_refused_with_the_reason(web):
    with connect_websocket(f"ws://{web.web}", subprotocols=["amqp"]) as socket:
        socket.send("AMQP is not text")
        with pytest.raises(websockets.exceptions.ConnectionClosedError) as closed:
            socket.recv(timeout=PATIENCE)
    assert closed.value.rcvd.code == 1003


def test_a_router_stops_while_a_websocket_is_open(web):
    with contextlib.suppress(websockets.exceptions.ConnectionClosed):
        with connect_websocket(f"ws://{web.web}", subprotocols=["amqp"]):
            assert web.stop() == 0


QUEUES = """
store {{
    path: {store}
}}
queue {{
    address: work
    deadLetterAddress: dead
    expiryAddress: late
}}
queue {{
    address: ring
    maxMessages: 2
    overflow: ring
}}
"""


def test_metrics_of_queues_count_what_became_of_each_message(start_router, connect, tmp_path):
    port = free_port()
    listener = f"listener {{\n host: 127.0.0.1\n port: {port}\n http: yes\n}}\n"
    router = start_router(sections=listener + QUEUES.format(store=tmp_path / "store"))
    router.wait_for_port(port)
    router.web = f"127.0.0.1:{port}"
    peer = connect(router)
    work, ring = peer.sender("work"), peer.sender("ring")
    for body in ("accepted", "rejected", "released", "left"):
        assert work.send(body).outcome() == "accepted"
    assert work.send(Message("expired", ttl=0.001)).outcome() == "accepted"
    for body in range(5):
        assert ring.send(body).outcome() == "accepted"
    receiver = peer.receiver("work", credit=3)
    accepted, rejected, released = (receiver.next() for _ in range(3))
    accepted.accept()
    rejected.reject()
    released.release()
    receiver.flow(1)
    receiver.next().accept()

    def counted():
        families = metrics(router, "?names=new")
        return lambda name, queue="work": value(families, f"waystation_queue_{name}", queue=queue)

    peer.until(lambda: counted()("messages") == 1 and counted()("messages", "late") == 1, "all to be where it goes")
    found = counted()
    for name, number in {
        "enqueued_total": 5,
        "delivered_total": 4,
        "redelivered_total": 1,
        "dequeued_total": 2,
        "dead_lettered_total": 1,
        "expired_total": 1,
        "dropped_total": 0,
        "consumers": 1,
        "producers": 1,
    }.items():
        assert found(name) == number, name
    assert [found(name, "ring") for name in ("enqueued_total", "dropped_total", "messages")] == [5, 3, 2]
    assert [found("messages", queue) for queue in ("dead", "late")] == [1, 1]
    assert 0 < found("oldest_message_seconds") < PATIENCE and found("bytes") > 0
