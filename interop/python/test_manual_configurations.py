"""The configurations of the old router's manual, each with what the manual shows of it; a scripted broker stands behind."""

import pytest
from support.load import receive_all, send_all
from support.manual import Triangle, auto_link, connector, link_route, listener, router, waypoint
from support.router import Configured, free_port, wait_until
from support.tools import qdstat, run

ADDRESSES = ["class", "addr", "phs", "distrib", "pri", "local", "remote", "in", "out", "thru", "fallback"]
AUTO_LINKS = ["addr", "dir", "phs", "extAddr", "link", "status", "lastErr"]


@pytest.fixture
def start(tmp_path):
    """Starts a router with a whole configuration, whose client listener has `port`."""
    started = []

    def start(text, port):
        started.append(Configured(tmp_path, text, port).start())
        return started[-1]

    yield start
    for one in started:
        assert one.stop() == 0


def defaults(port):
    """As in the default configuration: addresses by their prefix."""
    distributions = {
        "closest": "closest", "multicast": "multicast", "unicast": "closest", "exclusive": "closest", "broadcast": "multicast",
    }
    addresses = "".join(
        f"address {{\n    prefix: {prefix}\n    distribution: {distribution}\n}}\n"
        for prefix, distribution in distributions.items()
    )
    return router("Router.A", "standalone") + listener(port) + addresses


def brokered(port, broker_port):
    """A broker with two queues, reached by auto-links."""
    links = "".join(auto_link(f"queue.{queue}", "broker", way) for queue in ("first", "second") for way in ("in", "out"))
    at_broker = connector("broker", broker_port, "route-container", "host", "    saslMechanisms: ANONYMOUS\n")
    return router("Router.A", "standalone") + listener(port) + at_broker + waypoint("queue") + links


def auto_links(router):
    return qdstat(router, "--autolinks")


def rows_of(table, address):
    return {row["phs"]: row for row in table.rows if row["addr"] == address}


def test_the_default_configuration_connects_clients(start, connect):
    port = free_port()
    client = connect(start(defaults(port), port))
    receiver = client.receiver("examples", credit=5, accepts=True)
    assert send_all(client.sender("examples"), range(5)) == {"accepted": 5}
    assert receive_all(receiver, 5) == list(range(5))


@pytest.mark.parametrize(
    ("prefix", "distribution"),
    [("closest", "closest"), ("multicast", "multicast"), ("unicast", "closest"), ("exclusive", "closest"), ("broadcast", "multicast")],
)
def test_the_default_configuration_has_addresses_by_prefix(start, connect, prefix, distribution):
    port = free_port()
    default = start(defaults(port), port)
    connect(default).receiver(f"{prefix}.a")
    table = qdstat(default, "-a")
    assert table.columns == ADDRESSES
    assert [row["distrib"] for row in table.where(addr=f"{prefix}.a")] == [distribution]


def test_auto_links_wait_for_the_broker(start):
    port = free_port()
    lonely = start(brokered(port, free_port()), port)
    table = auto_links(lonely)
    assert table.columns == AUTO_LINKS
    assert [(row["addr"], row["dir"], row["phs"], row["status"]) for row in table.rows] == [
        ("queue.first", "in", "1", "inactive"), ("queue.first", "out", "0", "inactive"),
        ("queue.second", "in", "1", "inactive"), ("queue.second", "out", "0", "inactive"),
    ]
    # Their addresses are there, as in the old router.
    addresses = qdstat(lonely, "-a")
    assert {row["phs"] for row in addresses.where(addr="queue.first")} == {"0", "1"}


def test_auto_links_show_what_the_broker_refuses(start, broker):
    broker.missing.add("queue.second")
    port = free_port()
    brokered_router = start(brokered(port, broker.port), port)
    wait_until(lambda: {row["status"] for row in auto_links(brokered_router).rows} == {"active", "failed"}, "the refusal")
    first, second = (auto_links(brokered_router).rows[at : at + 2] for at in (0, 2))
    assert [row["status"] for row in first] == ["active", "active"] and all(row["link"] for row in first)
    assert [row["lastErr"] for row in second] == ["Queue queue.second does not exist"] * 2


def test_messages_go_through_the_queue_and_the_phases_count_them(start, broker, connect):
    port = free_port()
    brokered_router = start(brokered(port, broker.port), port)
    wait_until(lambda: {row["status"] for row in auto_links(brokered_router).rows} == {"active"}, "active auto-links")
    client = connect(brokered_router)
    assert send_all(client.sender("queue.first"), [1, 2, 3]) == {"accepted": 3}
    rows = rows_of(qdstat(brokered_router, "-a"), "queue.first")
    assert (rows["0"]["in"], rows["0"]["out"], rows["0"]["local"]) == ("3", "3", "1")
    assert (rows["1"]["in"], rows["1"]["out"]) == ("0", "0")
    assert receive_all(client.receiver("queue.first", credit=0, accepts=True), 3) == [1, 2, 3]
    rows = rows_of(qdstat(brokered_router, "-a"), "queue.first")
    assert (rows["1"]["in"], rows["1"]["out"]) == ("3", "3")


def test_link_routes_to_a_broker_of_a_private_network(start, broker, connect):
    port = free_port()
    at_broker = connector("broker", broker.port, "route-container", "host", "    saslMechanisms: ANONYMOUS\n")
    routes = link_route("b2", "broker", "in") + link_route("b2", "broker", "out")
    routed = start(router("Router.A", "standalone") + listener(port) + at_broker + routes, port)

    def active():
        table = qdstat(routed, "--linkroutes")
        assert table.columns == ["address", "dir", "distrib", "status"]
        return [(row["address"], row["dir"], row["status"]) for row in table.rows] == [
            ("b2", "in", "active"), ("b2", "out", "active"),
        ]

    wait_until(active, "active link routes")
    client = connect(routed)
    assert send_all(client.sender("b2.queue"), [1, 2]) == {"accepted": 2}
    assert receive_all(client.receiver("b2.queue", credit=0, accepts=True), 2) == [1, 2]
    assert {row["class"] for row in qdstat(routed, "-a").where(addr="b2")} == {"link-in", "link-out"}


def test_a_receiver_moves_to_another_router_when_its_own_is_lost(tmp_path, connect):
    triangle = Triangle(tmp_path, {}, connected=("AB", "AC", "CB"))
    sender = None
    for lost, at in ((None, "B"), ("B", "C")):
        if lost:
            triangle[lost].kill()
        receiver = connect(triangle[at]).receiver("my_queue", credit=20, accepts=True)
        client = connect(triangle["A"])

        def reachable():
            return [row for row in qdstat(triangle["A"], "-a").where(addr="my_queue", phs="0") if row["remote"] == "1"]

        wait_until(reachable, "the receiver", 60)
        assert {row["router-id"] for row in qdstat(triangle["A"], "-n").rows} >= {"Router.A", f"Router.{at}"}
        sender = client.sender("my_queue")
        sent = [sender.wait_for_credit().send_now(number) for number in range(10)]
        # Both event loops have to run.
        client.until(lambda: receiver.peer.container.process() and all(one.delivery.settled for one in sent), "the outcomes")
        assert {one.state() for one in sent} == {"accepted"}
        assert sorted(receiver.take(10)) == list(range(10))
    triangle.stop()


TABLES = {
    "-c": ["id", "host", "container", "role", "proto", "dir", "security", "authentication", "tenant", "last dlv", "uptime"],
    "-l": [
        "type", "dir", "conn id", "id", "peer", "class", "addr", "phs", "cap", "pri", "undel", "unsett", "deliv", "presett",
        "psdrop", "acc", "rej", "rel", "mod", "delay", "rate", "stuck", "cred", "blkd",
    ],
    "-g": None,
    "-a": ADDRESSES,
    "--autolinks": AUTO_LINKS,
    "--linkroutes": None,
}


@pytest.mark.parametrize("option", TABLES)
def test_every_table_of_qdstat_has_its_columns(start, broker, option):
    port = free_port()
    text = brokered(port, broker.port) + link_route("b2", "broker", "in")
    table = qdstat(start(text, port), option)
    assert table.rows
    assert TABLES[option] in (None, table.columns)


def test_a_router_without_edge_routers_shows_no_table_of_them(start, broker):
    port = free_port()
    assert run("qdstat", start(brokered(port, broker.port), port), "-e").splitlines()[1:] == ["Router.A", ""]
