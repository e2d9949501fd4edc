"""A Kerberos realm of its own on the loopback interface: a KDC, a user with a ticket, a key for the router."""

import os
import socket
import subprocess

from .router import free_port, wait_until

REALM = "WAYSTATION.TEST"
#: Where Debian has the servers, which are not in everybody's path.
SYSTEM_PATH = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"


def host():
    """This machine's name, as Cyrus SASL makes it: the router's principal is called so."""
    name = socket.gethostname()
    try:
        found = socket.getaddrinfo(name, None, flags=socket.AI_CANONNAME)[0][3]
    except OSError:
        found = ""
    return (found or name).lower()


class Realm:
    def __init__(self, folder):
        self.folder = folder
        # Of UDP the port is taken by ourselves.
        self.port = free_port()
        self.keytab = folder / "router.keytab"
        self.process = None
        (folder / "krb5.conf").write_text(
            f"""
[libdefaults]
    default_realm = {REALM}
    dns_lookup_kdc = false
    dns_lookup_realm = false
    dns_canonicalize_hostname = false
    rdns = false
    udp_preference_limit = 1
[realms]
    {REALM} = {{
        kdc = 127.0.0.1:{self.port}
    }}
[domain_realm]
    {host()} = {REALM}
"""
        )
        (folder / "kdc.conf").write_text(
            f"""
[kdcdefaults]
    kdc_listen = ""
    kdc_tcp_listen = 127.0.0.1:{self.port}
[realms]
    {REALM} = {{
        database_name = {folder}/principal
        key_stash_file = {folder}/stash
        acl_file = {folder}/acl
    }}
[logging]
    kdc = FILE:{folder}/kdc.log
"""
        )
        self.environment = {
            **os.environ,
            "PATH": SYSTEM_PATH,
            "KRB5_CONFIG": str(folder / "krb5.conf"),
            "KRB5_KDC_PROFILE": str(folder / "kdc.conf"),
            "KRB5CCNAME": f"FILE:{folder}/tickets",
            "KRB5_KTNAME": f"FILE:{self.keytab}",
        }

    def run(self, *command, **options):
        subprocess.run(command, env=self.environment, check=True, capture_output=True, **options)

    def start(self):
        self.run("kdb5_util", "create", "-s", "-r", REALM, "-P", "master")
        self.admin("addprinc -pw secret joe")
        # The second is how saslauthd makes sure of the KDC.
        for service in ("amqp", "host"):
            self.admin(f"addprinc -randkey {service}/{host()}")
            self.admin(f"ktadd -k {self.keytab} {service}/{host()}")
        self.process = subprocess.Popen(["krb5kdc", "-n"], env=self.environment)

        def listening():
            with socket.socket() as probe:
                return probe.connect_ex(("127.0.0.1", self.port)) == 0

        wait_until(listening, "the KDC")
        self.run("kinit", f"joe@{REALM}", input=b"secret\n")
        return self

    def admin(self, query):
        self.run("kadmin.local", "-r", REALM, "-q", query)

    def stop(self):
        if self.process:
            self.process.terminate()
            self.process.wait()
