// The transport for Netcode for GameObjects, called as its network manager does it: polls until nothing is there.

using System;
using System.Collections.Generic;
using System.Linq;
using Porous.Transports;
using Unity.Netcode;

namespace Porous.Tests
{
    public static class NetcodeTests
    {
        /// <summary>What a network manager sees of its transport.</summary>
        sealed class Manager
        {
            internal readonly PorousNetcodeTransport Transport = new PorousNetcodeTransport { port = 0 };
            internal readonly List<ulong> Connected = new List<ulong>(), Disconnected = new List<ulong>();
            internal readonly List<KeyValuePair<ulong, byte[]>> Messages = new List<KeyValuePair<ulong, byte[]>>();
            internal Action<ulong, ArraySegment<byte>> OnData;
            internal int Count;

            internal Manager() { OnData = (id, bytes) => Messages.Add(new KeyValuePair<ulong, byte[]>(id, bytes.ToArray())); }

            internal void Turn()
            {
                ulong id;
                ArraySegment<byte> payload;
                float time;
                for (NetworkEvent what; (what = Transport.PollEvent(out id, out payload, out time)) != NetworkEvent.Nothing;)
                {
                    Check.That(Math.Abs(UnityEngine.Time.realtimeSinceStartup - time) < 0.02, "time " + time);
                    Check.That(what != NetworkEvent.TransportFailure, "failure");
                    if (what == NetworkEvent.Connect) Connected.Add(id);
                    else if (what == NetworkEvent.Disconnect) Disconnected.Add(id);
                    else OnData(id, payload);
                }
                Transport.PostLateUpdate();
                Transport.Update();
            }
        }

        sealed class World : IDisposable
        {
            internal readonly Manager Server = new Manager();
            internal readonly List<Manager> Clients = new List<Manager>();

            internal World(int clients, Action<PorousNetcodeTransport> configure = null)
            {
                UnityEngine.Debug.LastError = null;
                configure = configure ?? (transport => { });
                configure(Server.Transport);
                Server.Transport.Initialize();
                Check.That(Server.Transport.IsSupported && Server.Transport.StartServer(), "a server");
                for (int i = 0; i < clients; i++) Add(configure);
                Check.Until(() => Server.Connected.Count == clients && Clients.All(c => c.Connected.Count == 1), Turn,
                    "all clients are connected");
            }

            internal Manager Add(Action<PorousNetcodeTransport> configure)
            {
                var client = new Manager();
                client.Transport.port = Server.Transport.BoundPort;
                configure(client.Transport);
                Clients.Add(client);
                Check.That(client.Transport.StartClient(), "a client");
                Check.That(!client.Transport.StartClient(), "a second start");
                return client;
            }

            internal void Turn()
            {
                UnityEngine.Time.realtimeSinceStartup += 0.016f;
                Server.Turn();
                foreach (Manager client in Clients) client.Turn();
            }

            public void Dispose()
            {
                foreach (Manager client in Clients) client.Transport.Shutdown();
                Server.Transport.Shutdown();
                Check.Until(() => Server.Transport.IsIdle && Clients.All(c => c.Transport.IsIdle), Turn, "all are gone");
            }
        }

        static ArraySegment<byte> Message(int count, byte first)
        {
            var bytes = new byte[count + 6];
            for (int i = 0; i < count; i++) bytes[3 + i] = (byte)(first + i);
            return new ArraySegment<byte>(bytes, 3, count);
        }

        static readonly NetworkDelivery[] deliveries = (NetworkDelivery[])Enum.GetValues(typeof(NetworkDelivery));

        public static void twenty_clients_talk_with_a_server_by_each_delivery()
        {
            using (var world = new World(20))
            {
                Check.That(world.Clients.All(c => c.Connected[0] == c.Transport.ServerClientId), "the server's name");
                Check.That(world.Server.Connected.Distinct().Count() == 20 && !world.Server.Connected.Contains(0), "names");
                for (byte i = 0; i < 20; i++)
                {
                    foreach (NetworkDelivery delivery in deliveries)
                    {
                        int size = delivery == NetworkDelivery.ReliableFragmentedSequenced ? 300000 : 100 + (int)delivery;
                        world.Clients[i].Transport.Send(0, Message(size, i), delivery);
                    }
                }
                Check.Until(() => world.Server.Messages.Count == 100, world.Turn, "messages by each delivery");
                foreach (var message in world.Server.Messages)
                {
                    byte first = message.Value[0];
                    Check.Bytes(Message(message.Value.Length, first).ToArray(), message.Value, "message");
                    if (message.Value.Length < 1000) continue;
                    world.Server.Transport.Send(message.Key, Message(200000, first), NetworkDelivery.Reliable);
                }
                Check.Until(() => world.Clients.All(c => c.Messages.Count == 1), world.Turn, "answers");
                for (byte i = 0; i < 20; i++)
                {
                    Check.Equal(0UL, world.Clients[i].Messages[0].Key, "who sent it");
                    Check.Bytes(Message(200000, i).ToArray(), world.Clients[i].Messages[0].Value, "answer");
                }
                Check.That(world.Clients[0].Transport.GetCurrentRtt(0) < 10000, "round trip");
                Check.Equal(0UL, world.Server.Transport.GetCurrentRtt(5), "round trip to nobody");
                Check.Equal(null, UnityEngine.Debug.LastError, "errors");
            }
        }

        public static void a_client_that_is_disconnected_in_a_message_is_heard_no_more()
        {
            using (var world = new World(3))
            {
                var heard = new List<ulong>();
                world.Server.OnData = (id, bytes) =>
                {
                    heard.Add(id);
                    world.Server.Transport.Send(id, Message(50000, 1), NetworkDelivery.ReliableSequenced);
                    world.Server.Transport.DisconnectRemoteClient(id);
                    world.Server.Transport.DisconnectRemoteClient(id);
                    world.Server.Transport.Send(id, Message(60000, 1), NetworkDelivery.ReliableSequenced);
                };
                for (int i = 0; i < 20; i++)
                {
                    world.Clients[1].Transport.Send(0, Message(100, 0), NetworkDelivery.ReliableSequenced);
                }
                Check.Until(() => world.Clients[1].Disconnected.Count == 1, world.Turn, "the client is told");
                for (int i = 0; i < 10; i++) world.Turn();
                Check.Equal(1, heard.Count, "messages of the client");
                Check.Equal(0, world.Server.Disconnected.Count, "Netcode knows, and is not told again");
                Check.Equal(50000, world.Clients[1].Messages.Single().Value.Length, "the last message");
                Check.Equal(0, world.Clients[0].Disconnected.Count + world.Clients[2].Disconnected.Count, "others");
            }
        }

        public static void a_server_sees_its_clients_go_behind_their_last_messages()
        {
            using (var world = new World(20))
            {
                for (int i = 0; i < 20; i++)
                {
                    world.Clients[i].Transport.Send(0, Message(20000, 0), NetworkDelivery.Reliable);
                    if (i % 2 == 0) world.Clients[i].Transport.DisconnectLocalClient();
                    else world.Clients[i].Transport.Shutdown();
                }
                Check.Until(() => world.Server.Disconnected.Count == 20, world.Turn, "the server is told");
                Check.Equal(20, world.Server.Messages.Count, "last messages");
                Check.That(world.Server.Disconnected.Distinct().Count() == 20, "each once");
                Check.Until(() => world.Clients.Count(c => c.Disconnected.Count == 1) == 10, world.Turn, "clients are told");
            }
        }

        public static void a_server_shuts_down_and_starts_at_its_port_at_once()
        {
            using (var world = new World(2))
            {
                ushort port = world.Server.Transport.BoundPort;
                world.Server.Transport.Send(world.Server.Connected[0], Message(30000, 0), NetworkDelivery.Reliable);
                world.Server.Transport.Shutdown();
                Check.Until(() => world.Clients.All(c => c.Disconnected.Count == 1), world.Turn, "the clients are told");
                Check.Equal(1, world.Clients.Sum(c => c.Messages.Count), "the last message");
                world.Server.Transport.port = port;
                world.Server.Transport.listenAddress = "127.0.0.1";
                Check.That(world.Server.Transport.StartServer(), "another server");
                world.Server.Transport.Shutdown();
                Check.That(world.Server.Transport.StartServer(), "and another");
                Check.Equal(port, world.Server.Transport.BoundPort, "port");
                var second = new Manager();
                second.Transport.port = port;
                second.Transport.listenAddress = "127.0.0.1";
                Check.That(!second.Transport.StartServer(), "a second one at the same port");
                Check.That(UnityEngine.Debug.LastError.Contains("127.0.0.1"), UnityEngine.Debug.LastError);
            }
        }

        public static void a_client_that_cannot_connect_is_told()
        {
            using (var world = new World(0, transport => transport.applicationId = 5))
            {
                Manager stranger = world.Add(transport => transport.applicationId = 6);
                Manager lost = world.Add(transport => transport.address = "not a name");
                Check.Until(() => stranger.Disconnected.Count == 1 && lost.Disconnected.Count == 1, world.Turn, "the end");
                Check.Equal(0, stranger.Connected.Count + lost.Connected.Count, "connections");
                Check.Equal(0, world.Server.Connected.Count, "at the server");
            }
        }

        public static void a_connection_that_does_not_carry_what_is_reliable_ends()
        {
            using (var world = new World(2, t => { t.maxMessageBytes = 2000; t.sendBudgetBytes = 20000; }))
            {
                ulong first = world.Server.Connected[0], second = world.Server.Connected[1];
                for (int i = 0; i < 50; i++) world.Server.Transport.Send(first, Message(1000, 0), NetworkDelivery.Unreliable);
                Check.Equal(null, UnityEngine.Debug.LastError, "what is unreliable is dropped");
                for (int i = 0; i < 50; i++) world.Server.Transport.Send(second, Message(1000, 0), NetworkDelivery.Reliable);
                Check.Until(() => world.Server.Disconnected.Count > 0, world.Turn, "the end");
                Check.Equal(second, world.Server.Disconnected.Single(), "which");
                Check.Until(() => world.Clients.Count(c => c.Disconnected.Count == 1) == 1, world.Turn, "its client");
                Manager client = world.Clients.Single(c => c.Disconnected.Count == 0);
                for (int i = 0; i < 50; i++) client.Transport.Send(0, Message(1000, 0), NetworkDelivery.Reliable);
                Check.Until(() => client.Disconnected.Count == 1, world.Turn, "the client ends");
                Check.Until(() => world.Server.Disconnected.Count == 2, world.Turn, "the server is told");
                client.Transport.Send(0, Message(2001, 0), NetworkDelivery.Reliable);
            }
        }

        public static void a_transport_that_seals_knows_who_its_clients_are()
        {
            byte[] psk = Library.GenerateKey();
            using (var world = new World(1, transport =>
            {
                transport.seal = true;
                transport.security.Psks = new[] { new Key(8, psk) };
                transport.credentials.Psk = psk;
                transport.credentials.PskNumber = 8;
            }))
            {
                Secured secured;
                Check.That(world.Server.Transport.Secured(world.Server.Connected[0], out secured), "sealed");
                Check.Equal(8U, secured.PskNumber, "psk");
                Check.That(world.Clients[0].Transport.Secured(0, out secured), "sealed");
                Check.That(!world.Server.Transport.Secured(99, out secured), "nobody");
                Manager plain = world.Add(transport => { });
                Check.Until(() => plain.Disconnected.Count == 1, world.Turn, "a client that does not seal is refused");
            }
        }

        public static void ten_thousand_messages_make_no_garbage()
        {
            using (var world = new World(1))
            {
                Manager server = world.Server, client = world.Clients[0];
                ArraySegment<byte> message = Message(200, 0);
                server.OnData = (id, bytes) =>
                {
                    server.Count++;
                    server.Transport.Send(id, bytes, NetworkDelivery.Reliable);
                };
                client.OnData = (id, bytes) => client.Count++;
                Exchange(server.Transport, client.Transport, server, client, message, 500);
                GC.Collect();
                int collections = GC.CollectionCount(0);
                long before = GC.GetTotalMemory(false);
                server.Count = client.Count = 0;
                Exchange(server.Transport, client.Transport, server, client, message, 10000);
                long grown = GC.GetTotalMemory(false) - before;
                Check.That(server.Count > 5000 && client.Count > 5000, server.Count + " and " + client.Count);
                Check.Equal(collections, GC.CollectionCount(0), "collections");
                Check.That(grown < 16384, "garbage in bytes: " + grown);
            }
        }

        static void Exchange(PorousNetcodeTransport server, PorousNetcodeTransport client, Manager atServer,
            Manager atClient, ArraySegment<byte> message, int count)
        {
            for (int i = 0; i < count; i++)
            {
                client.Send(0, message, deliveries[i % deliveries.Length]);
                client.PostLateUpdate();
                Drain(server, atServer);
                server.PostLateUpdate();
                Drain(client, atClient);
            }
        }

        static void Drain(PorousNetcodeTransport transport, Manager manager)
        {
            ulong id;
            ArraySegment<byte> payload;
            float time;
            NetworkEvent what;
            while ((what = transport.PollEvent(out id, out payload, out time)) != NetworkEvent.Nothing)
            {
                if (what == NetworkEvent.Data) manager.OnData(id, payload);
            }
        }
    }
}
