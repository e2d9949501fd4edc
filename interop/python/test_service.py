"""How a router lives under a service manager: signals, notifications, and its end."""

import os
import signal
import socket

import pytest
from support.router import PATIENCE, free_port, wait_until


@pytest.fixture
def manager(tmp_path, monkeypatch):
    """A service manager's socket, of which routers started from now on know."""
    path = tmp_path / "notify"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(str(path))
        listening.settimeout(PATIENCE)
        monkeypatch.setenv("NOTIFY_SOCKET", str(path))
        yield listening


def told(manager, what):
    """Waits until the manager is told this."""
    while True:
        states = manager.recv(4096).decode().splitlines()
        if what in states:
            return states


def listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_the_service_manager_hears_of_every_step(manager, start_router):
    router = start_router()
    told(manager, "READY=1")
    router.process.send_signal(signal.SIGHUP)
    assert any(state.startswith("MONOTONIC_USEC=") for state in told(manager, "RELOADING=1"))
    told(manager, "READY=1")
    assert router.stop() == 0
    told(manager, "STOPPING=1")


def test_the_watchdog_is_fed(manager, monkeypatch, start_router):
    monkeypatch.setenv("WATCHDOG_USEC", "200000")
    start_router()
    for _ in range(3):
        told(manager, "WATCHDOG=1")


def test_sighup_reads_the_configuration_again(start_router, connect, address):
    router = start_router()
    peer = connect(router)
    port = free_port()
    with open(router.config_file, "a") as config:
        config.write(f"listener {{\n host: 127.0.0.1\n port: {port}\n}}\n")
    router.process.send_signal(signal.SIGHUP)
    wait_until(lambda: listens(port), "the new listener")
    assert peer.is_connected()
    # And away with it again.
    text = router.config_file.read_text()
    router.config_file.write_text(text[: text.rindex("listener {")])
    router.process.send_signal(signal.SIGHUP)
    wait_until(lambda: not listens(port), "the end of the listener")
    assert peer.is_connected()


def test_a_configuration_that_is_wrong_changes_nothing(start_router):
    router = start_router()
    router.config_file.write_text("listener {\n nosuch: 1\n}\n")
    router.process.send_signal(signal.SIGHUP)
    wait_until(lambda: "is not loaded again, nothing is changed" in router.log_file.read_text(), "the complaint")
    assert listens(router.port)


def test_sigusr1_opens_log_files_anew(start_router):
    router = start_router()
    os.rename(router.log_file, router.folder / "router.log.1")
    router.process.send_signal(signal.SIGUSR1)
    wait_until(router.log_file.exists, "the new log file")
    with socket.create_connection(("127.0.0.1", router.port)):
        wait_until(lambda: "Accepted connection" in router.log_file.read_text(), "a line in it")


def test_a_client_is_told_that_the_router_stops(start_router, connect):
    router = start_router()
    peer = connect(router)
    router.process.send_signal(signal.SIGTERM)
    condition = peer.until(lambda: peer.connection.remote_condition, "the close")
    assert condition.name == "amqp:connection:forced"
    peer.connection.close()
    peer.settle_down()
    assert router.stop() == 0
