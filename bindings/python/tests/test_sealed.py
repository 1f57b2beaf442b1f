"""Sealed connections and tickets, by hosts without sockets."""

import unittest

import porous
from network import PLACES, Pair
from porous import Credentials, Reason, Security, Status, Suite, Ticket

NOW = 1_800_000_000
APPLICATION = 5


class TestSealed(unittest.TestCase):
    def setUp(self):
        config = porous.Config(suites=[Suite.CHACHA_POLY, Suite.AES_GCM], application_id=APPLICATION)
        self.pair = Pair(config)
        self.client, self.server = self.pair.client, self.pair.server
        self.secret, self.psk, self.token_key = (porous.generate_key() for _ in range(3))
        self.public = porous.public_key(self.secret)
        security = Security([self.secret], {4: self.psk}, {9: self.token_key}, require_proof=True, server_id=77)
        self.server.set_security(security)
        self.server.set_unix_time(NOW)

    def connect(self, **what):
        """Connects; the event by which the client hears how that went, and its peer."""
        peer = self.client.connect_sealed(PLACES["server"], Credentials(**what))
        event = self.pair.event(self.client, (porous.Connected, porous.Disconnected))
        self.assertEqual(event.peer, peer)
        return event

    def end(self):
        self.client.disconnect_all()
        self.pair.until(lambda: self.client.is_empty() and self.server.is_empty())
        for _ in self.client.events():
            pass

    def minted(self, **what):
        return Ticket.mint(
            self.token_key,
            **{
                **dict(key_number=9, application_id=APPLICATION, client_id=1234, created=NOW - 10, lifetime=60),
                **dict(audiences=[76, 77], user_data=b"level 3", server_key=self.public),
                **what,
            },
        )

    def test_both_hosts_prove_what_they_have(self):
        event = self.connect(server_key=self.public, psk=self.psk, psk_number=4, greeting=b"hi")
        self.assertIsInstance(event, porous.Connected)
        there = self.pair.event(self.server, porous.Connected).peer
        here, secured = self.client.peer_secured(event.peer), self.server.peer_secured(there)
        self.assertEqual((secured.psk_number, secured.client_id, secured.user_data), (4, None, b""))
        self.assertEqual((here.suite, here.server_key), (Suite.CHACHA_POLY, self.public))
        self.assertEqual((here.binding, len(here.binding)), (secured.binding, 32))
        self.assertEqual(self.server.peer_greeting(there), b"hi")
        voice = self.client.peer_export(event.peer, b"voice")
        self.assertEqual(voice, self.server.peer_export(there, b"voice"))
        self.assertNotEqual(voice, self.server.peer_export(there, b"video"))

    def test_whoever_proves_nothing_is_refused(self):
        self.assertEqual(self.connect(server_key=self.public).reason, Reason.REFUSED_SECURITY)

    def test_another_server_cannot_answer(self):
        other = porous.public_key(porous.generate_key())
        event = self.connect(server_key=other, psk=self.psk, psk_number=4)
        self.assertIsInstance(event, porous.Disconnected)

    def test_a_ticket_lets_its_client_in_once(self):
        ticket = Ticket.from_text(str(self.minted(single_use=True)))
        self.assertIsInstance(self.connect(ticket=ticket), porous.Connected)
        there = self.pair.event(self.server, porous.Connected).peer
        secured = self.server.peer_secured(there)
        self.assertEqual((secured.client_id, secured.user_data), (1234, b"level 3"))
        self.end()
        self.assertEqual(self.connect(ticket=ticket).reason, Reason.REFUSED_SECURITY)
        self.assertGreater(self.server.host_info().tokens_refused[9], 0)

    def test_a_token_and_its_secret_do_as_well(self):
        ticket = self.minted()
        event = self.connect(server_key=self.public, token=ticket.token, psk=ticket.psk)
        self.assertIsInstance(event, porous.Connected)

    def test_tokens_that_are_expired_or_for_others_are_refused(self):
        for what in (dict(created=NOW - 100), dict(audiences=[76]), dict(application_id=6), dict(key_number=8)):
            with self.subTest(what):
                self.assertEqual(self.connect(ticket=self.minted(**what)).reason, Reason.REFUSED_SECURITY)
                self.end()

    def test_a_ticket_has_what_was_put_in(self):
        ticket = self.minted(servers=["192.0.2.1:4000", "[2001:db8::1]:5"])
        for read in (ticket, Ticket.from_text(str(ticket)), Ticket.from_bytes(bytes(ticket))):
            self.assertEqual([str(server) for server in read.servers], ["192.0.2.1:4000", "[2001:db8::1]:5"])
            self.assertEqual((read.server_key, read.expires), (self.public, NOW + 50))
            self.assertEqual((read.token, read.psk), (ticket.token, ticket.psk))

    def test_what_is_no_ticket_or_key_says_so(self):
        for status, call in {
            Status.TICKET_BASE64: lambda: Ticket.from_text("?"),
            Status.TICKET_VERSION: lambda: Ticket.from_bytes(b"\0" * 50),
            Status.TICKET_MALFORMED: lambda: Ticket.from_bytes(bytes(self.minted())[:40]),
            Status.CLAIMS_USER_DATA: lambda: self.minted(user_data=b"x" * 256),
            Status.TICKET_SERVERS: lambda: self.minted(servers=["192.0.2.1:4000"] * 33),
            Status.SERVER_KEY: lambda: self.minted(server_key=b"x" * 66),
            Status.SECURITY_TOO_MANY: lambda: self.server.set_security(Security([self.secret] * 3)),
        }.items():
            with self.subTest(status):
                with self.assertRaises(porous.SealError) as raised:
                    call()
                self.assertIs(raised.exception.status, status)
        with self.assertRaises(ValueError):
            porous.public_key(b"short")

    def test_a_plain_connection_proves_nothing(self):
        pair = Pair()
        peer, _ = pair.connect()
        self.assertIsNone(pair.client.peer_secured(peer))
        with self.assertRaises(porous.SealError):
            pair.client.peer_export(peer, b"voice")
        with self.assertRaises(porous.SealError):
            pair.client.connect_sealed(PLACES["server"], Credentials())


if __name__ == "__main__":
    unittest.main()
