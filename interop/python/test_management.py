"""The management node shows and changes a running router, as scripts written for the old router expect."""

import pytest
from proton import Message
from support.management import PREFIX, Management
from support.router import free_port, wait_until
from support.wire import OPEN, Wire


@pytest.fixture
def management(peer):
    """The shared router's management node."""
    return Management(peer)


def address_row(management, address):
    rows = [row for row in management.query("router.address") if row["name"] == "M0" + address]
    return rows[0] if rows else None


def link_rows(management, address):
    return [row for row in management.query("router.link") if row["owningAddr"] == "M0" + address]


def test_the_router_tells_who_it_is(management, router):
    (row,) = management.query("router")

    assert (row["id"], row["mode"]) == (router.id, "standalone")
    assert row["memoryUsage"] > 0
    assert row["uptimeSeconds"] >= 0


def test_a_reply_goes_to_any_address(peer, address):
    replies = peer.receiver(address)
    request = Message(
        reply_to=address, correlation_id="c-1",
        properties={"operation": "GET-MGMT-NODES", "type": "org.amqp.management", "name": "self"},
    )
    peer.sender("$management").send(request)

    reply = replies.next().message
    assert (reply.correlation_id, reply.properties["statusCode"], reply.body) == ("c-1", 200, [])


def test_a_request_without_a_reply_address_is_accepted_and_answered_by_nothing(management, peer):
    request = Message(properties={"operation": "QUERY", "type": "org.amqp.management", "name": "self"})

    assert peer.sender("$management").send(request).outcome() == "accepted"
    assert management.replies.has_nothing()


def test_a_request_that_is_no_message_is_rejected(peer, management):
    sent = peer.sender("$management").send(b"\x00\x53\x77\xa1\x40short")

    assert sent.outcome() == "rejected"
    assert management.query("router")


@pytest.mark.parametrize("limit", [1, 5])
def test_get_log_gives_the_newest_entries(management, limit):
    reply = management.ask("GET-LOG", type="org.amqp.management", name="self", limit=limit)

    assert reply.status == 200
    assert len(reply.body) == limit
    module, level, text, *_ = reply.body[-1]
    assert all(isinstance(part, str) for part in (module, level, text))


def test_get_types_names_every_entity_type(management):
    reply = management.ask("GET-TYPES", type="org.amqp.management", name="self")

    assert len(reply.body) == 29
    assert reply.body[PREFIX + "listener"] == [PREFIX + "configurationEntity", PREFIX + "entity"]


def test_get_schema_describes_every_attribute(management):
    schema = management.ask("GET-SCHEMA", type="org.amqp.management", name="self").body

    port = schema["entityTypes"]["listener"]["attributes"]["port"]
    assert (port["type"], port["default"]) == ("string", "amqp")


def test_an_unknown_operation_is_not_implemented(management):
    assert management.ask("JUGGLE", type="org.amqp.management", name="self").status == 501


def test_an_unknown_entity_is_not_found(management):
    assert management.read("listener", name="nosuch").status == 404
    assert management.read("router.config.address", name="nosuch").status == 404


# === addresses, links, connections


def test_an_address_tells_its_consumers_and_traffic(management, peer, address):
    receiver = peer.receiver(address, accepts=True)
    sender = peer.sender(address)
    assert [sender.send(number).outcome() for number in range(3)] == ["accepted"] * 3
    receiver.take(3)

    row = address_row(management, address)

    assert (row["distribution"], row["subscriberCount"]) == ("balanced", 1)
    assert (row["deliveriesIngress"], row["deliveriesEgress"]) == (3, 3)


def test_an_address_is_gone_when_nobody_uses_it(management, peer, address):
    receiver = peer.receiver(address)
    assert address_row(management, address)

    receiver.close()

    wait_until(lambda: address_row(management, address) is None, "the address to go")


def test_a_link_counts_each_outcome(management, peer, address):
    receiver = peer.receiver(address)
    sender = peer.sender(address)
    for act in ("accept", "accept", "reject", "release", "modify"):
        sent = sender.send(act)
        getattr(receiver.next(), act)()
        sent.outcome()
    sender.send("settled", settled=True)
    receiver.next()

    (row,) = [row for row in link_rows(management, address) if row["linkDir"] == "in"]

    counts = [row[name + "Count"] for name in ("accepted", "rejected", "released", "modified", "presettled", "delivery")]
    assert counts == [2, 1, 1, 1, 1, 6]


def test_a_link_tells_its_capacity_and_credit(management, peer, address):
    peer.receiver(address, credit=7)
    peer.sender(address).wait_for_credit(250)

    rows = {row["linkDir"]: row for row in link_rows(management, address)}

    assert rows["in"]["capacity"] == 250
    assert rows["out"]["creditAvailable"] == 7
    assert rows["in"]["linkType"] == "endpoint"


def test_presettled_deliveries_lost_with_a_receiver_are_counted(management, peer, address):
    receiver = peer.receiver(address, credit=0)
    sender = peer.sender(address)
    for number in range(5):
        sender.send(number, settled=True)
    wait_until(lambda: [row for row in link_rows(management, address) if row["undeliveredCount"] == 5], "the deliveries to wait")
    before = management.query("router")[0]["droppedPresettledDeliveries"]

    receiver.close()

    wait_until(
        lambda: management.query("router")[0]["droppedPresettledDeliveries"] == before + 5, "the dropped ones to be counted"
    )


def test_a_connection_tells_who_it_is(management, peer):
    rows = management.query("connection")

    row = [row for row in rows if row["container"] == peer.container.container_id][0]
    assert (row["dir"], row["role"], row["protocol"], row["sasl"], row["user"]) == ("in", "normal", "amqp", "ANONYMOUS", "anonymous")
    assert row["isAuthenticated"] is True
    assert row["isEncrypted"] is False


def test_a_connection_can_be_ended_by_an_operator(start_router, connect):
    router = start_router()
    management = Management(connect(router))
    victim = connect(router)
    row = [row for row in management.query("connection") if row["container"] == victim.container.container_id][0]

    assert management.update("connection", {"adminStatus": "deleted"}, identity=row["identity"]).status == 200

    victim.until(lambda: not victim.is_connected(), "the loss of the connection")


# === changes


def test_a_listener_created_at_run_time_serves(management, router):
    port = free_port()

    reply = management.create("listener", "extra", host="127.0.0.1", port=str(port), saslMechanisms="ANONYMOUS")

    assert reply.status == 201, reply.description
    assert reply.body["identity"] == f"listener/127.0.0.1:{port}:extra"
    router.wait_for_port(port)
    with Wire(port) as wire:
        assert wire.open().descriptor == OPEN
    assert management.delete("listener", name="extra").status == 204


def test_a_deleted_listener_keeps_its_connections(management, router):
    port = free_port()
    management.create("listener", "going", host="127.0.0.1", port=str(port))
    router.wait_for_port(port)
    with Wire(port) as wire:
        wire.open()

        assert management.delete("listener", name="going").status == 204

        assert wire.begin() is not None


@pytest.mark.parametrize(
    "attributes",
    [{"port": "1", "role": "wrong"}, {"port": "1", "nonsense": 1}, {"port": "1", "maxFrameSize": "many"}, {"port": "1", "role": "inter-router"}],
    ids=["a bad value", "an unknown attribute", "no number", "a role that standalone has not"],
)
def test_a_refused_creation_leaves_no_trace(management, attributes):
    before = management.query("listener")

    reply = management.create("listener", "refused", host="127.0.0.1", **attributes)

    assert reply.status == 400
    assert management.query("listener") == before


def test_the_same_name_twice_is_refused(management):
    assert management.create("router.config.address", "twice", prefix="twice/a").status == 201

    assert management.create("router.config.address", "twice", prefix="twice/b").status == 400

    assert management.delete("router.config.address", name="twice").status == 204


def test_the_same_prefix_twice_is_refused(management):
    assert management.create("router.config.address", "one", prefix="same").status == 201

    assert management.create("router.config.address", "two", pattern="same/#").status == 400

    assert management.delete("router.config.address", name="one").status == 204


def test_an_address_configured_at_run_time_counts_for_new_addresses(management, peer, address):
    assert management.create("router.config.address", "spread", prefix=address, distribution="multicast").status == 201
    receivers = [peer.receiver(address + "/x") for _ in range(2)]

    peer.sender(address + "/x").send("to both")

    assert [receiver.next().body for receiver in receivers] == ["to both"] * 2
    assert management.delete("router.config.address", name="spread").status == 204


def test_a_log_level_changes_at_run_time(start_router, connect):
    router = start_router(log="warning+")
    peer = connect(router)
    management = Management(peer)
    assert "PROTOCOL" not in router.log()

    assert management.update("log", {"enable": "trace+"}, identity="log/PROTOCOL").status == 200
    peer.receiver("traced")

    wait_until(lambda: "@attach(18)" in router.log(), "the trace of a connection that was there before")


def test_a_wrong_log_level_is_told_with_the_right_ones(management):
    reply = management.update("log", {"enable": "loud"}, identity="log/SERVER")

    assert reply.status == 500
    assert "'loud' is not a valid log level" in reply.description


def test_a_query_during_changes_is_consistent(management, peer, address):
    for number in range(30):
        assert management.create("router.config.address", f"c{number}", prefix=f"{address}/c{number}").status == 201
        rows = management.query("router.config.address")
        assert len([row for row in rows if (row["prefix"] or "").startswith(address)]) == number + 1
    for number in range(30):
        assert management.delete("router.config.address", name=f"c{number}").status == 204


def test_a_query_can_be_read_in_pages(management):
    first = management.ask(
        "QUERY", {"attributeNames": []}, type="org.amqp.management", name="self", entityType=PREFIX + "router.link", offset=0, count=1
    )

    assert len(first.body["results"]) == 1


def test_large_numbers_stay_whole(start_router, connect):
    router = start_router(sections="vhost {\n    hostname: big\n    maxMessageSize: 5368709120\n}")

    (row,) = Management(connect(router)).query("vhost")

    assert row["maxMessageSize"] == 5 * 1024**3
