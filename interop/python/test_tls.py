"""Proton's clients over TLS: certificates both ways, large messages, and who does not get in."""

import os
import re
import subprocess
from pathlib import Path

import pytest
import trustme
from proton import ConnectionException, Message, SSLDomain
from proton.utils import BlockingConnection
from support.router import PATIENCE, free_port, program, wait_until


class Files:
    """An authority, and the files of certificates that it has issued."""

    def __init__(self, folder):
        self.folder = folder
        self.authority = trustme.CA(organization_name="Us")
        self.ca = str(folder / "ca.pem")
        self.authority.cert_pem.write_to_path(self.ca)

    def issue(self, name, *hosts, **subject):
        certificate = self.authority.issue_cert(*hosts, **subject)
        chain, key = self.folder / f"{name}.pem", self.folder / f"{name}.key"
        chain.write_bytes(b"".join(blob.bytes() for blob in certificate.cert_chain_pems))
        certificate.private_key_pem.write_to_path(str(key))
        return str(chain), str(key)

    def profile(self, more=""):
        chain, key = self.issue("router", "localhost")
        return f"""
sslProfile {{
    name: tls
    caCertFile: {self.ca}
    certFile: {chain}
    privateKeyFile: {key}
    {more}
}}
"""

    def domain(self, own=None):
        domain = SSLDomain(SSLDomain.MODE_CLIENT)
        domain.set_trusted_ca_db(self.ca)
        domain.set_peer_authentication(SSLDomain.VERIFY_PEER_NAME)
        if own:
            domain.set_credentials(*own, None)
        return domain


@pytest.fixture
def files(tmp_path):
    return Files(tmp_path)


@pytest.fixture
def secured(start_router, files):
    """A router with a listener that takes TLS, and its port."""

    def start(more="", profile=""):
        port = free_port()
        listener = f"""
listener {{
    host: localhost
    port: {port}
    sslProfile: tls
    {more}
}}
"""
        router = start_router(sections=files.profile(profile) + listener)
        router.wait_for_port(port)
        return router, port

    return start


def join(port, domain, mechanisms="ANONYMOUS"):
    """A connection over TLS."""
    url = f"amqps://localhost:{port}"
    return BlockingConnection(url, ssl_domain=domain, allowed_mechs=mechanisms, timeout=PATIENCE)


class At:
    """A router at another of its listeners."""

    def __init__(self, router, url):
        self.url, self.told = url, router.told


def test_messages_of_any_size_travel_over_tls(secured, connect, files):
    router, port = secured("requireSsl: yes")
    peer = connect(At(router, f"amqps://localhost:{port}"), ssl_domain=files.domain())
    receiver, sender = peer.receiver("over/tls"), peer.sender("over/tls")

    for size in (1, 16 * 1024, 3_000_000):
        sent = sender.send(Message(body=b"x" * size))
        assert len(receiver.next().accept().body) == size
        assert sent.outcome() == "accepted"


def test_clients_with_and_without_tls_share_a_port(secured, connect, files):
    router, port = secured()
    peer = connect(At(router, f"amqp://localhost:{port}"))
    receiver = peer.receiver("shared")
    peer.router = At(router, f"amqps://localhost:{port}")
    encrypted = peer.connect(ssl_domain=files.domain())

    sent = peer.sender("shared", connection=encrypted).send("from afar")

    assert receiver.next().accept().body == "from afar"
    assert sent.outcome() == "accepted"


def test_a_client_is_known_by_its_certificate(secured, files):
    router, port = secured("authenticatePeer: yes\n    saslMechanisms: EXTERNAL", "uidFormat: n")

    connection = join(port, files.domain(files.issue("joe", "joe.example", common_name="Joe")), "EXTERNAL")

    wait_until(lambda: "auth=EXTERNAL user=Joe " in router.log(), "the line that tells of the connection")
    connection.close()


def test_a_client_without_the_certificate_that_is_asked_for_does_not_get_in(secured, files, tmp_path):
    router, port = secured("authenticatePeer: yes\n    saslMechanisms: EXTERNAL")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    stranger = Files(elsewhere).issue("joe", "joe.example", common_name="Joe")

    for own in (None, stranger):
        with pytest.raises(ConnectionException):
            join(port, files.domain(own), "EXTERNAL")
    assert router.is_running()


def test_a_router_that_the_client_does_not_trust_is_left(secured, tmp_path):
    _, port = secured()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()

    with pytest.raises(ConnectionException):
        join(port, Files(elsewhere).domain())


def test_a_new_certificate_is_shown_without_a_restart(secured, files):
    _, port = secured()
    join(port, files.domain()).close()

    # Of a new authority: who trusts only that one gets in once the router has taken notice.
    files.authority = trustme.CA(organization_name="Us, later")
    files.authority.cert_pem.write_to_path(files.ca)
    files.issue("router", "localhost")

    def gets_in():
        try:
            join(port, files.domain()).close()
            return True
        except ConnectionException:
            return False

    wait_until(gets_in, "the new certificate")


def test_the_tools_speak_tls(secured, files):
    _, port = secured("requireSsl: yes\n    authenticatePeer: yes\n    saslMechanisms: EXTERNAL")
    chain, key = files.issue("joe", "joe.example", common_name="Joe")

    old = ["--ssl-trustfile", files.ca, "--ssl-certificate", chain, "--ssl-key", key, "--sasl-mechanisms", "EXTERNAL"]
    shown = run("qdstat", "-b", f"amqps://localhost:{port}", "-c", *old)
    new = ["--tls-ca", files.ca, "--tls-cert", chain, "--tls-key", key]
    certificates = run("waystation", "stat", "certificates", "--url", f"amqps://localhost:{port}", *new)

    assert "TLSv1.3(TLS_AES_256_GCM_SHA384)" in shown
    assert "days-left" in certificates and "router.pem" in certificates


def run(name, *words):
    done = subprocess.run([program(name), *words], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


BOOK = Path(__file__).parents[2] / "docs" / "tls.md"


def blocks(kind):
    """The blocks of this kind in the book's page, whatever else it says of them."""
    return re.findall(rf"^```{kind}\b[^\n]*\n(.*?)^```$", BOOK.read_text(), re.MULTILINE | re.DOTALL)


def test_the_configuration_and_the_commands_of_the_book_work(start_router, tmp_path):
    port = free_port()

    def here(text):
        return text.replace("5671", str(port)).replace("/etc/waystation", str(tmp_path)).replace("0.0.0.0", "localhost")

    def sh(script):
        path = f"{Path(program('waystation')).parent}:{os.environ['PATH']}"
        done = subprocess.run(
            ["sh", "-ec", script], cwd=tmp_path, env={**os.environ, "PATH": path}, capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 0, f"{script}\n{done.stdout}{done.stderr}"
        return done.stdout

    first, *_ = blocks("conf")
    made, looked, changed = (here(script) for script in blocks("sh"))
    sh(made + "cp router.pem ca.pem; cp router.pem new.pem; cp router.key new.key")
    start_router(sections=here(first)).wait_for_port(port)

    shown = sh(looked)
    assert "TLSv1.3" in shown and "CN=localhost" in shown
    sh(changed.rstrip() + f" --url amqps://localhost:{port} --tls-ca router.pem")
