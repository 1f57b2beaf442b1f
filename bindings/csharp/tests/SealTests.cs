// Sealed connections, and tickets.

using System;
using System.Linq;
using System.Text;

namespace Porous.Tests
{
    public static class SealTests
    {
        const ulong Application = 9;

        static Config Sealing(Config config)
        {
            config.ApplicationId = Application;
            config.Suite0 = Suite.ChachaPoly;
            config.Suite1 = Suite.AesGcm;
            return config;
        }

        static byte[] Bytes(string text) { return Encoding.UTF8.GetBytes(text); }

        static ulong Now { get { return (ulong)(DateTime.UtcNow - new DateTime(1970, 1, 1)).TotalSeconds; } }

        /// <summary>Connects, and returns what the server and the client know of it.</summary>
        static Secured[] Connect(Pair pair, Address[] to, Credentials with)
        {
            pair.AtServer.Clear();
            pair.AtClient.Clear();
            pair.ToServer = pair.Client.ConnectSealed(to, with);
            pair.Await(pair.AtClient, EventType.Connected);
            pair.ToClient = pair.Await(pair.AtServer, EventType.Connected).Peer;
            Secured server, client;
            Check.Equal(Status.One, pair.Server.Secured(pair.ToClient, out server), "sealed");
            Check.Equal(Status.One, pair.Client.Secured(pair.ToServer, out client), "sealed");
            return new[] { server, client };
        }

        static Address[] Where(Pair pair) { return new[] { pair.Server.LocalAddress }; }

        public static void a_client_knows_the_server_by_its_key()
        {
            using (var pair = new Pair(Sealing))
            {
                byte[] secret = Library.GenerateKey(), key = Library.PublicKey(secret);
                Check.That(!secret.SequenceEqual(Library.GenerateKey()), "another secret");
                pair.Server.SetSecurity(new Security { Identities = new[] { secret } });
                Secured[] both = Connect(pair, Where(pair), new Credentials { ServerKey = key, Greeting = Bytes("hello") });
                Check.Equal(Suite.ChachaPoly, both[1].Suite, "suite");
                Check.Bytes(key, both[1].ServerKey, "key");
                Check.Bytes(both[0].Binding, both[1].Binding, "binding");
                Check.That(both[0].Binding.Any(b => b != 0), "a binding");
                Check.That(both[0].PskNumber == null && both[0].ClientId == null && both[0].UserData.Length == 0, "no more");
                Check.Equal("hello", Encoding.UTF8.GetString(pair.Server.Greeting(pair.ToClient)), "greeting");
                byte[] one, other, third;
                Check.Equal(Status.Ok, pair.Server.Export(pair.ToClient, Bytes("voice"), out one), "export");
                Check.Equal(Status.Ok, pair.Client.Export(pair.ToServer, Bytes("voice"), out other), "export");
                pair.Client.Export(pair.ToServer, Bytes("video"), out third);
                Check.Bytes(one, other, "the same secret");
                Check.That(!one.SequenceEqual(third), "another one for another label");
                pair.Client.Send(pair.ToServer, 0, Mode.Reliable, Bytes("sealed"));
                Received what;
                Check.Bytes(Bytes("sealed"), pair.Next(pair.Server, pair.ToClient, out what), "a packet");
            }
        }

        public static void a_psk_proves_a_client()
        {
            using (var pair = new Pair(Sealing))
            {
                byte[] first = Library.GenerateKey(), second = Library.GenerateKey();
                pair.Server.SetSecurity(new Security
                {
                    RequireProof = true, Psks = new[] { new Key(70000, first), new Key(70001, second) },
                });
                Secured[] both = Connect(pair, Where(pair), new Credentials { Psk = second, PskNumber = 70001 });
                Check.Equal(70001U, both[0].PskNumber, "number");
                Check.Equal(0, both[1].ServerKey.Length, "no key");
            }
        }

        public static void a_ticket_of_a_backend_lets_a_client_in()
        {
            using (var pair = new Pair(Sealing))
            {
                byte[] identity = Library.GenerateKey(), tokenKey = Library.GenerateKey();
                pair.Server.SetSecurity(new Security
                {
                    RequireProof = true, Identities = new[] { Library.GenerateKey(), identity },
                    TokenKeys = new[] { new Key(1, Library.GenerateKey()), new Key(2, tokenKey) }, ServerId = 55,
                });
                var claims = new Claims
                {
                    KeyNumber = 2, ApplicationId = Application, ClientId = 0x1122334455667788, Created = Now,
                    Expires = Now + 60, Audiences = new ulong[] { 54, 55 }, UserData = Bytes("a level 7 druid"),
                    Ip = Address.Parse("127.0.0.1:0"),
                };
                Ticket minted = Ticket.Mint(tokenKey, claims);
                minted.Servers = Where(pair);
                minted.ServerKey = Library.PublicKey(identity);
                Check.Equal(claims.Expires, minted.Expires, "expires");
                using (Ticket ticket = Ticket.FromText(minted.ToText()))
                using (Ticket again = Ticket.FromBytes(ticket.ToBytes()))
                {
                    Check.Bytes(minted.ToBytes(), again.ToBytes(), "the same ticket");
                    Check.Equal(Where(pair)[0], ticket.Servers.Single(), "servers");
                    Check.Bytes(Library.PublicKey(identity), ticket.ServerKey, "key");
                    Check.Bytes(minted.Psk, again.Psk, "psk");
                    minted.Dispose();
                    Check.Throws<ObjectDisposedException>(
                        () => pair.Client.ConnectSealed(Where(pair), new Credentials { Ticket = minted }), "disposed");
                    Secured[] both = Connect(pair, ticket.Servers, new Credentials { Ticket = ticket });
                    Check.Equal(claims.ClientId, both[0].ClientId, "client");
                    Check.Equal("a level 7 druid", Encoding.UTF8.GetString(both[0].UserData), "user data");
                    Check.Equal(null, both[1].ClientId, "client, at the client");
                    Check.Bytes(ticket.ServerKey, both[1].ServerKey, "key");

                    // The same client once more, with the parts of the ticket.
                    pair.Client.Disconnect(pair.ToServer);
                    pair.Await(pair.AtServer, EventType.Disconnected);
                    pair.Await(pair.AtClient, EventType.Disconnected);
                    both = Connect(pair, Where(pair), new Credentials { Token = ticket.Token, Psk = ticket.Psk });
                    Check.Equal(claims.ClientId, both[0].ClientId, "client");
                }
            }
        }

        public static void who_proves_nothing_is_refused_where_a_proof_is_demanded()
        {
            using (var pair = new Pair(Sealing))
            {
                pair.Server.SetSecurity(new Security { RequireProof = true });
                pair.Client.ConnectSealed(Where(pair), new Credentials());
                Check.Equal(Reason.RefusedSecurity, pair.Await(pair.AtClient, EventType.Disconnected).Reason, "reason");
                pair.AtClient.Clear();
                pair.Client.Connect(pair.Server.LocalAddress);
                Check.Equal(Reason.RefusedSecurity, pair.Await(pair.AtClient, EventType.Disconnected).Reason, "plain");
                pair.Server.SetSecurity(new Security { AllowPlain = true });
                pair.AtClient.Clear();
                ulong peer = pair.Client.Connect(pair.Server.LocalAddress);
                pair.Await(pair.AtClient, EventType.Connected);
                Secured secured;
                Check.Equal(Status.Ok, pair.Client.Secured(peer, out secured), "plain");
                Check.That(secured == null, "nothing is proved");
                byte[] secret;
                Check.Equal(Status.NotSealed, pair.Client.Export(peer, Bytes("voice"), out secret), "export");
                Check.Equal(Status.UnknownPeer, pair.Client.Secured(3, out secured), "secured");
                Check.Equal(Status.UnknownPeer, pair.Client.Export(3, new byte[0], out secret), "export");
            }
        }

        public static void mistakes_with_keys_and_tickets_are_told()
        {
            using (var pair = new Pair(Sealing))
            using (var plain = new Pair())
            {
                byte[] key = Library.GenerateKey();
                var five = Enumerable.Range(0, 5).Select(i => new Key((uint)i, key)).ToArray();
                Check.Throws(Status.SecurityTooMany, () => pair.Server.SetSecurity(new Security { Psks = five }));
                Check.Throws(Status.SecurityTooMany, () => pair.Server.SetSecurity(new Security { TokenKeys = five }));
                Check.Throws(Status.SecurityTooMany, () => pair.Server.SetSecurity(
                    new Security { Identities = new[] { key, Library.GenerateKey(), Library.GenerateKey() } }));
                Check.Throws<ArgumentException>(() => pair.Server.SetSecurity(
                    new Security { Identities = new[] { new byte[31] } }), "31 bytes");
                Check.Throws<ArgumentException>(() => new Key(1, new byte[31]), "31 bytes");
                Check.Throws<ArgumentException>(() => Library.PublicKey(null), "no key");
                Check.Throws(Status.NotSealed, () => plain.Client.ConnectSealed(Where(plain), new Credentials()));
                Check.Throws(Status.ServerKey, () => pair.Client.ConnectSealed(
                    Where(pair), new Credentials { ServerKey = new byte[66] }));
                Check.Throws(Status.NoAddress, () => pair.Client.ConnectSealed(new Address[0], new Credentials()));
                Check.Throws(Status.TooLong, () => pair.Client.ConnectSealed(
                    Where(pair), new Credentials { Greeting = new byte[256] }));
                Check.Throws(Status.TicketMalformed, () => pair.Client.ConnectSealed(
                    Where(pair), new Credentials { Token = new byte[9], Psk = key }));
                Check.Throws(Status.ClaimsUserData, () => Ticket.Mint(key, new Claims { UserData = new byte[256] }));
                Check.Throws<ArgumentException>(() => Ticket.Mint(key, new Claims { Audiences = new ulong[5] }), "5 servers");
                Check.Throws(Status.TicketBase64, () => Ticket.FromText("?!"));
                Check.Throws(Status.TicketMalformed, () => Ticket.FromText(""));
                Check.Throws<PorousException>(() => Ticket.FromBytes(new byte[50]), "50 zeros");
                using (Ticket ticket = Ticket.Mint(key, new Claims()))
                {
                    Check.Equal(0, ticket.Servers.Length, "no servers");
                    Check.Equal(0, ticket.ServerKey.Length, "no key");
                    Address somewhere = Address.Parse("192.0.2.1:9");
                    Check.Throws(Status.TicketServers, () => ticket.Servers = Enumerable.Repeat(somewhere, 33).ToArray());
                    Check.Throws(Status.ServerKey, () => ticket.ServerKey = new byte[66]);
                }
            }
        }
    }
}
