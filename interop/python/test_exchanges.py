"""Exchanges: by its subject a message goes on to other addresses."""

import pytest
from proton import Message
from support.management import Management

SECTIONS = """
exchange {
    name: topics
    address: topics
    alternateAddress: unrouted
}
binding {
    name: prices
    exchangeName: topics
    bindingKey: price.#
    nextHopAddress: prices
}
binding {
    name: stock
    exchangeName: topics
    bindingKey: price.stock.*
    nextHopAddress: stock
}
exchange {
    name: sensors
    address: sensors
    matchMethod: mqtt
}
binding {
    exchangeName: sensors
    bindingKey: +/temperature/#
    nextHopAddress: temperatures
}
"""
#: Larger than what the router waits for before it passes a message on.
LARGE = "x" * 1_000_000


@pytest.fixture
def exchanges(start_router, connect):
    """A router with exchanges, and its management node."""
    router = start_router(sections=SECTIONS)
    router.management = Management(connect(router))
    return router


@pytest.fixture
def client(exchanges, connect):
    return connect(exchanges)


def about(subject, body):
    return Message(subject=subject, body=body)


def test_a_message_is_copied_to_each_address_that_is_bound(client, exchanges):
    prices, stock = client.receiver("prices"), client.receiver("stock")
    sender = client.sender("topics")
    assert sender.send(about("price.stock.acme", "both")).outcome() == "accepted"
    assert sender.send(about("price", "one")).outcome() == "accepted"
    assert (prices.take(2), stock.take(1)) == (["both", "one"], ["both"])
    assert stock.has_nothing()
    topics = exchanges.management.read("router.config.exchange", name="topics").body
    assert (topics["receivedCount"], topics["forwardedCount"], topics["bindingCount"]) == (2, 2, 2)
    matched = {row["name"]: row["matchedCount"] for row in exchanges.management.query("router.config.binding")}
    assert (matched["prices"], matched["stock"]) == (2, 1)


def test_copies_come_settled(client):
    prices = client.receiver("prices")
    client.sender("topics").send(about("price", "x"))
    assert prices.next().settled_by_sender


def test_what_nothing_is_bound_to_goes_to_the_alternate_address(client, exchanges):
    unrouted = client.receiver("unrouted")
    sender = client.sender("topics")
    assert sender.send(about("other", "x")).outcome() == "accepted"
    assert sender.send(Message(body="without a subject")).outcome() == "accepted"
    assert unrouted.take(2) == ["x", "without a subject"]
    assert exchanges.management.read("router.config.exchange", name="topics").body["divertedCount"] == 2


def test_what_nobody_takes_is_released(client, exchanges):
    assert client.sender("sensors").send(about("hall/humidity", "x")).outcome() == "released"
    assert exchanges.management.read("router.config.exchange", name="sensors").body["droppedCount"] == 1


def test_the_levels_of_mqtt(client):
    temperatures = client.receiver("temperatures")
    sender = client.sender("sensors")
    for subject, body in [("hall/temperature", 1), ("a/b/temperature", 2), ("hall/temperature/max", 3)]:
        sender.send(about(subject, body))
    assert temperatures.take(2) == [1, 3]


def test_a_large_message_is_copied_while_it_comes(client):
    prices, stock = client.receiver("prices"), client.receiver("stock")
    assert client.sender("topics").send(about("price.stock.acme", LARGE)).outcome() == "accepted"
    assert prices.take(1) == stock.take(1) == [LARGE]


def test_an_exchange_made_at_run_time_reads_the_subjects_of_senders_that_were_there(client, exchanges):
    sender = client.sender("late", wait=False)
    made = exchanges.management.create("router.config.exchange", "late", address="late")
    assert (made.status, made.body["matchMethod"], made.body["alternateAddress"]) == (201, "amqp", None)
    bound = exchanges.management.create(
        "router.config.binding", None, exchangeName="late", bindingKey="a.*", nextHopAddress="hop", nextHopPhase=1
    )
    assert (bound.status, bound.body["nextHopPhase"], bound.body["matchedCount"]) == (201, 1, 0)
    hop = client.receiver("hop", capability="qd.waypoint.2")
    assert sender.send(about("a.b", LARGE)).outcome() == "accepted"
    assert hop.take(1) == [LARGE]
    assert exchanges.management.delete("router.config.exchange", name="late").status == 204
    assert all(row["exchangeName"] != "late" for row in exchanges.management.query("router.config.binding"))


@pytest.mark.parametrize(
    "type, name, attributes, text",
    [
        ("exchange", "topics", {"address": "x"}, "duplicate exchange name"),
        ("exchange", "x", {"address": "topics"}, "duplicate exchange address"),
        ("binding", "x", {"exchangeName": "nobody", "nextHopAddress": "x"}, "Named exchange does not exist"),
        ("binding", "x", {"exchangeName": "sensors", "bindingKey": "a/#/b", "nextHopAddress": "x"},
         "The binding key pattern is invalid"),
        ("binding", "stock", {"exchangeName": "topics", "nextHopAddress": "x"}, "Duplicate next hop name"),
        ("binding", "x", {"exchangeName": "topics", "bindingKey": "price.#", "nextHopAddress": "prices"},
         "Next hop for key already exists"),
    ],
)
def test_what_cannot_be_is_refused(exchanges, type, name, attributes, text):
    refused = exchanges.management.create(f"router.config.{type}", name, **attributes)
    assert (refused.status, text in refused.description) == (400, True), refused.description
