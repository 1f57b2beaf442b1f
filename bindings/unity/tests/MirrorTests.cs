// The transport for Mirror, called as Mirror calls it: early updates, then late ones.

using System;
using System.Collections.Generic;
using System.Linq;
using Mirror;
using Porous.Transports;

namespace Porous.Tests
{
    public static class MirrorTests
    {
        /// <summary>A server, clients, and what they were told.</summary>
        sealed class World : IDisposable
        {
            internal readonly PorousMirrorTransport Server = new PorousMirrorTransport { port = 0 };
            internal readonly List<PorousMirrorTransport> Clients = new List<PorousMirrorTransport>();
            internal readonly List<int> Connected = new List<int>(), Disconnected = new List<int>();
            internal readonly List<string> Addresses = new List<string>(), Errors = new List<string>();
            internal readonly List<KeyValuePair<int, byte[]>> AtServer = new List<KeyValuePair<int, byte[]>>();
            internal readonly List<KeyValuePair<PorousMirrorTransport, byte[]>> AtClients =
                new List<KeyValuePair<PorousMirrorTransport, byte[]>>();
            internal readonly List<PorousMirrorTransport> Ended = new List<PorousMirrorTransport>();
            internal readonly HashSet<string> ChannelsSeen = new HashSet<string>();

            internal World(int clients, Action<PorousMirrorTransport> configure = null)
            {
                configure = configure ?? (transport => { });
                configure(Server);
                Server.OnServerConnectedWithAddress = (id, address) => { Connected.Add(id); Addresses.Add(address); };
                Server.OnServerDisconnected = id => Disconnected.Add(id);
                Server.OnServerError = (id, error, text) => Errors.Add("server " + error);
                Server.OnServerDataReceived = (id, bytes, channel) =>
                {
                    ChannelsSeen.Add(channel + ": " + bytes.Count);
                    AtServer.Add(new KeyValuePair<int, byte[]>(id, bytes.ToArray()));
                };
                Server.ServerStart();
                for (int i = 0; i < clients; i++) Clients.Add(Add(configure));
                Check.Until(() => Connected.Count == clients && Clients.All(c => c.ClientConnected()), Turn,
                    "all clients are connected");
            }

            internal PorousMirrorTransport Add(Action<PorousMirrorTransport> configure, string address = "127.0.0.1")
            {
                var client = new PorousMirrorTransport { port = Server.Port };
                configure(client);
                client.OnClientDisconnected = () => Ended.Add(client);
                client.OnClientError = (error, text) => Errors.Add("client " + error);
                client.OnClientDataReceived = (bytes, channel) =>
                    AtClients.Add(new KeyValuePair<PorousMirrorTransport, byte[]>(client, bytes.ToArray()));
                client.ClientConnect(address);
                return client;
            }

            internal void Turn()
            {
                Server.ServerEarlyUpdate();
                Server.ClientEarlyUpdate();
                foreach (var client in Clients) { client.ServerEarlyUpdate(); client.ClientEarlyUpdate(); }
                Server.ServerLateUpdate();
                Server.ClientLateUpdate();
                foreach (var client in Clients) { client.ServerLateUpdate(); client.ClientLateUpdate(); }
            }

            public void Dispose()
            {
                foreach (var client in Clients) client.Shutdown();
                Server.Shutdown();
            }
        }

        static ArraySegment<byte> Message(int count, byte first)
        {
            // In the middle of a larger array, as Mirror's are.
            var bytes = new byte[count + 10];
            for (int i = 0; i < count; i++) bytes[5 + i] = (byte)(first + i);
            return new ArraySegment<byte>(bytes, 5, count);
        }

        public static void twenty_clients_talk_with_a_server_on_both_channels()
        {
            using (var world = new World(20))
            {
                Check.That(world.Server.Available() && world.Server.ServerActive(), "a server");
                Check.That(world.Connected.Distinct().Count() == 20 && !world.Connected.Contains(0), "numbers");
                Check.That(world.Addresses.All(a => a == "127.0.0.1"), "addresses: " + world.Addresses[0]);
                Check.Equal("127.0.0.1", world.Server.ServerGetClientAddress(world.Connected[7]), "address");
                Check.Equal("", world.Server.ServerGetClientAddress(99), "address of nobody");
                int sent = 0;
                for (byte i = 0; i < 20; i++)
                {
                    world.Clients[i].OnClientDataSent = (bytes, channel) => sent++;
                    world.Clients[i].ClientSend(Message(200000, i), Channels.Reliable);
                    world.Clients[i].ClientSend(Message(PorousMirrorTransport.UnfragmentedBytes, i), Channels.Unreliable);
                }
                Check.Equal(40, sent, "messages sent");
                Check.Until(() => world.AtServer.Count(m => m.Value.Length == 200000) == 20, world.Turn, "large messages");
                foreach (var message in world.AtServer)
                {
                    byte first = message.Value[0];
                    Check.Bytes(Message(message.Value.Length, first).ToArray(), message.Value, "message");
                    world.Server.ServerSend(message.Key, Message(100000, (byte)(first + 1)), Channels.Reliable);
                }
                Check.Until(() => world.AtClients.Count(m => m.Value.Length == 100000) >= 20, world.Turn, "answers");
                foreach (var message in world.AtClients)
                {
                    byte first = (byte)(world.Clients.IndexOf(message.Key) + 1);
                    Check.Bytes(Message(100000, first).ToArray(), message.Value, "answer");
                }
                Check.That(world.ChannelsSeen.SetEquals(new[] { "0: 200000", "1: 1120" }), "channels");
                Check.Equal("", string.Join(" ", world.Errors.ToArray()), "errors");
            }
        }

        public static void a_client_that_is_disconnected_in_a_callback_is_heard_no_more()
        {
            using (var world = new World(3))
            {
                int victim = 0, heard = 0;
                world.Server.OnServerDataReceived = (id, bytes, channel) =>
                {
                    heard += id == victim ? 1 : 0;
                    if (id != victim && victim != 0) return;
                    victim = id;
                    heard = 1;
                    world.Server.ServerDisconnect(id);
                    world.Server.ServerDisconnect(id);
                    // What Mirror sends in the same turn, and its batches that it sends at the end of it.
                    world.Server.ServerSend(id, Message(50000, 9), Channels.Reliable);
                };
                for (int i = 0; i < 50; i++) world.Clients[1].ClientSend(Message(100, 0), Channels.Reliable);
                Check.Until(() => world.Ended.Count == 1, world.Turn, "the client is told");
                Check.That(world.Ended[0] == world.Clients[1] && !world.Clients[1].ClientConnected(), "which client");
                Check.Equal(1, heard, "messages of the client");
                Check.Equal(victim.ToString(), string.Join(" ", world.Disconnected.Select(i => i + "").ToArray()), "ended");
                Check.Equal(50000, world.AtClients.Single().Value.Length, "the last message");
                Check.Equal("", world.Server.ServerGetClientAddress(victim), "address");
                world.Clients[0].ClientSend(Message(1, 1), Channels.Reliable);
                world.Server.OnServerDataReceived = (id, bytes, channel) => heard = 1000;
                Check.Until(() => heard == 1000, world.Turn, "others are heard");
                Check.Equal("", string.Join(" ", world.Errors.ToArray()), "errors");
            }
        }

        public static void a_server_sees_its_clients_go_behind_their_last_messages()
        {
            using (var world = new World(20))
            {
                foreach (var client in world.Clients)
                {
                    client.ClientSend(Message(20000, 1), Channels.Reliable);
                    client.ClientDisconnect();
                    Check.That(!client.ClientConnected(), "a client that has disconnected");
                }
                Check.Equal(20, world.Ended.Count, "clients are told at once");
                Check.Until(() => world.Disconnected.Count == 20, world.Turn, "the server is told");
                Check.Equal(20, world.AtServer.Count, "last messages");
                Check.That(world.Disconnected.OrderBy(i => i).SequenceEqual(world.Connected.OrderBy(i => i)), "which");
                world.Clients[0].ClientSend(Message(1, 1), Channels.Reliable);
                world.Clients[0].ClientDisconnect();
                Check.Equal(20, world.Ended.Count, "nobody is told twice");
            }
        }

        public static void a_server_stops_and_another_starts_at_its_port_at_once()
        {
            using (var world = new World(2))
            {
                ushort port = world.Server.Port;
                world.Server.ServerSend(world.Connected[0], Message(30000, 1), Channels.Reliable);
                world.Server.ServerStop();
                Check.That(!world.Server.ServerActive(), "no server");
                Check.Until(() => world.Ended.Count == 2, world.Turn, "the clients are told");
                Check.Equal(1, world.AtClients.Count, "the last message");
                world.Server.Port = port;
                world.Server.ServerStart();
                world.Server.ServerStop();
                world.Server.ServerStart();
                Check.Equal(port, world.Server.Port, "port");
                Check.Equal("porous", world.Server.ServerUri().Scheme, "scheme");
                Check.Equal(port, world.Server.ServerUri().Port, "port");
                world.Connected.Clear();
                world.Clients[0].ClientConnect(new Uri("porous://localhost:" + port));
                Check.Until(() => world.Clients[0].ClientConnected() && world.Connected.Count == 1, world.Turn, "again");
                Check.Throws<ArgumentException>(() => world.Clients[1].ClientConnect(new Uri("kcp://localhost")), "scheme");
            }
        }

        public static void messages_wait_while_the_component_is_disabled()
        {
            using (var world = new World(1))
            {
                world.Server.OnServerDataReceived += (id, bytes, channel) => world.Server.enabled = false;
                for (byte i = 0; i < 5; i++) world.Clients[0].ClientSend(Message(10, i), Channels.Reliable);
                world.Clients[0].ClientDisconnect();
                for (int i = 1; i <= 5; i++)
                {
                    world.Server.enabled = true;
                    Check.Until(() => world.AtServer.Count >= i, world.Turn, "message " + i);
                    for (int turn = 0; turn < 5; turn++) world.Turn();
                    Check.Equal(i, world.AtServer.Count, "messages while disabled");
                    Check.Equal(i - 1, (int)world.AtServer[i - 1].Value[0], "order");
                    Check.Equal(0, world.Disconnected.Count, "the end comes behind them");
                }
                world.Server.enabled = true;
                Check.Until(() => world.Disconnected.Count == 1, world.Turn, "the end");
            }
        }

        public static void hosts_of_different_applications_and_names_that_mean_nothing_are_errors()
        {
            using (var world = new World(0, transport => transport.applicationId = 5))
            {
                world.Clients.Add(world.Add(transport => transport.applicationId = 6));
                Check.Until(() => world.Ended.Count == 1, world.Turn, "a refusal");
                world.Clients.Add(world.Add(transport => { }, "not a name"));
                Check.Until(() => world.Ended.Count == 2, world.Turn, "no address");
                world.Clients.Add(world.Add(transport => { }, "0.0.0.0"));
                Check.Until(() => world.Ended.Count == 3, world.Turn, "nobody can be there");
                Check.Equal("client Refused, client DnsResolve, client DnsResolve",
                    string.Join(", ", world.Errors.ToArray()), "errors");
            }
        }

        public static void a_connection_that_does_not_carry_what_is_reliable_ends()
        {
            using (var world = new World(2, transport => transport.sendBudgetBytes = 20000))
            {
                for (int i = 0; i < 50; i++) world.Server.ServerSend(world.Connected[0], Message(1000, 0), Channels.Unreliable);
                Check.Equal(0, world.Errors.Count, "what is unreliable is dropped");
                for (int i = 0; i < 50; i++) world.Server.ServerSend(world.Connected[1], Message(1000, 0), Channels.Reliable);
                Check.Until(() => world.Disconnected.Count == 1, world.Turn, "the end");
                Check.Equal(world.Connected[1], world.Disconnected[0], "which");
                Check.That(world.Errors.All(e => e == "server Congestion"), "errors");
                for (int i = 0; i < 50; i++) world.Clients[0].ClientSend(Message(1000, 0), Channels.Reliable);
                Check.That(world.Ended.Contains(world.Clients[0]), "the client ends");
                Check.That(world.Errors.Contains("client Congestion"), "errors");
                Check.Until(() => world.Disconnected.Count == 2, world.Turn, "the server is told");
            }
        }

        public static void messages_that_are_too_large_are_errors()
        {
            using (var world = new World(1, transport => transport.maxMessageBytes = 5000))
            {
                Check.Equal(5000, world.Server.GetMaxPacketSize(Channels.Reliable), "limit");
                world.Server.ServerSend(world.Connected[0], Message(5001, 0), Channels.Reliable);
                world.Clients[0].ClientSend(Message(5001, 0), Channels.Reliable);
                Check.Equal("server InvalidSend, client InvalidSend", string.Join(", ", world.Errors.ToArray()), "errors");
                world.Server.ServerSend(77, Message(1, 0), Channels.Reliable);
                world.Server.ServerDisconnect(77);
                world.Turn();
            }
        }

        public static void unreliable_messages_of_the_stated_size_fit_the_first_datagrams()
        {
            using (var pair = new Pair(config => { config.Suite0 = Suite.AesGcm; return config; }))
            {
                PeerStats stats;
                pair.Server.SetSecurity(new Security());
                pair.ToServer = pair.Client.ConnectSealed(new[] { pair.Server.LocalAddress }, new Credentials());
                pair.Await(pair.AtClient, EventType.Connected);
                pair.Client.Info(pair.ToServer, out stats);
                int size = new PorousMirrorTransport().GetMaxPacketSize(Channels.Unreliable);
                Check.That(stats.MaxUnfragmented >= size, "unfragmented: " + stats.MaxUnfragmented + " of " + stats.PathMtu);
                Check.Equal(size, new PorousMirrorTransport().GetBatchThreshold(Channels.Reliable), "threshold");
            }
        }

        public static void a_transport_that_seals_knows_who_its_clients_are()
        {
            byte[] identity = Library.GenerateKey(), tokenKey = Library.GenerateKey();
            var claims = new Claims { ApplicationId = 3, ClientId = 77 };
            claims.Created = (ulong)(DateTime.UtcNow - new DateTime(1970, 1, 1)).TotalSeconds;
            claims.Expires = claims.Created + 60;
            using (Ticket ticket = Ticket.Mint(tokenKey, claims))
            using (var world = new World(1, transport =>
            {
                transport.seal = true;
                transport.applicationId = 3;
                transport.security.Identities = new[] { identity };
                transport.security.TokenKeys = new[] { new Key(0, tokenKey) };
                transport.credentials.Ticket = ticket;
                transport.credentials.ServerKey = Library.PublicKey(identity);
            }))
            {
                Secured secured;
                Check.That(world.Server.ServerSecured(world.Connected[0], out secured), "sealed");
                Check.Equal(77UL, secured.ClientId, "client");
                Check.That(!world.Server.ServerSecured(99, out secured), "nobody");
                Check.That(world.Server.IsEncrypted && world.Server.EncryptionCipher != "", "encrypted");
                world.Clients.Add(world.Add(transport => transport.applicationId = 3));
                Check.Until(() => world.Ended.Count == 1, world.Turn, "a client that does not seal is refused");
                Check.Equal("client Refused", world.Errors.Single(), "errors");
                Check.That(!world.Clients[1].IsEncrypted && world.Clients[1].EncryptionCipher == "", "plain");
            }
        }

        public static void ten_thousand_messages_make_no_garbage()
        {
            using (var world = new World(1))
            {
                ArraySegment<byte> message = Message(200, 0);
                int id = world.Connected[0], atServer = 0, atClient = 0;
                world.Server.OnServerDataReceived = (from, bytes, channel) =>
                {
                    atServer++;
                    world.Server.ServerSend(from, bytes, channel);
                };
                world.Clients[0].OnClientDataReceived = (bytes, channel) => atClient++;
                Exchange(world, message, 500);
                GC.Collect();
                int collections = GC.CollectionCount(0);
                long before = GC.GetTotalMemory(false);
                atServer = atClient = 0;
                Exchange(world, message, 10000);
                long grown = GC.GetTotalMemory(false) - before;
                Check.That(atServer > 5000 && atClient > 5000, "messages: " + atServer + " and " + atClient);
                Check.Equal(collections, GC.CollectionCount(0), "collections");
                Check.That(grown < 16384, "garbage in bytes: " + grown);
            }
        }

        static void Exchange(World world, ArraySegment<byte> message, int count)
        {
            PorousMirrorTransport client = world.Clients[0];
            for (int i = 0; i < count; i++)
            {
                client.ClientSend(message, i % 2);
                client.ClientLateUpdate();
                world.Server.ServerEarlyUpdate();
                world.Server.ServerLateUpdate();
                client.ClientEarlyUpdate();
            }
        }
    }
}
