"""Security in the old router's manual: its policies as printed there, and its commands for TLS and SASL, at run time."""

import json
import subprocess

import pytest
from proton import ConnectionException, Endpoint
from support.router import Router, free_port, program, wait_until
from support.tools import qdmanage
from test_authentication import PASSWORD, Guarded, add, let_in
from test_manual_commands import refusal
from test_tls import At, Files, join

EXAMPLE = """
[
    ["vhost", {
        "hostname": "example.com",
        "maxConnectionsPerUser": 10,
        "allowUnknownUser": true,
        "groups": {
            "admin": {
                "users": ["admin1", "admin2"],
                "remoteHosts": ["127.0.0.1", "::1"],
                "sources": "*",
                "targets": "*"
            },
            "$default": {
                "remoteHosts": "*",
                "sources": ["news*", "sports*", "chat*"],
                "targets": "chat*"
            }
        }
    }]
]
"""

TRADERS = """
[
    ["vhost", {
        "hostname": "traders.com",
        "groups": {
            "traders": {
                "users": ["trader1", "trader2"],
                "maxFrameSize": 10000,
                "maxSessionWindow": 5000000,
                "maxSessions": 1
            },
            "feeds": {
                "users": ["nyse-feed", "nasdaq-feed"],
                "maxFrameSize": 60000,
                "maxSessionWindow": 1200000000,
                "maxSessions": 3
            }
        }
    }]
]
"""

#: The same with what the manual leaves out: where they may connect from.
OPEN_TRADERS = TRADERS.replace("traders.com", "open.traders.com").replace('"users"', '"remoteHosts": "*", "users"')

USERS = ["admin1", "joe", "trader1", "nyse-feed"]


@pytest.fixture(scope="module")
def policed(tmp_path_factory):
    """A router with both policies of the manual, and users with passwords."""
    folder = tmp_path_factory.mktemp("policed")
    policies = folder / "policies"
    policies.mkdir()
    (policies / "example.json").write_text(EXAMPLE)
    (policies / "traders.json").write_text(TRADERS)
    (policies / "open.json").write_text(OPEN_TRADERS)
    for user in USERS:
        add(folder / "users", user, PASSWORD)
    more = f"usersFile: {folder / 'users'}\n}}\npolicy {{\n    enableVhostPolicy: true\n    policyDir: {policies}\n"
    router = Guarded(folder, router=more, more="saslMechanisms: PLAIN").start()
    yield router
    assert router.stop() == 0


@pytest.fixture
def log_in(policed, connect):
    """Connects a user to a vhost."""

    def log_in(user, vhost):
        at = At(policed, policed.guarded)
        options = dict(user=user, password=PASSWORD, virtual_host=vhost, allowed_mechs="PLAIN", allow_insecure_mechs=True)
        return connect(at, **options)

    return log_in


def is_refused(link):
    return link.refusal().name == "amqp:unauthorized-access"


def test_admins_at_this_machine_reach_every_address(log_in):
    peer = log_in("admin1", "example.com")
    receiver = peer.receiver("any/thing")
    sent = peer.sender("any/thing").send("x")
    assert receiver.next().accept().body == "x"
    assert sent.outcome() == "accepted"


def test_others_receive_news_and_sports_and_chat_and_send_to_chat_alone(log_in):
    peer = log_in("joe", "example.com")
    for address in ("news.today", "sports"):
        assert not peer.receiver(address).link.state & Endpoint.REMOTE_CLOSED
    receiver = peer.receiver("chat/room")
    sent = peer.sender("chat/room").send("hello")
    assert receiver.next().accept().body == "hello"
    assert sent.outcome() == "accepted"
    assert is_refused(peer.receiver("secrets", wait=False))
    assert is_refused(peer.sender("news.today", wait=False))


def test_the_eleventh_connection_of_a_user_is_closed(log_in):
    peers = [log_in("joe", "example.com") for _ in range(10)]
    eleventh = log_in("joe", "example.com")
    eleventh.until(lambda: eleventh.connection.state & Endpoint.REMOTE_CLOSED, "the close")
    assert all(not peer.connection.state & Endpoint.REMOTE_CLOSED for peer in peers)


@pytest.mark.parametrize(("user", "frame", "sessions"), [("trader1", 10000, 1), ("nyse-feed", 60000, 3)])
def test_limits_are_those_of_the_group(log_in, user, frame, sessions):
    transport = log_in(user, "open.traders.com").connection.transport
    assert (transport.remote_max_frame_size, transport.remote_channel_max) == (frame, sessions - 1)


@pytest.mark.parametrize(("user", "vhost"), [("joe", "open.traders.com"), ("trader1", "traders.com")])
def test_who_is_in_no_group_or_at_no_host_that_is_named_is_not_let_in(log_in, user, vhost):
    peer = log_in(user, vhost)
    peer.until(lambda: peer.connection.state & Endpoint.REMOTE_CLOSED, "the close")
    # As the old router names it.
    assert peer.connection.remote_condition.name == "amqp:resource-limit-exceeded"


# === TLS and SASL by command


@pytest.fixture
def files(tmp_path):
    return Files(tmp_path)


def profile(files, name):
    """The arguments of the manual's command; only the attribute of the authorities has another name by now."""
    chain, key = files.issue("router", "localhost")
    return [f"--name={name}", f"--certDb={files.ca}", f"--certFile={chain}", f"--keyFile={key}"]


def test_profiles_are_created_queried_and_deleted(start_router, files):
    router = start_router()
    assert qdmanage(router, "create", "--type=sslProfile", *profile(files, "made"))["name"] == "made"
    assert [entity["name"] for entity in qdmanage(router, "query", "--type=sslProfile")] == ["made"]
    assert qdmanage(router, "delete", "--name=made") is None
    assert qdmanage(router, "query", "--type=sslProfile") == []


def test_the_authorities_have_another_name_now_as_in_the_old_router(start_router, files):
    told = refusal(start_router(), "create", "--type=sslProfile", "--name=made", f"--certDB={files.ca}")
    assert "Unknown attribute 'certDB'" in told


def test_a_listener_is_secured_at_run_time(start_router, files, connect):
    router, port = start_router(), free_port()
    qdmanage(router, "create", "--type=sslProfile", *profile(files, "made"))
    secured = ["--name=secured", "--host=localhost", f"--port={port}", "--sslProfile=made", "--requireSsl=yes"]
    qdmanage(router, "create", "--type=listener", *secured, "--authenticatePeer=no", "--saslMechanisms=ANONYMOUS")
    router.wait_for_port(port)
    peer = connect(At(router, f"amqps://localhost:{port}"), ssl_domain=files.domain())
    receiver = peer.receiver("over/tls")
    sent = peer.sender("over/tls").send("x")
    assert receiver.next().accept().body == "x"
    assert sent.outcome() == "accepted"
    with pytest.raises(ConnectionException):
        join(port, None)


def test_routers_are_connected_over_tls_at_run_time(start_router, files):
    inner, port = start_router(), free_port()
    qdmanage(inner, "create", "--type=sslProfile", *profile(files, "made"))
    secured = ["--name=secured", "--host=localhost", f"--port={port}", "--sslProfile=made", "--requireSsl=yes"]
    qdmanage(inner, "create", "--type=listener", *secured, "--authenticatePeer=no", "--saslMechanisms=ANONYMOUS")
    inner.wait_for_port(port)
    outer = start_router()
    qdmanage(outer, "create", "--type=sslProfile", "--name=trust", f"--caCertFile={files.ca}")
    to = ["--name=to", "--host=localhost", f"--port={port}", "--role=route-container", "--sslProfile=trust"]
    qdmanage(outer, "create", "--type=connector", *to, "--saslMechanisms=ANONYMOUS")
    wait_until(lambda: connection_of(outer, "out"), "the connection")
    assert connection_of(outer, "out")[0]["isEncrypted"]


def connection_of(router, direction):
    found = qdmanage(router, "query", "--type=connection")
    return [entity for entity in found if entity["dir"] == direction and entity["opened"]]


@pytest.fixture
def named(tmp_path):
    """A router that knows a user, and offers nothing by its configuration."""
    folder = tmp_path / "named"
    folder.mkdir()
    add(folder / "users", "joe", PASSWORD)
    router = Router(folder, router=f"usersFile: {folder / 'users'}").start()
    yield router
    assert router.stop() == 0


def create_guarded(router, *more):
    port = free_port()
    guarded = ["--name=guarded", "--host=127.0.0.1", f"--port={port}", "--authenticatePeer=yes", "--saslMechanisms=PLAIN"]
    qdmanage(router, "create", "--type=listener", *guarded, *more)
    router.wait_for_port(port)
    return port


def logs_in(router, port, **options):
    return let_in(router, url=f"amqp://127.0.0.1:{port}", **options)


def test_a_listener_authenticates_at_run_time(named):
    port = create_guarded(named)
    known = dict(user="joe", password=PASSWORD, allowed_mechs="PLAIN")
    assert logs_in(named, port, **known)
    assert not logs_in(named, port, allowed_mechs="ANONYMOUS")


def test_a_listener_that_requires_encryption_takes_no_password_without(named):
    port = create_guarded(named, "--requireEncryption=yes")
    known = dict(user="joe", password=PASSWORD, allowed_mechs="PLAIN")
    assert not logs_in(named, port, **known)


def test_a_connector_authenticates_at_run_time(named, start_router):
    port, outer = create_guarded(named), start_router()
    to = ["--name=to", "--host=127.0.0.1", f"--port={port}", "--role=route-container", "--saslMechanisms=PLAIN"]
    qdmanage(outer, "create", "--type=connector", *to, "--saslUsername=joe", f"--saslPassword={PASSWORD}")
    wait_until(lambda: connection_of(outer, "out"), "the connection")
    users = [entity["user"] for entity in qdmanage(named, "query", "--type=connection")]
    assert "joe" in users


@pytest.mark.parametrize(
    "arguments",
    [
        ["--name=guarded", "--sslProfile=made", "--requireSsl=yes"],
        ["--name=guarded", "--authenticatePeer=no"],
        ["--name=guarded", "--requireEncryption=yes", "--saslMechanisms=PLAIN"],
        ["--type=router", "--saslConfigPath=/tmp", "--saslConfigName=guarded"],
    ],
)
def test_what_is_configured_is_not_updated_as_in_the_old_router(named, arguments):
    create_guarded(named)
    done = subprocess.run(
        [program("qdmanage"), "-b", f"127.0.0.1:{named.port}", "update", *arguments], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 1, done
    assert "UPDATE" in done.stdout or "implemented" in done.stdout or "Forbidden" in done.stdout, done


def test_the_policies_as_printed_are_found_right(tmp_path):
    for name, text in (("example.json", EXAMPLE), ("traders.json", TRADERS)):
        json.loads(text)
        (tmp_path / name).write_text(text)
    configuration = tmp_path / "router.conf"
    configuration.write_text(f"router {{\n    mode: standalone\n    id: A\n}}\npolicy {{\n    policyDir: {tmp_path}\n}}\n")
    done = subprocess.run([program("waystation"), "check", str(configuration)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done
