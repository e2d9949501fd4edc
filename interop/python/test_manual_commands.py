"""The commands of the old router's manual, as they are written there; where they cannot do what it says, what they answer."""

import subprocess

import pytest
from support.router import PATIENCE, program
from support.tools import qdmanage

SECTIONS = """
connector {
    name: broker
    role: route-container
    host: 127.0.0.1
    port: 9
    saslMechanisms: ANONYMOUS
}
listener {
    name: clients
    host: 127.0.0.1
    port: 0
    authenticatePeer: no
}
address {
    name: queues
    prefix: queue
    waypoint: yes
}
address {
    prefix: news
}
autoLink {
    name: queue-in
    addr: queue.first
    dir: in
    connection: broker
}
linkRoute {
    name: b2-in
    prefix: b2
    dir: in
    connection: broker
}
linkRoute {
    name: b2-out
    prefix: b2
    dir: out
    connection: broker
}
"""


@pytest.fixture(scope="module")
def managed(tmp_path_factory):
    """A router with something of each kind."""
    from support.router import Router

    router = Router(tmp_path_factory.mktemp("managed"), sections=SECTIONS).start()
    yield router
    assert router.stop() == 0


def refusal(router, *arguments):
    """What a command prints that fails."""
    command = [program("qdmanage"), "-b", f"127.0.0.1:{router.port}", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 1, done
    return done.stdout


@pytest.mark.parametrize(
    ("entity_type", "count"),
    [("listener", 2), ("connector", 1), ("sslProfile", 0), ("address", 2), ("autoLink", 1), ("linkRoute", 2)],
)
def test_query_shows_all_of_a_type(managed, entity_type, count):
    assert len(qdmanage(managed, "query", f"--type={entity_type}")) == count
    assert len(qdmanage(managed, "query", "--type", entity_type)) == count


def test_query_of_logs_shows_every_module(managed):
    assert {"DEFAULT", "ROUTER", "AGENT"} <= {entity["module"] for entity in qdmanage(managed, "query", "--type=log")}


@pytest.mark.parametrize("entity_type", ["listener", "connector"])
def test_query_shows_the_attributes_that_are_asked_for(managed, entity_type):
    for entity in qdmanage(managed, "query", "role", "port", f"--type={entity_type}"):
        assert set(entity) == {"role", "port"}


def test_query_of_addresses_by_a_value_shows_those_that_have_it(managed):
    assert qdmanage(managed, "query", "prefix", "--type=address", "--waypoint=yes") == [{"prefix": "queue"}]
    assert qdmanage(managed, "query", "prefix", "distribution", "--type=address") == [
        {"prefix": "queue", "distribution": "balanced"}, {"prefix": "news", "distribution": "balanced"},
    ]


def test_the_fail_over_list_has_another_name_now(managed):
    assert "Unknown attributes ['failoverList']" in refusal(managed, "query", "failoverList", "--type=connector", "--name=broker")
    found = qdmanage(managed, "query", "failoverUrls", "--type=connector", "--name=broker")
    assert found == [{"failoverUrls": "amqp://127.0.0.1:9"}]


@pytest.mark.parametrize("name", ["clients", "broker", "queues", "queue-in", "b2-in"])
def test_read_shows_one_entity(managed, name):
    assert qdmanage(managed, "read", f"--name={name}")["name"] == name


@pytest.mark.parametrize(
    ("entity_type", "attributes"),
    [
        ("listener", ["--host=127.0.0.1", "--port=0", "--authenticatePeer=no", "--saslMechanisms=ANONYMOUS"]),
        ("connector", ["--host=127.0.0.1", "--port=9", "--role=route-container"]),
        ("address", ["--prefix=made", "--distribution=multicast"]),
        ("autoLink", ["--addr=made", "--connection=broker", "--dir=out"]),
        ("linkRoute", ["--prefix=made", "--connection=broker", "--dir=in"]),
    ],
)
def test_create_and_delete(managed, entity_type, attributes):
    assert qdmanage(managed, "create", f"--type={entity_type}", "--name=made", *attributes)["name"] == "made"
    assert qdmanage(managed, "delete", "--name=made") is None
    assert "No entity with name" in refusal(managed, "read", "--name=made") or "Not Found" in refusal(managed, "read", "--name=made")


@pytest.mark.parametrize(
    ("entity", "attribute"),
    [
        ("--name=clients", "--authenticatePeer=yes"),
        ("--name=clients", "--saslMechanisms"),
        ("--name=broker", "--saslMechanisms=ANONYMOUS"),
        ("--name=queues", "--distribution=multicast"),
        ("--name=queue-in", "--addr=other"),
        ("--name=b2-in", "--prefix=other"),
    ],
)
def test_update_is_no_operation_of_what_is_configured_as_in_the_old_router(managed, entity, attribute):
    told = refusal(managed, "update", entity, attribute)
    assert "UPDATE" in told or "implemented" in told, told


def test_logs_are_read_and_changed_by_module(managed):
    assert qdmanage(managed, "read", "--type=log", "--module=ROUTER")["name"] == "log/ROUTER"
    qdmanage(managed, "update", "--type=log", "--module=ROUTER", "--enable=debug+")
    assert qdmanage(managed, "read", "--type=log", "--module=ROUTER")["enable"] == "debug+"


def test_a_log_is_not_created_because_every_module_has_one(managed):
    told = refusal(managed, "create", "--type=log", "--module=ROUTER", "--enable=debug+")
    assert "CREATE" in told or "implemented" in told, told
