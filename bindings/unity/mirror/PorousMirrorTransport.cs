// Mirror over porous: add this component beside the NetworkManager, and choose it as its transport.
// Written against Mirror's master of August 2026. README.md, in the folder above, tells more.

using System;
using System.Collections.Generic;
using System.Net;
using Mirror;
using UnityEngine;

namespace Porous.Transports
{
    [DisallowMultipleComponent]
    [AddComponentMenu("Network/Porous Mirror Transport")]
    public class PorousMirrorTransport : Transport, PortTransport
    {
        public const string Scheme = "porous";

        /// <summary>Packets of so many bytes fit the shortest datagram that a connection begins with.</summary>
        public const int UnfragmentedBytes = 1120;

        [Tooltip("The UDP port of the server. 0: any free one, for a server alone.")]
        public ushort port = 7777;
        [Tooltip("Hosts with different numbers refuse each other. Change it with each version of the game that " +
            "does not understand the others.")]
        public ulong applicationId;
        [Tooltip("The most clients of a server.")]
        public uint maxClients = 1000;
        [Tooltip("The largest reliable message, in bytes.")]
        public uint maxMessageBytes = 256 * 1024;
        [Tooltip("The most bytes that may wait for one connection. A client that falls behind by more is disconnected.")]
        public uint sendBudgetBytes = 4 * 1024 * 1024;
        [Tooltip("Silence after which a connection ends, in seconds.")]
        public float timeoutSeconds = 10;
        [Tooltip("How long a connection that is ended may take to deliver what was sent before, in seconds.")]
        public float flushSeconds = 3;
        [Tooltip("Connections are encrypted, or there are none. Both sides must have the same.")]
        public bool seal;

        /// <summary>The keys of a server that seals: to be set by code before it starts.</summary>
        [NonSerialized] public Security security = new Security();
        /// <summary>What a client proves and demands if it seals: to be set by code before it connects.</summary>
        [NonSerialized] public Credentials credentials = new Credentials();

        readonly Dictionary<int, ulong> peers = new Dictionary<int, ulong>();
        readonly Dictionary<ulong, int> connections = new Dictionary<ulong, int>();
        readonly List<int> leaving = new List<int>();
        readonly List<Host> closing = new List<Host>();
        Host server, client;
        Inbox serverInbox, clientInbox;
        Lookup lookup;
        ulong serverPeer;
        bool clientConnected;
        int lastConnection;

        /// <summary>The port that the server is bound to, or is to be bound to.</summary>
        public ushort Port
        {
            get { return server != null ? server.LocalAddress.Port : port; }
            set { port = value; }
        }

        public override bool Available()
        {
#if UNITY_WEBGL && !UNITY_EDITOR
            return false;
#else
            string why;
            if (Library.IsAvailable(out why)) return true;
            Debug.LogError(why);
            return false;
#endif
        }

        public override bool IsEncrypted { get { return seal; } }

        public override string EncryptionCipher { get { return seal ? "ChaCha20-Poly1305 or AES-256-GCM" : ""; } }

        // What both have.

        ulong FlushUs { get { return (ulong)(flushSeconds * 1000000); } }

        Host Bind(Preset preset, ushort at)
        {
            Config config = Config.Of(preset);
            config.ApplicationId = applicationId;
            config.MaxPeers = maxClients;
            config.MaxPacket = maxMessageBytes;
            config.ReceiveBudget = Math.Max(config.ReceiveBudget, 2 * maxMessageBytes + 1024);
            config.SendBudget = sendBudgetBytes;
            config.TimeoutUs = (ulong)(timeoutSeconds * 1000000);
            if (seal)
            {
                config.Suite0 = Suite.ChachaPoly;
                config.Suite1 = Suite.AesGcm;
            }
            // Mirror's channels have the numbers of these: 0 is reliable and ordered, 1 neither.
            var channels = new[] { new Channel { High = true }, new Channel { High = true, Unordered = true } };
            try
            {
                return Host.Bind("[::]:" + at, config, channels);
            }
            catch (PorousException e) when (e.Status == Status.Io || e.Status == Status.NotAvailable)
            {
                // Without IPv6.
                return Host.Bind("0.0.0.0:" + at, config, channels);
            }
        }

        static Mode ModeOf(int channelId)
        {
            return channelId == Channels.Unreliable ? Mode.Unreliable : Mode.Reliable;
        }

        static byte ChannelOf(int channelId) { return (byte)(channelId == Channels.Unreliable ? 1 : 0); }

        static TransportError ErrorOf(Reason reason)
        {
            switch (reason)
            {
                case Reason.NeverAnswered:
                case Reason.Unfinished:
                case Reason.Silent:
                case Reason.GoodbyeUnanswered:
                    return TransportError.Timeout;
                case Reason.RefusedVersion:
                case Reason.RefusedIncompatible:
                case Reason.RefusedFull:
                case Reason.RefusedApplication:
                case Reason.RefusedSecurity:
                    return TransportError.Refused;
                case Reason.ByPeer:
                case Reason.ByUs:
                    return TransportError.ConnectionClosed;
                default:
                    return TransportError.Unexpected;
            }
        }

        /// <summary>Lets a host deliver what was sent before it goes.</summary>
        void CloseLater(Host host)
        {
            host.DisconnectAll(0, FlushUs);
            host.Transmit();
            closing.Add(host);
        }

        void StepClosing()
        {
            for (int i = closing.Count - 1; i >= 0; i--)
            {
                if (Steps(closing[i]) == null && !closing[i].IsEmpty) continue;
                closing[i].Dispose();
                closing.RemoveAt(i);
            }
        }

        void DisposeClosing()
        {
            foreach (Host host in closing) host.Dispose();
            closing.Clear();
        }

        /// <summary>Steps a host. Returns what is wrong if its socket is of no more use, and null otherwise.</summary>
        static string Steps(Host host)
        {
            try
            {
                host.Step();
                return null;
            }
            catch (PorousException e)
            {
                return e.Message;
            }
        }

        // The client.

        public override bool ClientConnected() { return clientConnected; }

        public override void ClientConnect(string address) { Connect(address, port); }

        public override void ClientConnect(Uri uri)
        {
            if (uri.Scheme != Scheme) throw new ArgumentException("not " + Scheme + "://host:port: " + uri, "uri");
            Connect(uri.Host, uri.IsDefaultPort ? port : (ushort)uri.Port);
        }

        void Connect(string address, ushort at)
        {
            if (client != null || lookup != null) return;
            bool isIpv6 = address.Contains(":") && !address.StartsWith("[");
            client = Bind(Preset.Client, 0);
            clientInbox = new Inbox(client, (int)maxMessageBytes);
            lookup = new Lookup((isIpv6 ? "[" + address + "]" : address) + ":" + at);
        }

        /// <summary>Connects when the addresses of the server are known.</summary>
        void ConnectWhenFound()
        {
            if (lookup == null || !lookup.Done) return;
            Address[] found = lookup.Found;
            lookup = null;
            // An IPv4 socket, where there is no IPv6, is of no use for addresses of IPv6.
            if (client.LocalAddress.Kind == AddressKind.Ipv4)
            {
                found = Array.FindAll(found, a => a.Kind == AddressKind.Ipv4);
            }
            if (found.Length == 0)
            {
                EndClient(TransportError.DnsResolve, "the server's name has no address");
                return;
            }
            try
            {
                serverPeer = seal ? client.ConnectSealed(found, credentials) : client.ConnectAny(found);
            }
            catch (PorousException e)
            {
                EndClient(TransportError.DnsResolve, e.Message);
            }
        }

        public override void ClientSend(ArraySegment<byte> segment, int channelId = Channels.Reliable)
        {
            if (!clientConnected) return;
            Status status = client.Send(serverPeer, ChannelOf(channelId), ModeOf(channelId), segment);
            if (status == Status.Ok)
            {
                if (OnClientDataSent != null) OnClientDataSent(segment, channelId);
            }
            else if (status != Status.Full)
            {
                if (OnClientError != null) OnClientError(TransportError.InvalidSend, Library.Text(status));
            }
            else if (ModeOf(channelId) == Mode.Reliable)
            {
                EndClient(TransportError.Congestion, "more is sent than the connection carries");
            }
        }

        public override void ClientDisconnect()
        {
            if (client != null) EndClient(TransportError.ConnectionClosed, null);
        }

        /// <summary>Ends the client, and tells Mirror; first of an error, if there is a text.</summary>
        void EndClient(TransportError error, string text)
        {
            Host host = client;
            client = null;
            clientInbox = null;
            clientConnected = false;
            lookup = null;
            serverPeer = 0;
            try
            {
                CloseLater(host);
            }
            catch (PorousException)
            {
                host.Dispose();
            }
            if (text != null && OnClientError != null) OnClientError(error, text);
            if (OnClientDisconnected != null) OnClientDisconnected();
        }

        public override void ClientEarlyUpdate()
        {
            StepClosing();
            if (client == null) return;
            string broken = Steps(client);
            if (broken != null)
            {
                EndClient(TransportError.Unexpected, broken);
                return;
            }
            ConnectWhenFound();
            // A callback may disable this component, while a scene loads, or end the client.
            while (enabled && clientInbox != null && clientInbox.Next()) ClientEvent(clientInbox.Event);
        }

        void ClientEvent(Event what)
        {
            switch (what.Type)
            {
                case EventType.Connected:
                    clientConnected = true;
                    if (OnClientConnected != null) OnClientConnected();
                    break;
                case EventType.Readable:
                    if (OnClientDataReceived != null) OnClientDataReceived(clientInbox.Bytes, clientInbox.Channel);
                    break;
                case EventType.Disconnected:
                    bool isError = what.Reason != Reason.ByPeer && what.Reason != Reason.ByUs;
                    EndClient(ErrorOf(what.Reason), isError ? "the connection ended: " + what.Reason : null);
                    break;
            }
        }

        public override void ClientLateUpdate() { Flush(client); }

        static void Flush(Host host)
        {
            try
            {
                if (host != null) host.Transmit();
            }
            catch (PorousException)
            {
                // The next step says so again.
            }
        }

        // The server.

        public override Uri ServerUri() { return new UriBuilder(Scheme, Dns.GetHostName(), Port).Uri; }

        public override bool ServerActive() { return server != null; }

        public override void ServerStart()
        {
            if (server != null) return;
            // A server that still delivers has the port.
            DisposeClosing();
            server = Bind(Preset.Default, port);
            if (seal) server.SetSecurity(security);
            server.Listen(Listen.Open);
            serverInbox = new Inbox(server, (int)maxMessageBytes);
        }

        public override void ServerSend(int connectionId, ArraySegment<byte> segment, int channelId = Channels.Reliable)
        {
            ulong peer;
            if (server == null || !peers.TryGetValue(connectionId, out peer)) return;
            Status status = server.Send(peer, ChannelOf(channelId), ModeOf(channelId), segment);
            if (status == Status.Ok)
            {
                if (OnServerDataSent != null) OnServerDataSent(connectionId, segment, channelId);
            }
            else if (status == Status.TooLarge || status == Status.UnknownChannel)
            {
                if (OnServerError != null) OnServerError(connectionId, TransportError.InvalidSend, Library.Text(status));
            }
            else if (status == Status.Full && ModeOf(channelId) == Mode.Reliable)
            {
                if (OnServerError != null) OnServerError(connectionId, TransportError.Congestion, Library.Text(status));
                server.Disconnect(peer);
                ServerDisconnect(connectionId);
            }
        }

        /// <summary>Ends a connection at the end of the turn: what Mirror has batched for it is sent before.</summary>
        public override void ServerDisconnect(int connectionId)
        {
            if (peers.ContainsKey(connectionId) && !leaving.Contains(connectionId)) leaving.Add(connectionId);
        }

        public override string ServerGetClientAddress(int connectionId)
        {
            ulong peer;
            Address address = default(Address);
            bool isKnown = server != null && peers.TryGetValue(connectionId, out peer) &&
                server.PeerAddress(peer, out address);
            return isKnown ? address.Ip : "";
        }

        /// <summary>What is proved of a connection, as the client's id in its ticket. False: it is not sealed.</summary>
        public bool ServerSecured(int connectionId, out Secured secured)
        {
            ulong peer;
            secured = null;
            return server != null && peers.TryGetValue(connectionId, out peer) &&
                server.Secured(peer, out secured) == Status.One;
        }

        public override void ServerStop()
        {
            if (server == null) return;
            Host host = server;
            server = null;
            serverInbox = null;
            peers.Clear();
            connections.Clear();
            leaving.Clear();
            try
            {
                CloseLater(host);
            }
            catch (PorousException)
            {
                host.Dispose();
            }
        }

        public override void ServerEarlyUpdate()
        {
            StepClosing();
            if (server == null) return;
            string broken = Steps(server);
            if (broken != null)
            {
                Debug.LogError(broken);
                foreach (int connectionId in new List<int>(peers.Keys)) EndConnection(connectionId);
                ServerStop();
                return;
            }
            // A callback may disable this component, while a scene loads, or stop the server.
            while (enabled && serverInbox != null && serverInbox.Next()) ServerEvent(serverInbox.Event);
        }

        void ServerEvent(Event what)
        {
            int connectionId;
            if (what.Type == EventType.Connected)
            {
                connectionId = NextConnection();
                peers.Add(connectionId, what.Peer);
                connections.Add(what.Peer, connectionId);
                if (OnServerConnectedWithAddress != null) OnServerConnectedWithAddress(connectionId, what.Address.Ip);
                return;
            }
            // Mirror has disconnected a peer that is not known here.
            if (!connections.TryGetValue(what.Peer, out connectionId)) return;
            if (what.Type == EventType.Readable)
            {
                if (leaving.Count > 0 && leaving.Contains(connectionId)) return;
                if (OnServerDataReceived != null)
                {
                    OnServerDataReceived(connectionId, serverInbox.Bytes, serverInbox.Channel);
                }
            }
            else if (what.Type == EventType.Disconnected)
            {
                if (what.Reason != Reason.ByPeer && what.Reason != Reason.ByUs && OnServerError != null)
                {
                    OnServerError(connectionId, ErrorOf(what.Reason), "the connection ended: " + what.Reason);
                }
                EndConnection(connectionId);
            }
        }

        /// <summary>A number that no connection has. 0 is the host's own client.</summary>
        int NextConnection()
        {
            do
            {
                lastConnection = lastConnection == int.MaxValue ? 1 : lastConnection + 1;
            }
            while (peers.ContainsKey(lastConnection));
            return lastConnection;
        }

        void EndConnection(int connectionId)
        {
            ulong peer;
            if (!peers.TryGetValue(connectionId, out peer)) return;
            peers.Remove(connectionId);
            connections.Remove(peer);
            leaving.Remove(connectionId);
            if (OnServerDisconnected != null) OnServerDisconnected(connectionId);
        }

        public override void ServerLateUpdate()
        {
            while (server != null && leaving.Count > 0)
            {
                int connectionId = leaving[leaving.Count - 1];
                server.Disconnect(peers[connectionId], 0, FlushUs);
                EndConnection(connectionId);
            }
            Flush(server);
        }

        // Both again.

        public override int GetMaxPacketSize(int channelId = Channels.Reliable)
        {
            return channelId == Channels.Unreliable ? UnfragmentedBytes : (int)maxMessageBytes;
        }

        /// <summary>Batches fill one datagram: what is in one need not wait for others.</summary>
        public override int GetBatchThreshold(int channelId = Channels.Reliable) { return UnfragmentedBytes; }

        public override void Shutdown()
        {
            if (client != null) EndClient(TransportError.ConnectionClosed, null);
            ServerStop();
            DisposeClosing();
        }

        void OnDestroy() { Shutdown(); }

        public override string ToString() { return "porous [" + port + "]"; }
    }
}
