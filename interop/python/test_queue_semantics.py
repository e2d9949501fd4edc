"""What queues and topics of one router do, as clients see it."""

import itertools
import os
import signal

import pytest
from proton import Data, Delivery, Described, Message, Terminus, symbol
from support.management import Management
from support.peer import RECEIVER_SECOND
from support.router import wait_until

_numbers = itertools.count(1)

#: More than what has a file of its own.
LARGE = 3 * 1024 * 1024


@pytest.fixture
def start_store(start_router, tmp_path):
    """Starts routers with a store each; one by one they can be given the same."""

    def start(sections="", path="store", store=""):
        text = f"store {{\n path: {tmp_path}/{path}\n {store}\n}}\nqueueTemplate {{\n pattern: queues/#\n}}\n{sections}"
        return start_router(sections=text)

    return start


@pytest.fixture
def stored(start_store):
    return start_store()


@pytest.fixture
def name():
    """An address that no other test uses."""
    return f"queues/{next(_numbers)}"


def restarted(router):
    """The same router after `kill -9`."""
    router.kill()
    return router.start()


def queue(peer, address):
    """A queue as management shows it; `None` if there is none."""
    return next((found for found in Management(peer).query("queue") if found["address"] == address), None)


def tell(*peers):
    """Has clients write what they have to say, and the router read it."""
    for peer in peers:
        Management(peer).query("router", "id")


def depth(peer, address):
    found = queue(peer, address)
    return found and found["depth"]


def send_all(sender, bodies):
    return [sender.send(body).outcome() for body in bodies]


def selecting(text):
    """A source with a selector."""

    def set_up(link):
        link.source.filter.put_dict({symbol("selector"): Described(symbol("apache.org:selector-filter:string"), text)})

    return set_up


def filters_of(link):
    """The filters that the router says it applies."""
    data = link.remote_source.filter
    data.rewind()
    return data.get_dict() if data.next() else {}


# --- Senders without an address


def test_a_message_that_names_a_queue_makes_it(stored, connect, name):
    sender = connect(stored).sender(None)
    assert send_all(sender, [Message(address=name, body=number) for number in range(5)]) == ["accepted"] * 5
    receiver = connect(stored).receiver(name)
    assert receiver.take(5) == list(range(5))


def test_messages_that_name_a_queue_are_in_order_while_it_is_made(stored, connect, name):
    peer = connect(stored)
    sender = peer.sender(None)
    sent = []
    for number in range(200):
        sender.wait_for_credit()
        sent.append(sender.send_now(Message(address=name, body=number)))
    assert {delivery.outcome() for delivery in sent} == {"accepted"}
    assert connect(stored).receiver(name, credit=200).take(200) == list(range(200))


def test_a_large_message_that_names_a_queue_makes_it(stored, connect, name):
    body = bytes(LARGE)
    assert send_all(connect(stored).sender(None), [Message(address=name, body=body)]) == ["accepted"]
    assert connect(stored).receiver(name).take(1) == [body]


def test_a_message_that_names_nothing_that_can_be_made_is_released(stored, connect):
    assert send_all(connect(stored).sender(None), [Message(address="elsewhere", body=1)]) == ["released"]


# --- Selectors


@pytest.mark.parametrize("after_restart", [False, True])
def test_selectors_choose_large_messages_like_small_ones(stored, connect, name, after_restart):
    sender = connect(stored).sender(name)
    for number, (colour, size) in enumerate(itertools.product(("red", "blue"), (10, LARGE))):
        body = str(number).encode() + bytes(size)
        sender.send(Message(properties={"colour": colour}, durable=True, body=body)).outcome()
    if after_restart:
        restarted(stored)
    blue = connect(stored).receiver(name, set_up=selecting("colour = 'blue'"))
    assert [body[:1] for body in blue.take(2)] == [b"2", b"3"]
    assert blue.has_nothing()
    assert [body[:1] for body in connect(stored).receiver(name).take(2)] == [b"0", b"1"]


def test_properties_far_behind_the_beginning_of_a_large_message_are_seen(stored, connect, name):
    properties = {f"p{number}": "x" * 1000 for number in range(150)} | {"last": "yes"}
    connect(stored).sender(name).send(Message(properties=properties, body=bytes(LARGE))).outcome()
    restarted(stored)
    receiver = connect(stored).receiver(name, set_up=selecting("last = 'yes'"))
    assert receiver.take(1) == [bytes(LARGE)]


# --- Receivers that settle second, and receivers that do not read


def test_a_receiver_that_settles_second_is_told_when_its_outcome_is_on_disk(stored, connect, name):
    send_all(connect(stored).sender(name), ["one", "two"])
    peer = connect(stored)
    receiver = peer.receiver(name, rcv_settle_mode=RECEIVER_SECOND)
    for outcome in (Delivery.ACCEPTED, Delivery.RELEASED):
        delivery = receiver.next().delivery
        delivery.update(outcome)
        peer.until(lambda delivery=delivery: delivery.settled, "the router's settlement")
        delivery.settle()
    restarted(stored)
    assert connect(stored).receiver(name).take(1) == ["two"]


def test_a_receiver_that_settles_second_and_is_lost_before_that_has_spoken_nevertheless(stored, connect, name):
    send_all(connect(stored).sender(name), ["one"])
    peer = connect(stored)
    delivery = peer.receiver(name, rcv_settle_mode=RECEIVER_SECOND).next().delivery
    delivery.update(Delivery.ACCEPTED)
    peer.until(lambda: delivery.settled, "the router's settlement")
    peer.disconnect()
    other = connect(stored)
    wait_until(lambda: depth(other, name) == 0, "the queue to be empty")


def test_a_receiver_that_does_not_read_holds_up_nobody_else(stored, connect, name):
    """It has asked for more than its socket takes."""
    choked, other, sending = connect(stored), connect(stored), connect(stored)
    choked.receiver(name, credit=10_000)
    receiver = other.receiver(name, credit=10_000, accepts=True)
    # From here on nobody runs the event loop of the choked one.
    sender = sending.sender(name)
    body, sent = Message(body=bytes(50_000)), []
    for _ in range(400):
        sender.wait_for_credit()
        sent.append(sender.send_now(body))
        other.container.process()
    sending.until(lambda: all(delivery.delivery.settled for delivery in sent), "the outcomes")
    # What the router has not written to the choked one goes to the other.
    other.until(lambda: len(receiver.arrived) > 200, "most of the messages")
    choked.disconnect()
    other.until(lambda: len(receiver.arrived) == 400, "all messages")


# --- Dynamic nodes


def dynamic(policy):
    """A target or source that is a queue of its own, to live so long."""

    def set_up(link):
        terminus = link.target if link.is_sender else link.source
        terminus.dynamic = True
        terminus.address = None
        terminus.capabilities.put_symbol("queue")
        terminus.properties.put_dict({symbol("lifetime-policy"): Described(symbol(policy), [])})

    return set_up


def gone(peer, address):
    return lambda: depth(peer, address) is None


def test_a_node_that_is_deleted_on_close_goes_with_the_link_that_made_it(stored, connect):
    peer, other = connect(stored), connect(stored)
    made = peer.sender(None, set_up=dynamic("amqp:delete-on-close:list"))
    address = made.link.remote_target.address
    made.send("one").outcome()
    receiver = other.receiver(address, credit=0)
    assert depth(other, address) == 1
    made.close()
    wait_until(gone(connect(stored), address), "the end of the queue")
    assert receiver.refusal().name == "amqp:resource-deleted"


def test_a_node_that_is_deleted_on_no_links_goes_with_the_last_one(stored, connect):
    peer, other = connect(stored), connect(stored)
    made = peer.receiver(None, credit=0, set_up=dynamic("amqp:delete-on-no-links:list"))
    sender = other.sender(made.address)
    made.close()
    assert send_all(sender, ["one"]) == ["accepted"]
    assert depth(other, made.address) == 1
    sender.close()
    wait_until(gone(other, made.address), "the end of the queue")


def test_a_node_that_is_deleted_on_no_messages_goes_with_the_last_one(stored, connect):
    peer = connect(stored)
    made = peer.sender(None, set_up=dynamic("amqp:delete-on-no-messages:list"))
    address = made.link.remote_target.address
    made.send("one").outcome()
    made.close()
    assert depth(peer, address) == 1
    receiver = connect(stored).receiver(address)
    receiver.take(1)
    tell(receiver.peer)
    wait_until(gone(peer, address), "the end of the queue")
    assert receiver.refusal().name == "amqp:resource-deleted"


def test_a_node_that_is_deleted_on_no_links_or_messages_needs_both_to_be_gone(stored, connect):
    peer = connect(stored)
    made = peer.sender(None, set_up=dynamic("amqp:delete-on-no-links-or-messages:list"))
    address = made.link.remote_target.address
    made.send("one").outcome()
    made.close()
    assert depth(peer, address) == 1
    receiver = peer.receiver(address)
    receiver.take(1)
    wait_until(lambda: depth(peer, address) == 0, "the queue to be empty")
    receiver.close()
    wait_until(gone(peer, address), "the end of the queue")


# --- Dead letters that go from a durable queue to one in memory, or the other way round

DEAD = """
queue {{
 address: orders
 durable: {orders}
 deadLetterAddress: dead
}}
queue {{
 address: dead
 durable: {dead}
}}
"""


def reject_all(peer, address, count):
    """Takes so many messages and rejects them."""
    receiver = peer.receiver(address)
    for _ in range(count):
        receiver.next().reject("test:no", "a reason")
    receiver.close()


def annotations_of(message):
    return {str(key): value for key, value in (message.annotations or {}).items()}


@pytest.mark.parametrize("durable", ["orders", "dead"])
def test_dead_letters_say_the_same_on_the_other_side_and_can_be_sent_back(start_store, connect, durable):
    router = start_store(DEAD.format(**{queue: "yes" if queue == durable else "no" for queue in ("orders", "dead")}))
    peer = connect(router)
    waiting = connect(router).receiver("dead")
    bodies = ["small", bytes(LARGE)]
    assert send_all(peer.sender("orders"), [Message(body=body) for body in bodies]) == ["accepted"] * 2
    reject_all(peer, "orders", 2)
    letters = [waiting.next() for _ in bodies]
    assert all(any(letter.body == body for letter in letters) for body in bodies)
    for letter in letters:
        said = annotations_of(letter.message)
        assert said["x-opt-dead-letter-reason"] == "rejected"
        assert said["x-opt-dead-letter-origin"] == said["x-opt-ORIG-QUEUE"] == "orders"
        assert said["x-opt-dead-letter-error"] == "a reason"
        assert said["x-opt-dead-letter-count"] == 1
        letter.release()
    waiting.close()
    watching = connect(router)
    wait_until(lambda: depth(watching, "dead") == 2, "both to be free")
    assert sorted(found["address"] for found in Management(watching).query("queue")) == ["dead", "orders"]
    reply = Management(watching).ask("RETRY", type="org.apache.qpid.dispatch.queue", name="dead")
    assert (reply.status, reply.body["messages"]) == (200, 2)
    back = peer.receiver("orders")
    came = [back.next() for _ in bodies]
    assert all(any(delivery.body == body for delivery in came) for body in bodies)
    assert not any(annotations_of(delivery.message) for delivery in came)


def test_dead_letters_of_a_queue_in_memory_are_on_disk_where_they_go(start_store, connect):
    router = start_store(DEAD.format(orders="no", dead="yes"))
    peer = connect(router)
    send_all(peer.sender("orders"), range(5))
    reject_all(peer, "orders", 5)
    wait_until(lambda: depth(peer, "dead") == 5, "all to be there")
    restarted(router)
    assert connect(router).receiver("dead").take(5) == list(range(5))


def test_messages_move_between_durable_queues_and_others(start_store, connect):
    router = start_store(DEAD.format(orders="no", dead="yes"))
    peer = connect(router)
    send_all(peer.sender("orders"), range(5))
    management = Management(peer)
    for source, target in (("orders", "dead"), ("dead", "orders"), ("orders", "dead")):
        reply = management.ask("MOVE", {"to": target}, type="org.apache.qpid.dispatch.queue", name=source)
        assert (reply.status, reply.body["messages"]) == (200, 5), reply.description
    restarted(router)
    assert connect(router).receiver("dead").take(5) == list(range(5))


# --- Topics

TOPIC = "topic {\n address: news\n}\n"


def subscription(*capabilities, durable=True, selector=None, no_local=False):
    """A source that is a subscription of its own."""

    def set_up(link):
        if durable:
            link.source.durability = Terminus.DELIVERIES
            link.source.expiry_policy = Terminus.EXPIRE_NEVER
        for capability in capabilities:
            link.source.capabilities.put_object(symbol(capability))
        filters = {}
        if selector:
            filters[symbol("selector")] = Described(symbol("apache.org:selector-filter:string"), selector)
        if no_local:
            filters[symbol("no-local")] = Described(symbol("apache.org:no-local-filter:list"), [])
        if filters:
            link.source.filter.put_dict(filters)

    return set_up


def shared(scope, **options):
    def set_up(link):
        subscription(**options)(link)
        data = link.source.capabilities
        data.clear()
        data.put_array(False, Data.SYMBOL)
        data.enter()
        for capability in ("shared", "global") if scope == "global" else ("shared",):
            data.put_symbol(capability)
        data.exit()

    return set_up


@pytest.mark.parametrize("after_restart", [False, True])
def test_receivers_of_a_client_share_a_subscription(start_store, connect, after_restart):
    router = start_store(TOPIC)
    peer = connect(router)
    container = peer.container.container_id
    first = peer.receiver("news", name="sub|1", set_up=shared("container"))
    second = peer.receiver("news", name="sub|2", set_up=shared("container"))
    alone = connect(router).receiver("news", name="sub", set_up=shared("container"), accepts=True)
    if after_restart:
        restarted(router)
        peer = connect(router, container_id=container)
        first, second = (peer.receiver("news", name=f"sub|{n}", set_up=shared("container")) for n in (1, 2))
    tell(peer)
    send_all(connect(router).sender("news"), range(10))
    peer.until(lambda: len(first.arrived) + len(second.arrived) == 10, "ten messages for the two together")
    assert first.arrived and second.arrived
    bodies = sorted(received.body for received in [*first.arrived, *second.arrived])
    assert bodies == list(range(10))
    if not after_restart:
        assert sorted(alone.take(10)) == list(range(10))


@pytest.mark.parametrize("after_restart", [False, True])
def test_receivers_of_any_client_share_a_global_subscription(start_store, connect, after_restart):
    router = start_store(TOPIC)
    peers = [connect(router), connect(router)]
    receivers = [peer.receiver("news", name="sub", set_up=shared("global")) for peer in peers]
    if after_restart:
        restarted(router)
        peers = [connect(router), connect(router)]
        receivers = [peer.receiver("news", name="sub", set_up=shared("global")) for peer in peers]
    tell(*peers)
    send_all(connect(router).sender("news"), range(10))

    def arrived():
        for peer in peers:
            peer.container.process()
        return sum(len(receiver.arrived) for receiver in receivers) == 10

    wait_until(arrived, "ten messages for both together")
    assert all(receiver.arrived for receiver in receivers)


def test_what_came_while_nobody_of_a_shared_subscription_was_there_is_kept(start_store, connect):
    router = start_store(TOPIC)
    peer = connect(router)
    peer.receiver("news", name="sub", set_up=shared("global"))
    peer.disconnect()
    send_all(connect(router).sender("news"), range(3))
    restarted(router)
    assert connect(router).receiver("news", name="sub", set_up=shared("global")).take(3) == list(range(3))


def test_subscriptions_in_memory_and_on_disk_get_the_same_large_message(start_store, connect):
    router = start_store(TOPIC)
    durable = connect(router).receiver("news", name="kept", set_up=subscription())
    volatile = connect(router).receiver("news", name="fleeting", credit=0)
    body = bytes(LARGE)
    assert send_all(connect(router).sender("news"), [Message(body=body)]) == ["accepted"]
    assert durable.take(1) == [body]
    durable.peer.settle_down()
    assert volatile.flow(1).take(1) == [body]


@pytest.mark.parametrize("full_one", ["durable", "volatile"])
def test_a_full_subscription_keeps_a_message_from_no_other_and_its_sender_is_told(start_store, connect, full_one):
    router = start_store("topic {\n address: news\n maxMessages: 1\n overflow: reject\n}\n")
    of = {"durable": subscription(), "volatile": None}
    slow = connect(router).receiver("news", name="slow", credit=0, set_up=of[full_one])
    quick = {kind: connect(router).receiver("news", name=kind, set_up=set_up) for kind, set_up in of.items()}
    sender = connect(router).sender("news")
    assert send_all(sender, [1]) == ["accepted"]
    assert [receiver.take(1) for receiver in quick.values()] == [[1], [1]]
    tell(*(receiver.peer for receiver in quick.values()))
    watching = connect(router)
    taken = lambda: sum(found["depth"] for found in Management(watching).query("queue")) == 1  # noqa: E731
    wait_until(taken, "the quick ones' settlements")
    refused = sender.send(2)
    assert refused.outcome() == "rejected"
    assert refused.remote.condition.name == "amqp:resource-limit-exceeded"
    assert [receiver.take(1) for receiver in quick.values()] == [[2], [2]]
    assert slow.flow(10).take(1) == [1]


# --- No-local


@pytest.mark.parametrize("durable", [False, True])
def test_a_subscription_without_local_messages_gets_those_of_others_only(start_store, connect, durable):
    router = start_store(TOPIC)
    peer, other = connect(router), connect(router)
    receiver = peer.receiver("news", name="sub", set_up=subscription(durable=durable, no_local=True))
    assert [str(value.descriptor) for value in filters_of(receiver.link).values()] == ["apache.org:no-local-filter:list"]
    assert send_all(peer.sender("news"), ["own"]) == ["accepted"]
    assert send_all(other.sender("news"), ["other's"]) == ["accepted"]
    assert receiver.take(1) == ["other's"]
    assert receiver.has_nothing()


def test_a_durable_subscription_without_local_messages_stays_so_while_nobody_receives(start_store, connect):
    router = start_store(TOPIC)
    peer = connect(router)
    peer.receiver("news", name="sub", set_up=subscription(no_local=True)).link.detach()
    peer.settle_down()
    restarted(router)
    again = connect(router, container_id=peer.container.container_id)
    send_all(again.sender("news"), ["own"])
    send_all(connect(router).sender("news"), ["other's"])
    receiver = again.receiver("news", name="sub", set_up=subscription(no_local=True))
    assert receiver.take(1) == ["other's"]
    assert receiver.has_nothing()


def test_queues_do_not_say_that_they_keep_local_messages_back(stored, connect, name):
    receiver = connect(stored).receiver(name, set_up=subscription(durable=False, no_local=True))
    assert filters_of(receiver.link) == {}
