"""Who is let in: Cyrus SASL with sasldb, saslauthd and Kerberos, and the router's own file of users."""

import json
import os
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.kerberos import REALM, SYSTEM_PATH, Realm, host
from support.router import Router, free_port, program, wait_until

USER, PASSWORD = "joe@example.org", "secret"


def client(router, environment=None, **options):
    """What comes of a client with these options: how many messages it got back, or the error."""
    options = {"url": options.get("url") or router.guarded, **options}
    command = [sys.executable, str(Path(__file__).parent / "support/sasl_client.py"), json.dumps(options)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def let_in(*arguments, **options):
    return client(*arguments, **options)["received"] == options.get("count", 3)


class Guarded(Router):
    """A router with a second listener, which lets nobody in without a name."""

    def __init__(self, folder, *, router="", more="", environment=None):
        self.guarded_port = free_port()
        self.environment = environment
        sections = f"""
listener {{
    host: 0.0.0.0
    port: {self.guarded_port}
    authenticatePeer: yes
    {more}
}}
"""
        super().__init__(folder, router=router, sections=sections)

    @property
    def guarded(self):
        return f"amqp://127.0.0.1:{self.guarded_port}"

    def start(self):
        before = dict(os.environ)
        os.environ.update(self.environment or {})
        try:
            return super().start()
        finally:
            os.environ.clear()
            os.environ.update(before)


@pytest.fixture
def start_guarded(tmp_path):
    started = []

    def start(**settings):
        router = Guarded(tmp_path, **settings).start()
        started.append(router)
        return router

    yield start
    for router in started:
        assert router.stop() == 0


def cyrus(folder, text):
    """Lines of the router's section that make it use this configuration of Cyrus SASL."""
    (folder / "guarded.conf").write_text(text)
    return f"saslConfigDir: {folder}\n saslConfigName: guarded"


@pytest.fixture
def sasldb(tmp_path, start_guarded):
    """A router with a data base of users made by saslpasswd2."""
    base = tmp_path / "users.sasldb"
    name, realm = USER.split("@")
    command = ["saslpasswd2", "-c", "-p", "-f", str(base), "-u", realm, name]
    subprocess.run(command, input=PASSWORD.encode(), check=True, env={**os.environ, "PATH": SYSTEM_PATH})
    text = f"pwcheck_method: auxprop\nauxprop_plugin: sasldb\nsasldb_path: {base}\n"
    mechanisms = "mech_list: SCRAM-SHA-512 SCRAM-SHA-256 SCRAM-SHA-1 DIGEST-MD5 PLAIN ANONYMOUS\n"
    return start_guarded(router=cyrus(tmp_path, text + mechanisms))


MECHANISMS = ["PLAIN", "DIGEST-MD5", "SCRAM-SHA-1", "SCRAM-SHA-256", "SCRAM-SHA-512"]


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_each_mechanism_of_cyrus_knows_a_user_of_sasldb(sasldb, mechanism):
    assert let_in(sasldb, user=USER, password=PASSWORD, allowed_mechs=mechanism)
    refused = client(sasldb, user=USER, password="guess", allowed_mechs=mechanism)
    assert refused == {"received": 0, "error": f"Authentication failed [mech={mechanism}]"}


def test_a_failure_is_logged_with_user_mechanism_and_address_and_the_peer_hears_no_reason(sasldb):
    for user in (USER, "nobody@example.org"):
        error = client(sasldb, user=user, password="guess", allowed_mechs="PLAIN")["error"]
        assert error == "Authentication failed [mech=PLAIN]"
        wait_until(lambda: f"Authentication of user '{user}' from 127.0.0.1:" in sasldb.log(), "the log")
    assert " by PLAIN failed: " in sasldb.log()


def test_a_listener_that_authenticates_does_not_let_anonymous_in(sasldb):
    assert client(sasldb, allowed_mechs="ANONYMOUS")["received"] == 0


def test_a_security_layer_carries_messages_of_any_size(sasldb):
    login = {"user": USER, "password": PASSWORD, "allowed_mechs": "DIGEST-MD5"}
    assert let_in(sasldb, count=500, size=3000, **login)
    assert let_in(sasldb, count=3, size=3_000_000, **login)


def test_tools_authenticate_with_each_mechanism(sasldb, tmp_path):
    (tmp_path / "password").write_text(PASSWORD + "\n")
    for mechanism in MECHANISMS:
        options = ["--sasl-mechanisms", mechanism, "--sasl-username", USER]
        options += ["--sasl-password-file", str(tmp_path / "password")]
        for command in (["qdstat", "-c"], ["qdmanage", "query", "--type", "connection"]):
            tool = subprocess.run(
                [program(command[0]), *command[1:], "-b", sasldb.guarded, *options], capture_output=True, text=True
            )
            assert tool.returncode == 0, tool.stdout + tool.stderr
            assert USER in tool.stdout and mechanism in tool.stdout


def test_a_connector_authenticates_with_each_mechanism(sasldb, start_router):
    for mechanism in MECHANISMS:
        section = f"""
connector {{
    name: up
    host: 127.0.0.1
    port: {sasldb.guarded_port}
    saslMechanisms: {mechanism}
    saslUsername: {USER}
    saslPassword: pass:{PASSWORD}
}}
"""
        router = start_router(sections=section)
        wait_until(lambda: f"auth={mechanism} user={USER}" in router.log(), f"a connection by {mechanism}")


@pytest.fixture
def realm(tmp_path):
    folder = tmp_path / "realm"
    folder.mkdir()
    realm = Realm(folder)
    yield realm.start()
    realm.stop()


def test_saslauthd_knows_the_users_of_a_realm_and_while_it_is_down_nobody_gets_in(realm, tmp_path, start_guarded):
    mux = tmp_path / "mux"
    router = start_guarded(router=cyrus(tmp_path, f"pwcheck_method: saslauthd\nsaslauthd_path: {mux}\nmech_list: PLAIN\n"))
    login = {"user": "joe", "allowed_mechs": "PLAIN"}
    assert not let_in(router, password=PASSWORD, **login)
    command = ["saslauthd", "-d", "-a", "kerberos5", "-m", str(tmp_path), "-n", "1"]
    # When it ends, it ends its whole group of processes.
    daemon = subprocess.Popen(command, env=realm.environment, start_new_session=True)
    try:
        wait_until(mux.exists, "saslauthd")
        assert let_in(router, password=PASSWORD, **login)
        refused = client(router, password="guess", **login)
        assert refused["error"] == "Authentication failed [mech=PLAIN]"
    finally:
        daemon.terminate()
        daemon.wait()


@pytest.fixture
def kerberized(realm, tmp_path, start_guarded):
    settings = cyrus(tmp_path, f"mech_list: GSSAPI\nkeytab: {realm.keytab}\n")
    return start_guarded(router=settings, environment=realm.environment, more="requireEncryption: yes")


def test_kerberos_lets_in_who_has_a_ticket_and_encrypts(kerberized, realm):
    login = {"allowed_mechs": "GSSAPI", "virtual_host": host()}
    assert let_in(kerberized, realm.environment, **login)
    assert let_in(kerberized, realm.environment, count=500, size=3000, **login)
    assert let_in(kerberized, realm.environment, count=3, size=1_000_000, **login)
    assert f"auth=GSSAPI user=joe@{REALM}" in kerberized.log() or "auth=GSSAPI user=joe" in kerberized.log()


def test_kerberos_refuses_who_has_no_ticket(kerberized, realm, tmp_path):
    environment = {**realm.environment, "KRB5CCNAME": f"FILE:{tmp_path}/none"}
    assert not let_in(kerberized, environment, allowed_mechs="GSSAPI", virtual_host=host())


def test_a_tool_with_a_ticket_is_let_in(kerberized, realm):
    command = [program("qdstat"), "-c", "-b", f"amqp://{host()}:{kerberized.guarded_port}", "--sasl-mechanisms", "GSSAPI"]
    tool = subprocess.run(command, capture_output=True, text=True, env=realm.environment)
    assert tool.returncode == 0, tool.stdout + tool.stderr
    assert "Kerberos" in tool.stdout


@pytest.fixture
def own_users(tmp_path, start_guarded):
    """A router with a file of users made by its own tool."""
    users = tmp_path / "users"
    add(users, "joe", PASSWORD)
    return start_guarded(router=f"usersFile: {users}")


def add(users, name, password):
    command = [program("waystation"), "user", "add", "--file", str(users), "--password-file", "-", name]
    subprocess.run(command, input=password.encode(), check=True, capture_output=True)


def test_what_a_client_sends_while_its_failure_waits_is_not_taken_in(own_users):
    def frame(body):
        return struct.pack(">IBBH", len(body) + 8, 2, 1, 0) + body

    response = b"\0joe\0guess"
    fields = b"\xa3\x05PLAIN\xa0" + bytes([len(response)]) + response
    init = frame(b"\0\x53\x41\xc0" + bytes([len(fields) + 1, 2]) + fields)
    # The more have failed, the longer the next one waits.
    for _ in range(4):
        assert not let_in(own_users, user="joe", password="guess", allowed_mechs="PLAIN")
    with socket.create_connection(("127.0.0.1", own_users.guarded_port)) as raw:
        raw.sendall(b"AMQP\x03\x01\0\0" + init)
        wait_until(lambda: own_users.log().count("failed: wrong password") == 5, "the failure")
        raw.setblocking(False)
        taken, most = 0, 64 * 1024 * 1024
        full = 0
        while full < 20 and taken < most:
            try:
                taken += raw.send(bytes(1 << 16))
                full = 0
            except BlockingIOError:
                full += 1
                time.sleep(0.01)
            except OSError:
                break
    # The system's buffers take some.
    assert taken < most
    assert own_users.memory("VmHWM") < 512 * 1024 * 1024


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-1", "SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_each_mechanism_of_our_own_knows_a_user_of_the_file(own_users, mechanism):
    assert let_in(own_users, user="joe", password=PASSWORD, allowed_mechs=mechanism)
    for user, password in (("joe", "guess"), ("ann", PASSWORD)):
        refused = client(own_users, user=user, password=password, allowed_mechs=mechanism)
        assert refused == {"received": 0, "error": f"Authentication failed [mech={mechanism}]"}


def test_a_user_added_to_the_file_gets_in_at_once(own_users, tmp_path):
    add(tmp_path / "users", "ann", "pencil")
    assert let_in(own_users, user="ann", password="pencil")
    subprocess.run([program("waystation"), "user", "remove", "--file", str(tmp_path / "users"), "ann"], check=True)
    assert not let_in(own_users, user="ann", password="pencil")


def test_users_are_listed_and_changed_by_command_and_by_management(own_users, tmp_path):
    users = str(tmp_path / "users")
    listed = subprocess.run([program("waystation"), "user", "list", "--file", users], capture_output=True, text=True)
    assert listed.stdout == "joe\tSCRAM-SHA-512 SCRAM-SHA-256 SCRAM-SHA-1\n"

    def manage(*arguments):
        command = [program("qdmanage"), "-b", own_users.url, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    created = json.loads(manage("create", "--type", "user", "name=ann", "password=pencil"))
    assert created["identity"] == "user/ann" and "password" not in created
    assert let_in(own_users, user="ann", password="pencil")
    manage("update", "--type", "user", "--name", "ann", "password=eraser")
    assert not let_in(own_users, user="ann", password="pencil")
    assert [user["name"] for user in json.loads(manage("query", "--type", "user"))] == ["ann", "joe"]
    manage("delete", "--type", "user", "--name", "ann")
    assert not let_in(own_users, user="ann", password="eraser")
    assert "eraser" not in own_users.log()


def fails_to_start(folder, router="", listener="", environment=None):
    """What a router says that does not start."""
    config = folder / "router.conf"
    config.write_text(
        f"router {{\n mode: standalone\n id: R\n {router}\n}}\n"
        f"listener {{\n host: 127.0.0.1\n port: {free_port()}\n {listener}\n}}\n"
    )
    command = [program("qdrouterd"), "-c", str(config)]
    told = subprocess.run(command, capture_output=True, text=True, timeout=20, env=environment)
    assert told.returncode != 0
    return told.stderr


def test_a_file_of_users_does_not_serve_mechanisms_that_need_cyrus(tmp_path):
    add(tmp_path / "users", "joe", PASSWORD)
    told = fails_to_start(tmp_path, router=f"usersFile: {tmp_path}/users", listener="saslMechanisms: GSSAPI")
    assert "others need Cyrus SASL" in told


@pytest.mark.parametrize("listener", ["saslMechanisms: PLAIN", "authenticatePeer: yes"])
def test_where_cyrus_is_needed_and_not_there_a_router_says_what_to_install(tmp_path, listener):
    for name in ("libsasl2.so.2", "libsasl2.so.3"):
        (tmp_path / name).touch()
    told = fails_to_start(tmp_path, listener=listener, environment={**os.environ, "LD_LIBRARY_PATH": str(tmp_path)})
    assert "Cyrus SASL cannot be loaded" in told and "libsasl2-2" in told and "usersFile" in told
