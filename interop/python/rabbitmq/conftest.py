"""Brokers for the tests: RabbitMQ processes that all tests share, each test with queues of its own."""

import itertools

import pytest
from support.rabbitmq import RabbitMq

_numbers = itertools.count(1)

#: Durable queues that brokers have from the start.
DURABLE = [f"durable-{number}" for number in range(8)]
DURABLE += [f"routed-{number}{suffix}" for number in range(16) for suffix in ("", "-after")]


def _broker(folder):
    broker = RabbitMq(folder, DURABLE)
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
