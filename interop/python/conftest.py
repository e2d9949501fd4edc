"""Routers and clients for the tests."""

import itertools

import pytest
from support.broker import Broker
from support.peer import Peer
from support.router import Router

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def router(tmp_path_factory):
    """One router for all tests that need nothing special of it. It must outlive them and stop cleanly."""
    router = Router(
        tmp_path_factory.mktemp("router"),
        sections="""
address {
    prefix: multicast
    distribution: multicast
}
address {
    prefix: closest
    distribution: closest
}
address {
    prefix: unavailable
    distribution: unavailable
}
""",
    ).start()
    yield router
    assert router.is_running(), f"the router ended during the tests:\n{router.told()}"
    assert router.stop() == 0


@pytest.fixture
def start_router(tmp_path):
    """Starts routers with settings of their own."""
    started = []

    def start(**settings):
        folder = tmp_path / f"router-{len(started)}"
        folder.mkdir()
        router = Router(folder, **settings)
        started.append(router)
        return router.start()

    yield start
    for router in started:
        if router.is_running():
            assert router.stop() == 0


@pytest.fixture
def connect():
    """Connects clients to a router: `peer = connect(router)`."""
    peers = []

    def connect(router, **options):
        peer = Peer(router, **options)
        peers.append(peer)
        return peer

    yield connect
    for peer in peers:
        peer.stop()


@pytest.fixture
def peer(router, connect):
    """A client of the shared router."""
    return connect(router)


@pytest.fixture
def broker():
    """A scripted broker that nobody is connected to yet."""
    broker = Broker().start()
    yield broker
    broker.stop()


@pytest.fixture
def address():
    """An address that no other test uses."""
    return f"interop/{next(_numbers)}"


@pytest.fixture
def network(shared_network):
    """The network that the tests of a file share, which say what it is like; no client is left from one to the next."""
    yield shared_network
    shared_network.disconnect_all()
