"""Brokers for the tests: RabbitMQ processes that all tests share, each test with queues of its own."""

import itertools

import pytest
from _pytest.runner import runtestprotocol
from support.rabbitmq import RabbitMq

_numbers = itertools.count(1)

#: Durable queues that brokers have from the start.
DURABLE = [f"durable-{number}" for number in range(8)]

#: What RabbitMQ 3.10 writes when a channel of its own cannot reach a process of its own, and it ends the session for it. That
#: happens to about one in eight sessions in which a queue is made, used and read from within a few milliseconds.
FAULT = "closing: internal error in channel"
#: How often a test is run in which the broker has failed so.
ATTEMPTS = 5

_brokers = []


def pytest_runtest_protocol(item, nextitem):
    """Runs a test again that has failed while a broker wrote of a fault of its own; no other."""
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for _ in range(ATTEMPTS):
        before = _faults()
        item._initrequest()
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
        if _faults() == before or not any(report.failed for report in reports):
            break
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def _faults():
    logs = (log for broker in _brokers for log in (broker.folder / "log").glob("*.log"))
    return sum(log.read_text(errors="replace").count(FAULT) for log in logs)


def _broker(folder):
    broker = RabbitMq(folder, DURABLE)
    _brokers.append(broker)
    try:
        yield broker.start()
    finally:
        broker.stop()


@pytest.fixture(scope="session")
def rabbit(tmp_path_factory):
    """A broker."""
    yield from _broker(tmp_path_factory.mktemp("rabbit"))


@pytest.fixture(scope="session")
def other_rabbit(tmp_path_factory):
    """One more broker."""
    yield from _broker(tmp_path_factory.mktemp("other-rabbit"))


@pytest.fixture
def queue():
    """The name of a queue that is nobody else's."""
    return f"queue-{next(_numbers)}"
