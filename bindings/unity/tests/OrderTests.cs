// The channels of the transports: a plain host sends to each of them, over a relay that lets one datagram overtake
// another, and sees on which channel and how their messages come.

using System;
using System.Collections.Generic;
using System.Linq;
using System.Net;
using System.Net.Sockets;
using Porous.Transports;
using Unity.Netcode;

namespace Porous.Tests
{
    /// <summary>A relay between one client and a server. When it is told, it holds a datagram of one large message.
    /// </summary>
    sealed class Relay : IDisposable
    {
        readonly System.Net.Sockets.Socket toClient = Open(), toServer = Open();
        readonly byte[] buffer = new byte[2000];
        readonly int serverPort;
        EndPoint client;
        byte[] held;

        internal bool Hold;
        /// <summary>The bytes of a large message. Datagrams have less than 100 more.</summary>
        internal const int Size = 300;
        /// <summary>How many datagrams of one large message have passed.</summary>
        internal int Passed;

        internal Relay(int serverPort) { this.serverPort = serverPort; }

        static System.Net.Sockets.Socket Open()
        {
            var socket = new System.Net.Sockets.Socket(AddressFamily.InterNetwork, SocketType.Dgram, ProtocolType.Udp);
            socket.Bind(new IPEndPoint(IPAddress.Loopback, 0));
            return socket;
        }

        internal Address Address
        {
            get { return Address.Parse("127.0.0.1:" + ((IPEndPoint)toClient.LocalEndPoint).Port); }
        }

        IPEndPoint Server { get { return new IPEndPoint(IPAddress.Loopback, serverPort); } }

        /// <summary>Lets the datagram go that is held.</summary>
        internal void Release() { toServer.SendTo(held, Server); }

        internal void Turn()
        {
            while (toClient.Poll(0, SelectMode.SelectRead))
            {
                EndPoint from = new IPEndPoint(IPAddress.Any, 0);
                int count = toClient.ReceiveFrom(buffer, ref from);
                client = from;
                bool isMessage = count >= Size && count < Size + 100;
                if (isMessage && Hold)
                {
                    held = buffer.Take(count).ToArray();
                    Hold = false;
                    continue;
                }
                if (isMessage) Passed++;
                toServer.SendTo(buffer, count, SocketFlags.None, Server);
            }
            while (toServer.Poll(0, SelectMode.SelectRead))
            {
                EndPoint from = new IPEndPoint(IPAddress.Any, 0);
                int count = toServer.ReceiveFrom(buffer, ref from);
                toClient.SendTo(buffer, count, SocketFlags.None, client);
            }
        }

        public void Dispose()
        {
            toClient.Close();
            toServer.Close();
        }
    }

    public static class OrderTests
    {
        /// <summary>A plain host with as many channels as a transport, which is connected over a relay.</summary>
        sealed class Client : IDisposable
        {
            readonly Host host;
            readonly ulong peer;
            readonly Relay relay;
            readonly Action turn;
            internal readonly List<string> Got = new List<string>();

            internal Client(int port, uint channels, Action turnOfServer)
            {
                relay = new Relay(port);
                Config config = Config.Of(Preset.Client);
                config.ChannelCount = channels;
                config.PathMtu = Config.PathMtuOff;
                host = Host.Bind("127.0.0.1:0", config);
                peer = host.ConnectAny(new[] { relay.Address });
                turn = () => { host.Step(); relay.Turn(); turnOfServer(); relay.Turn(); };
                var inbox = new Inbox(host);
                bool isConnected = false;
                Action take = () =>
                {
                    turn();
                    while (inbox.Next())
                    {
                        isConnected |= inbox.Event.Type == EventType.Connected;
                        if (inbox.Event.Type == EventType.Readable) Got.Add(inbox.Channel + " " + inbox.Mode);
                    }
                };
                Check.Until(() => isConnected, take, "a connection over the relay");
                Take = take;
            }

            internal Action Take { get; private set; }

            /// <summary>Once for each connection: sends two messages of which the second overtakes the first, and a small one behind them.</summary>
            internal void Send(byte channel, Mode mode)
            {
                Action flush = () => { host.Transmit(); relay.Turn(); };
                relay.Hold = true;
                host.Send(peer, channel, mode, Enumerable.Repeat((byte)1, Relay.Size).ToArray());
                Check.Until(() => !relay.Hold, flush, "a datagram is held");
                int passed = relay.Passed;
                host.Send(peer, channel, mode, Enumerable.Repeat((byte)2, Relay.Size).ToArray());
                Check.Until(() => relay.Passed > passed, flush, "the next one passes");
                Take();
                relay.Release();
                Take();
                host.Send(peer, channel, mode, new byte[] { 3 });
            }

            public void Dispose()
            {
                host.Dispose();
                relay.Dispose();
            }
        }

        public static void each_delivery_of_netcode_has_its_channel_mode_and_order()
        {
            var server = new PorousNetcodeTransport { port = 0, listenAddress = "127.0.0.1" };
            Check.That(server.StartServer(), "a server");
            string came = "";
            ulong peer = 0;
            Action turn = () =>
            {
                ulong id;
                ArraySegment<byte> payload;
                float time;
                for (NetworkEvent what; (what = server.PollEvent(out id, out payload, out time)) != NetworkEvent.Nothing;)
                {
                    if (what == NetworkEvent.Connect) peer = id;
                    if (what == NetworkEvent.Data) came += payload.First();
                }
                server.PostLateUpdate();
            };
            using (var client = new Client(server.BoundPort, 4, turn))
            {
                Check.Until(() => peer != 0, client.Take, "a client");
                var deliveries = (NetworkDelivery[])Enum.GetValues(typeof(NetworkDelivery));
                for (int i = 0; i < deliveries.Length; i++)
                {
                    server.Send(peer, new ArraySegment<byte>(new byte[5]), deliveries[i]);
                    Check.Until(() => client.Got.Count == i + 1, client.Take, "a message by " + deliveries[i]);
                }
                Check.Equal("0 Unreliable, 1 Unreliable, 2 Reliable, 3 Reliable, 3 Reliable",
                    string.Join(", ", client.Got.ToArray()), "channels and modes");
            }
            string[] orders = { "213", "23", "213", "123" };
            for (byte channel = 0; channel < 4; channel++)
            {
                came = "";
                using (var client = new Client(server.BoundPort, 4, turn))
                {
                    client.Send(channel, channel < 2 ? Mode.Unreliable : Mode.Reliable);
                    Check.Until(() => came.Contains("3") && came.Length >= orders[channel].Length, client.Take, "messages");
                }
                Check.Equal(orders[channel], came, "order on channel " + channel);
            }
            server.Shutdown();
        }

        public static void each_channel_of_mirror_has_its_mode_and_order()
        {
            var server = new PorousMirrorTransport { port = 0 };
            string came = "";
            int connection = 0;
            server.OnServerConnectedWithAddress = (id, address) => connection = id;
            server.OnServerDataReceived = (id, bytes, channel) => came += bytes.First();
            server.ServerStart();
            Action turn = () => { server.ServerEarlyUpdate(); server.ServerLateUpdate(); };
            using (var client = new Client(server.Port, 2, turn))
            {
                Check.Until(() => connection != 0, client.Take, "a client");
                for (int channel = 0; channel < 2; channel++)
                {
                    server.ServerSend(connection, new ArraySegment<byte>(new byte[5]), channel);
                    Check.Until(() => client.Got.Count == channel + 1, client.Take, "a message on channel " + channel);
                }
                Check.Equal("0 Reliable, 1 Unreliable", string.Join(", ", client.Got.ToArray()), "channels and modes");
            }
            string[] orders = { "123", "213" };
            for (byte channel = 0; channel < 2; channel++)
            {
                came = "";
                using (var client = new Client(server.Port, 2, turn))
                {
                    client.Send(channel, channel == 0 ? Mode.Reliable : Mode.Unreliable);
                    Check.Until(() => came.Contains("3") && came.Length >= 3, client.Take, "messages");
                }
                Check.Equal(orders[channel], came, "order on channel " + channel);
            }
            server.Shutdown();
        }
    }
}
