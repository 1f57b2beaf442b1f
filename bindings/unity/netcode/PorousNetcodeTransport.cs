// Netcode for GameObjects over porous: add this component beside the NetworkManager, and choose it as its network
// transport. Written against version 2.2 and later. README.md, in the folder above, tells more.

using System;
using System.Collections.Generic;
using Unity.Netcode;
using UnityEngine;

namespace Porous.Transports
{
    [DisallowMultipleComponent]
    [AddComponentMenu("Netcode/Porous Netcode Transport")]
    public class PorousNetcodeTransport : NetworkTransport
    {
        [Tooltip("Where a client finds the server: a name or an address.")]
        public string address = "127.0.0.1";
        [Tooltip("The UDP port of the server. 0: any free one, for a server alone.")]
        public ushort port = 7777;
        [Tooltip("What a server binds to; empty: all addresses of the machine.")]
        public string listenAddress = "";
        [Tooltip("Hosts with different numbers refuse each other. Change it with each version of the game that " +
            "does not understand the others.")]
        public ulong applicationId;
        [Tooltip("The most clients of a server.")]
        public uint maxClients = 1000;
        [Tooltip("The largest message, in bytes.")]
        public uint maxMessageBytes = 1024 * 1024;
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

        /// <summary>Clients of this server that Netcode has not disconnected.</summary>
        readonly HashSet<ulong> clients = new HashSet<ulong>();
        readonly List<Host> closing = new List<Host>();
        Host host;
        Inbox inbox;
        Lookup lookup;
        ulong serverPeer;
        bool isServer, isStepped, isBroken, isLost;
        float now;

        /// <summary>The server has this name at clients. At servers, a client has that of its peer, which is never 0.</summary>
        public override ulong ServerClientId { get { return 0; } }

        public override bool IsSupported
        {
            get
            {
#if UNITY_WEBGL && !UNITY_EDITOR
                return false;
#else
                string why;
                return Library.IsAvailable(out why);
#endif
            }
        }

        /// <summary>The port that the host is bound to, or 0.</summary>
        public ushort BoundPort { get { return host != null ? host.LocalAddress.Port : (ushort)0; } }

        /// <summary>True if there is no host, and none that still delivers after Shutdown: a program that ends waits for
        /// it, if its last messages matter.</summary>
        public bool IsIdle { get { return host == null && closing.Count == 0; } }

        ulong FlushUs { get { return (ulong)(flushSeconds * 1000000); } }

        public override void Initialize(NetworkManager networkManager = null)
        {
            string why;
            if (!Library.IsAvailable(out why)) Debug.LogError(why);
        }

        Config Configure(Preset preset)
        {
            Config config = Config.Of(preset);
            config.ApplicationId = applicationId;
            config.MaxPeers = maxClients;
            config.MaxPacket = maxMessageBytes;
            config.ReceiveBudget = Math.Max(config.ReceiveBudget, 2 * maxMessageBytes + 1024);
            config.SendBudget = Math.Max(sendBudgetBytes, maxMessageBytes + 1024);
            config.TimeoutUs = (ulong)(timeoutSeconds * 1000000);
            if (seal)
            {
                config.Suite0 = Suite.ChachaPoly;
                config.Suite1 = Suite.AesGcm;
            }
            return config;
        }

        /// <summary>One channel for each kind of delivery: its order is set here, by the host that receives.</summary>
        static Channel[] Channels()
        {
            return new[]
            {
                new Channel { High = true, Unordered = true }, new Channel { High = true },
                new Channel { High = true, Unordered = true }, new Channel { High = true },
            };
        }

        static byte ChannelOf(NetworkDelivery delivery)
        {
            switch (delivery)
            {
                case NetworkDelivery.Unreliable: return 0;
                case NetworkDelivery.UnreliableSequenced: return 1;
                case NetworkDelivery.Reliable: return 2;
                default: return 3;
            }
        }

        static Mode ModeOf(NetworkDelivery delivery) { return ChannelOf(delivery) < 2 ? Mode.Unreliable : Mode.Reliable; }

        bool Open(Preset preset, string at)
        {
            if (host != null) return false;
            // A server needs the port back; what a client still has to deliver goes on.
            if (preset == Preset.Default) DisposeClosing();
            try
            {
                host = Bind(preset, at);
                if (seal && preset == Preset.Default) host.SetSecurity(security);
                if (preset == Preset.Default) host.Listen(Listen.Open);
            }
            catch (PorousException e)
            {
                Debug.LogError("porous: " + e.Message);
                Drop();
                return false;
            }
            inbox = new Inbox(host, (int)maxMessageBytes);
            isServer = preset == Preset.Default;
            isStepped = isBroken = isLost = false;
            return true;
        }

        Host Bind(Preset preset, string at)
        {
            if (at != null) return Host.Bind(at, Configure(preset), Channels());
            string suffix = ":" + (preset == Preset.Default ? port : 0);
            try
            {
                return Host.Bind("[::]" + suffix, Configure(preset), Channels());
            }
            catch (PorousException e) when (e.Status == Status.Io || e.Status == Status.NotAvailable)
            {
                // Without IPv6.
                return Host.Bind("0.0.0.0" + suffix, Configure(preset), Channels());
            }
        }

        static string WithPort(string ip, ushort at)
        {
            return (ip.Contains(":") && !ip.StartsWith("[") ? "[" + ip + "]" : ip) + ":" + at;
        }

        public override bool StartServer()
        {
            return Open(Preset.Default, string.IsNullOrEmpty(listenAddress) ? null : WithPort(listenAddress, port));
        }

        public override bool StartClient()
        {
            if (!Open(Preset.Client, null)) return false;
            lookup = new Lookup(WithPort(address, port));
            return true;
        }

        /// <summary>Connects when the addresses of the server are known.</summary>
        void ConnectWhenFound()
        {
            if (lookup == null || !lookup.Done) return;
            Address[] found = lookup.Found;
            lookup = null;
            // An IPv4 socket, where there is no IPv6, is of no use for addresses of IPv6.
            if (host.LocalAddress.Kind == AddressKind.Ipv4)
            {
                found = Array.FindAll(found, a => a.Kind == AddressKind.Ipv4);
            }
            try
            {
                serverPeer = seal ? host.ConnectSealed(found, credentials) : host.ConnectAny(found);
            }
            catch (PorousException e)
            {
                Debug.LogError("porous: " + address + ": " + e.Message);
                isLost = true;
            }
        }

        public override void Send(ulong clientId, ArraySegment<byte> payload, NetworkDelivery networkDelivery)
        {
            if (host == null || isServer && !clients.Contains(clientId)) return;
            ulong peer = isServer ? clientId : serverPeer;
            Mode mode = ModeOf(networkDelivery);
            Status status = host.Send(peer, ChannelOf(networkDelivery), mode, payload);
            if (status == Status.Full && mode == Mode.Reliable)
            {
                // What is reliable and not sent would leave a hole in the game: better no connection. Its end is told as
                // that of any other.
                Debug.LogError("porous: more is sent than the connection " + clientId + " carries");
                host.Disconnect(peer);
            }
            else if (status == Status.TooLarge)
            {
                Debug.LogError("porous: a message of " + payload.Count + " bytes: " + Library.Text(status));
            }
        }

        /// <summary>Netcode calls it until it returns Nothing: there is one step of the host in each such round.</summary>
        public override NetworkEvent PollEvent(out ulong clientId, out ArraySegment<byte> payload, out float receiveTime)
        {
            clientId = ServerClientId;
            payload = default(ArraySegment<byte>);
            NetworkEvent what = Take(ref clientId, ref payload);
            if (what == NetworkEvent.Nothing && !isStepped)
            {
                isStepped = true;
                Step();
                what = Take(ref clientId, ref payload);
            }
            if (what == NetworkEvent.Nothing) isStepped = false;
            receiveTime = now;
            return what;
        }

        void Step()
        {
            now = Time.realtimeSinceStartup;
            if (host == null) return;
            isBroken = !Steps(host);
            if (!isBroken) ConnectWhenFound();
        }

        /// <summary>Steps a host. False if its socket is of no more use.</summary>
        static bool Steps(Host host)
        {
            try
            {
                host.Step();
                return true;
            }
            catch (PorousException e)
            {
                Debug.LogError("porous: " + e.Message);
                return false;
            }
        }

        /// <summary>The next thing that has happened.</summary>
        NetworkEvent Take(ref ulong clientId, ref ArraySegment<byte> payload)
        {
            if (host == null) return NetworkEvent.Nothing;
            if (isBroken || isLost)
            {
                NetworkEvent end = isBroken ? NetworkEvent.TransportFailure : NetworkEvent.Disconnect;
                Drop();
                return end;
            }
            while (inbox.Next())
            {
                if (isServer) clientId = inbox.Event.Peer;
                NetworkEvent what = Translate(inbox.Event);
                if (what == NetworkEvent.Data) payload = inbox.Bytes;
                if (what != NetworkEvent.Nothing) return what;
            }
            return NetworkEvent.Nothing;
        }

        /// <summary>What an event is to Netcode, which has forgotten the clients that it disconnected.</summary>
        NetworkEvent Translate(Event what)
        {
            switch (what.Type)
            {
                case EventType.Connected:
                    if (isServer) clients.Add(what.Peer);
                    return NetworkEvent.Connect;
                case EventType.Readable:
                    return !isServer || clients.Contains(what.Peer) ? NetworkEvent.Data : NetworkEvent.Nothing;
                case EventType.Disconnected:
                    return !isServer || clients.Remove(what.Peer) ? NetworkEvent.Disconnect : NetworkEvent.Nothing;
                default:
                    return NetworkEvent.Nothing;
            }
        }

        /// <summary>All of a frame's messages leave in one batch.</summary>
        protected override void OnPostLateUpdate()
        {
            try
            {
                if (host != null) host.Transmit();
            }
            catch (PorousException)
            {
                isBroken = true;
            }
        }

        /// <summary>Ends a connection when all that was sent before has been delivered.</summary>
        public override void DisconnectRemoteClient(ulong clientId)
        {
            if (host != null && clients.Remove(clientId)) host.Disconnect(clientId, 0, FlushUs);
        }

        public override void DisconnectLocalClient()
        {
            if (host != null && !isServer) host.Disconnect(serverPeer, 0, FlushUs);
        }

        /// <summary>What is proved of a client, as its id in its ticket. False: the connection is not sealed. `clientId` is
        /// one of this transport's, not of Netcode's.</summary>
        public bool Secured(ulong clientId, out Secured secured)
        {
            secured = null;
            return host != null && host.Secured(isServer ? clientId : serverPeer, out secured) == Status.One;
        }

        /// <summary>In milliseconds; 0 if it is not known. `clientId` is one of this transport's, not of Netcode's.</summary>
        public override ulong GetCurrentRtt(ulong clientId)
        {
            PeerStats stats;
            if (host == null) return 0;
            Status status = host.Info(isServer ? clientId : serverPeer, out stats);
            return status == Status.Ok ? stats.RttUs / 1000 : 0;
        }

        /// <summary>Ends all connections. Update goes on until what was sent before has been delivered.</summary>
        public override void Shutdown()
        {
            if (host == null) return;
            Host ending = host;
            host = null;
            Drop();
            try
            {
                ending.DisconnectAll(0, FlushUs);
                ending.Transmit();
                closing.Add(ending);
            }
            catch (PorousException)
            {
                ending.Dispose();
            }
        }

        /// <summary>Forgets the host at once.</summary>
        void Drop()
        {
            if (host != null) host.Dispose();
            host = null;
            inbox = null;
            lookup = null;
            serverPeer = 0;
            isBroken = isLost = false;
            clients.Clear();
        }

        /// <summary>Unity calls it in each frame.</summary>
        public void Update()
        {
            for (int i = closing.Count - 1; i >= 0; i--)
            {
                if (Steps(closing[i]) && !closing[i].IsEmpty) continue;
                closing[i].Dispose();
                closing.RemoveAt(i);
            }
        }

        void DisposeClosing()
        {
            foreach (Host ending in closing) ending.Dispose();
            closing.Clear();
        }

        void OnDestroy()
        {
            Drop();
            DisposeClosing();
        }
    }
}
