"""Configuration files: what stops a start, what the user is told, and what runs as it always did."""

import socket
import subprocess

import pytest
from proton import Message, symbol
from support.router import PATIENCE, free_port, program, wait_until
from support.wire import OPEN, Wire

ROUTER = "router {\n    mode: standalone\n    id: R\n}\n"


@pytest.fixture
def refused(tmp_path):
    """Starts a router that must not start; gives what it printed."""

    def refused(text, name="bad.conf"):
        file = tmp_path / name
        file.write_text(text)
        run = subprocess.run(
            [program("qdrouterd"), "-c", str(file)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, timeout=PATIENCE, text=True,
        )
        assert run.returncode == 1, run.stdout
        return run.stdout

    return refused


@pytest.mark.parametrize(
    "text, told",
    [
        (ROUTER + "gadget {\n    a: b\n}\n", "No such entity type 'org.apache.qpid.dispatch.gadget'"),
        (ROUTER + "listener {\n    nonsense: 1\n}\n", "Unknown attribute 'nonsense' for 'org.apache.qpid.dispatch.listener'"),
        (ROUTER + "listener {\n    role: inter-router\n    port: 1\n}\n", "role='standalone' not allowed"),
        (ROUTER + "autoLink {\n    direction: in\n}\n", "address"),
        (ROUTER + "address {\n    prefix: a\n    pattern: b\n}\n", "prefix"),
        (ROUTER + "listener {\n    authenticatePeer: perhaps\n}\n", "Invalid Boolean value ''perhaps''"),
        ("router {\n    id: " + "x" * 128 + "\n}\n", "exceeds the maximum allowed length"),
        (ROUTER + ROUTER, "singleton"),
        (ROUTER + 'listener {\n    openProperties: {\n        "product": "x"\n    }\n}\n', "product"),
    ],
    ids=[
        "unknown section", "unknown attribute", "a role of another mode", "a missing attribute", "prefix and pattern", "no boolean",
        "a router id too long", "two routers", "a reserved property",
    ],
)
def test_a_mistake_stops_the_start_and_is_told(refused, text, told):
    assert told in refused(text)


def test_a_missing_file_is_told(tmp_path):
    run = subprocess.run(
        [program("qdrouterd"), "-c", str(tmp_path / "none.conf")], stdin=subprocess.DEVNULL, capture_output=True,
        timeout=PATIENCE, text=True,
    )

    assert run.returncode == 1
    assert "Configuration file could not be opened" in run.stdout + run.stderr


def test_a_listener_that_cannot_listen_stops_the_start(refused):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]

        refused(ROUTER + f"listener {{\n    host: 127.0.0.1\n    port: {port}\n}}\n")


def test_the_same_prefix_twice_is_refused(refused):
    refused(ROUTER + "address {\n    prefix: a\n}\naddress {\n    pattern: a/#\n}\n")


def test_former_names_of_attributes_still_work(start_router, connect):
    router = start_router(listener="protocolFamily: IPv4\n    logMessage: none")

    peer = connect(router)

    assert peer.is_connected()


def test_a_hash_sign_within_a_value_is_no_comment(start_router, connect, address):
    router = start_router(sections="address {\n    pattern: a/#/b  # any depth\n    distribution: multicast\n}\n")
    peer = connect(router)
    receivers = [peer.receiver("a/x/y/b") for _ in range(2)]

    peer.sender("a/x/y/b").send("to both")

    assert [receiver.next().body for receiver in receivers] == ["to both"] * 2


def dial(port):
    """A socket to this port, if somebody listens there."""
    try:
        return Wire(port)
    except ConnectionRefusedError:
        return None


def test_a_json_configuration_runs(tmp_path):
    file = tmp_path / "router.json"
    port = free_port()
    file.write_text(f'[\n# comment\n["router", {{"id": "J"}}],\n["listener", {{"host": "127.0.0.1", "port": {port}}}]\n]\n')
    process = subprocess.Popen([program("qdrouterd"), "-c", str(file)], stderr=subprocess.DEVNULL)
    try:
        with wait_until(lambda: dial(port), "the router to listen") as wire:
            assert wire.open().field(0) == "J"
    finally:
        process.terminate()
    assert process.wait(PATIENCE) == 0


def test_listeners_open_when_everything_else_is_ready(start_router, connect):
    addresses = "".join(f"address {{\n    prefix: p{number}\n    distribution: multicast\n}}\n" for number in range(500))
    router = start_router(sections=addresses)
    peer = connect(router)
    receivers = [peer.receiver("p499/x") for _ in range(2)]

    peer.sender("p499/x").send("to both")

    assert [receiver.next().body for receiver in receivers] == ["to both"] * 2


def test_the_most_specific_of_many_addresses_counts(start_router, connect):
    router = start_router(
        sections="address {\n    pattern: #\n    distribution: closest\n}\n"
        "address {\n    pattern: a/*\n    distribution: multicast\n}\n"
        "address {\n    pattern: a/b\n    distribution: unavailable\n}\n"
    )
    peer = connect(router)
    receivers = [peer.receiver("a/c") for _ in range(2)]
    peer.sender("a/c").send("to both")

    assert [receiver.next().body for receiver in receivers] == ["to both"] * 2
    assert peer.receiver("a/b", wait=False).refusal().name == "amqp:not-found"


def test_the_default_distribution_counts_for_all_other_addresses(start_router, connect):
    router = start_router(router="defaultDistribution: unavailable")
    peer = connect(router)

    assert peer.sender("anything", wait=False).refusal().name == "amqp:not-found"


def test_tenants_of_one_listener_do_not_meet(start_router, connect):
    router = start_router(listener="multiTenant: yes")
    first, second = connect(router, virtual_host="first"), connect(router, virtual_host="second")
    to_first, to_second = first.receiver("q"), second.receiver("q")

    first.sender("q").send("for the first")

    first.until(lambda: to_first.arrived, "the message")
    assert to_first.next().body == "for the first"
    assert to_second.has_nothing()


def test_a_client_without_a_host_name_is_served_on_a_multi_tenant_listener(start_router):
    router = start_router(listener="multiTenant: yes")

    with Wire(router.port) as wire:
        assert wire.open().descriptor == OPEN
        wire.begin()
        assert wire.attach_receiver("q").field(0) == "receiver-0"


@pytest.mark.parametrize("strip, arrives", [("no", True), ("both", False)])
def test_router_annotations_of_senders_are_kept_or_stripped(start_router, connect, strip, arrives):
    router = start_router(listener=f"stripAnnotations: {strip}")
    peer = connect(router)
    receiver = peer.receiver("a")

    mine = {symbol("x-opt-mine"): 1, symbol("x-opt-qd.ingress"): "0/elsewhere"}
    peer.sender("a").send(Message(body="x", annotations=mine))

    annotations = receiver.next().message.annotations
    assert annotations[symbol("x-opt-mine")] == 1
    assert (symbol("x-opt-qd.ingress") in annotations) is arrives


def test_linkCapacity_sets_the_credit_of_senders(start_router, connect):
    router = start_router(listener="linkCapacity: 17")

    sender = connect(router).sender(None).wait_for_credit(17)

    assert sender.link.credit == 17


def test_open_properties_are_told_to_clients(start_router):
    router = start_router(listener='openProperties: {\n        "site": "north",\n        "level": 3,\n    }')

    with Wire(router.port) as wire:
        properties = wire.open().field(9)
        assert (properties["site"], properties["level"]) == ("north", 3)
