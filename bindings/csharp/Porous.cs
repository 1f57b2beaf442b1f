// porous for C# and Unity, in one file, over the native library `porous`. README.md, beside this file, tells where
// the library must lie. What a name means in detail is said in porous.h, the header of the library.
//
// Who is at fault decides how a call fails. What the network alone can cause (a peer that has ended, a send budget
// that is full) is a Status, or false. What only the program can cause, and a socket that has broken, is a
// PorousException. Poll, Receive and Send make no garbage.
//
// One thread at a time uses a host.

using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using System.Security.Cryptography;
using System.Text;
using System.Threading;

#if !(UNITY_5_3_OR_NEWER)
namespace AOT
{
    /// <summary>As Unity's: marks methods that native code calls, for compilers ahead of time.</summary>
    [AttributeUsage(AttributeTargets.Method)]
    internal sealed class MonoPInvokeCallbackAttribute : Attribute
    {
        internal MonoPInvokeCallbackAttribute(Type type) { Type = type; }
        internal Type Type { get; private set; }
    }
}
#endif

namespace Porous
{
    /// <summary>The answer of a call: POROUS_OK and POROUS_ERR_ of the header.</summary>
    public enum Status : int
    {
        /// <summary>One is there: a packet, an event.</summary>
        One = 1,
        /// <summary>Done, or nothing is there.</summary>
        Ok = 0,
        Null = -1, Busy = -2, Panic = -3, Version = -4, Value = -5, Kind = -6, Small = -7, Utf8 = -8, Address = -9,
        Io = -10, Unsupported = -11, Other = -12, InUse = -13, NotAvailable = -14, NotPermitted = -15,
        UnknownPeer = -20, NotConnected = -21, Disconnecting = -22, UnknownChannel = -23, TooLarge = -24, Full = -25,
        AlreadyConnected = -30, OutOfConnectionIds = -31, NoAddress = -32, TooManyAddresses = -33, NotAsked = -34,
        TooLong = -35, CannotListen = -36, NotSealed = -37, ServerKey = -38,
        AddressFamily = -40, AddressPortZero = -41, AddressUnspecified = -42, AddressBroadcast = -43,
        AddressItself = -44,
        ConfigChannels = -50, ConfigUnknownChannel = -51, ConfigMaxDatagram = -52, ConfigRequestSize = -53,
        ConfigWindow = -54, ConfigReceiveBudget = -55, ConfigConnectionIdLen = -56, ConfigReplyLimit = -57,
        ConfigSuites = -58, ConfigZero = -59,
        IdsNoBytes = -60, IdsTooShort = -61, IdsShardBits = -62, IdsShard = -63, IdsRotation = -64, IdsServerId = -65,
        SecurityTooMany = -70, SecurityWeak = -71, ClaimsAudiences = -72, ClaimsUserData = -73,
        TicketServers = -74, TicketBase64 = -75, TicketVersion = -76, TicketMalformed = -77,
        ThreadFull = -80, ThreadEnded = -81,
    }

    public enum AddressKind : byte { None = 0, Ipv4 = 4, Ipv6 = 6, Own = 255 }
    public enum Preset : byte { Default = 0, Client = 1, Paper = 2, Embedded = 3 }
    public enum Policy : byte { AsPreset = 0, Modern = 1, Paper = 2 }
    public enum Congestion : byte { AsPolicy = 0, Paper = 1, Lean = 2, Reno = 3, Cubic = 4, Fixed = 5, Binary = 6 }
    public enum Integrity : byte { AsPreset = 0, Header = 1, Crc32c = 2 }
    public enum Suite : byte { None = 0, ChachaPoly = 1, AesGcm = 2 }
    public enum Switch : byte { AsPreset = 0, On = 1, Off = 2 }
    public enum Ids : byte { Random = 0, Sharded = 1, QuicLb = 2 }
    public enum Ecn : byte { NotEct = 0, Ect1 = 1, Ect0 = 2, Ce = 3 }
    public enum Listen : uint { Closed = 0, Open = 1, Ask = 2, Full = 3 }
    public enum Mode : byte { Unreliable = 0, Reliable = 1, Passive = 2 }
    public enum State : uint { None = 0, Connecting = 1, Connected = 2, Disconnecting = 3, Disconnected = 4, Zombie = 5 }
    public enum Outcome : uint { None = 0, Delivered = 1, Skipped = 2, Lost = 3, Expired = 4, Cancelled = 5 }

    public enum EventType : uint
    {
        None = 0, Request = 1, Connected = 2, Readable = 3, Writable = 4, Receipt = 5, Moved = 6, PathNarrowed = 7,
        PortClosed = 8, Disconnected = 9,
    }

    public enum Reason : uint
    {
        None = 0, ByPeer = 1, ByUs = 2, GoodbyeUnanswered = 3, NeverAnswered = 4, Unfinished = 5, Silent = 6,
        LostByPeer = 7, PathTooNarrow = 8, Restarted = 9, Unreachable = 10, TooManyForgeries = 11, InternalError = 12,
        RefusedVersion = 20, RefusedIncompatible = 21, RefusedFull = 22, RefusedApplication = 23,
        RefusedSecurity = 24, Other = 99,
    }

    /// <summary>A wrong use of the library, or a socket that has broken. The text says what to do.</summary>
    public sealed class PorousException : Exception
    {
        /// <summary>What the library has answered.</summary>
        public Status Status { get; private set; }

        internal PorousException(Status status, string text) : base(text) { Status = status; }
    }

    /// <summary>What belongs to no host.</summary>
    public static class Library
    {
        internal const uint Abi = 1;
        static Action<string> told;
        static readonly Native.Told tell = Tell;
        static bool ready;

        /// <summary>The version of the native library.</summary>
        public static Version Version
        {
            get
            {
                Require();
                uint version = Native.porous_version();
                return new Version((int)(version >> 16), (int)(version >> 8 & 255), (int)(version & 255));
            }
        }

        /// <summary>True if the native library is there and fits this file; if not, `why` says what is missing.</summary>
        public static bool IsAvailable(out string why)
        {
            why = null;
            try
            {
                Require();
            }
            catch (Exception e) when (e is DllNotFoundException || e is BadImageFormatException ||
                e is EntryPointNotFoundException || e is PorousException)
            {
                why = "the native library of porous (" + Native.File + ") cannot be used: " + e.Message;
            }
            return why == null;
        }

        /// <summary>What a status means and what to do, in English.</summary>
        public static string Text(Status status) { return FromUtf8(Native.porous_status_text((int)status)); }

        /// <summary>Asks the system for the addresses of a name with a port, as "example.org:4000". Blocks until
        /// there is an answer, which can take many seconds: see Lookup.</summary>
        public static Status Resolve(string name, out Address[] found)
        {
            Require();
            var all = new Address[8];
            int count = Native.porous_resolve(Utf8(name), ref all[0], (UIntPtr)all.Length);
            found = new Address[Math.Max(0, Math.Min(count, all.Length))];
            Array.Copy(all, found, found.Length);
            return (Status)Math.Min(count, 0);
        }

        /// <summary>Names who is told the text of a bug of porous that was caught: by any thread, in the middle of a
        /// call. It must not throw. null: the text goes to the standard error stream.</summary>
        public static void OnPanic(Action<string> action)
        {
            Require();
            told = action;
            Check(Native.porous_on_panic(action == null ? null : tell, IntPtr.Zero));
        }

        [AOT.MonoPInvokeCallback(typeof(Native.Told))]
        static void Tell(IntPtr user, IntPtr text, UIntPtr length)
        {
            var bytes = new byte[(int)length];
            Marshal.Copy(text, bytes, 0, bytes.Length);
            Action<string> action = told;
            if (action != null) action(Encoding.UTF8.GetString(bytes));
        }

        /// <summary>Compares this file with the library, before the first call: the interface and each layout.</summary>
        internal static void Require()
        {
            if (ready) return;
            int status = Native.porous_check_abi(Abi);
            bool fits = Size<Address>() == 32 && Size<Channel>() == 8 && Size<Event>() == 192 &&
                Size<SendOptions>() == 32 && Size<Received>() == 16 && Size<Transmit>() == 48 &&
                Size<PeerStats>() == 328 && Size<ChannelStats>() == 24 && Size<Progress>() == 16 &&
                (IntPtr.Size != 8 || Size<Config>() == 152 && Size<Native.Security>() == 80 &&
                    Size<Native.Credentials>() == 64 && Size<Native.Claims>() == 120);
            if (status < 0 || !fits)
            {
                throw new PorousException(Status.Version, "Porous.cs and the library are of different versions");
            }
            ready = true;
        }

        /// <summary>32 bytes of the system's secure generator: a key of a server, a psk, a token key, a seed.</summary>
        public static byte[] GenerateKey()
        {
            Require();
            var secret = new byte[32];
            Check(Native.porous_key_generate(ref secret[0]));
            return secret;
        }

        /// <summary>The public key of a secret key of a server: clients know the server by it.</summary>
        public static byte[] PublicKey(byte[] secret)
        {
            Require();
            var key = new byte[32];
            Check(Native.porous_public_key(ref At(Exactly32(secret), 0, 32), ref key[0]));
            return key;
        }

        internal static byte[] Exactly32(byte[] secret)
        {
            if (secret == null || secret.Length != 32) throw new ArgumentException("a key has 32 bytes");
            return secret;
        }

        internal static int Size<T>() { return Marshal.SizeOf(typeof(T)); }

        internal static byte[] Utf8(string text)
        {
            if (text == null) throw new ArgumentNullException("text");
            return Encoding.UTF8.GetBytes(text + "\0");
        }

        internal static string FromUtf8(IntPtr text)
        {
            int length = 0;
            while (Marshal.ReadByte(text, length) != 0) length++;
            var bytes = new byte[length];
            Marshal.Copy(text, bytes, 0, length);
            return Encoding.UTF8.GetString(bytes);
        }

        /// <summary>Returns the answer if it is no error, and throws otherwise.</summary>
        internal static int Check(int answer)
        {
            if (answer >= 0) return answer;
            var status = (Status)answer;
            string text = Text(status);
            if (status == Status.Io || status == Status.InUse || status == Status.NotAvailable ||
                status == Status.NotPermitted)
            {
                var buffer = new byte[1024];
                int length = Native.porous_io_error_text(ref buffer[0], (UIntPtr)buffer.Length);
                if (length > 0) text = Encoding.UTF8.GetString(buffer, 0, length);
            }
            throw new PorousException(status, text);
        }

        static readonly byte[] nothing = new byte[1];

        /// <summary>The first of `count` bytes. Throws if the array has fewer.</summary>
        internal static ref byte At(byte[] data, int offset, int count)
        {
            if (data == null && offset == 0 && count == 0) return ref nothing[0];
            if (data == null) throw new ArgumentNullException("data");
            if (offset < 0 || count < 0 || offset > data.Length - count) throw new ArgumentOutOfRangeException("count");
            if (count == 0) return ref nothing[0];
            return ref data[offset];
        }
    }

    /// <summary>Asks for the addresses of a name in a thread of the pool.</summary>
    public sealed class Lookup
    {
        readonly string name;
        Address[] found;
        volatile bool done;

        public Lookup(string name)
        {
            Library.Require();
            this.name = name;
            Address literal;
            if (Address.TryParse(name, out literal))
            {
                found = new[] { literal };
                done = true;
            }
            else
            {
                ThreadPool.QueueUserWorkItem(Run, this);
            }
        }

        static void Run(object lookup)
        {
            var self = (Lookup)lookup;
            Library.Resolve(self.name, out self.found);
            self.done = true;
        }

        /// <summary>True if there is an answer.</summary>
        public bool Done { get { return done; } }
        /// <summary>The addresses; none if the name has none. null as long as there is no answer.</summary>
        public Address[] Found { get { return done ? found : null; } }
    }

    /// <summary>Where a host is. Addresses are equal if all of their 32 bytes are.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct Address : IEquatable<Address>
    {
        public AddressKind Kind;
        byte length;
        public ushort Port;
        public uint Scope;
        ulong bytes0, bytes1, bytes2;

        /// <summary>Reads an address of IP with its port, as "192.0.2.1:4000" or "[2001:db8::1]:4000". It asks
        /// nobody: names are for Library.Resolve.</summary>
        public static Address Parse(string text)
        {
            Library.Require();
            Address address;
            Library.Check(Native.porous_address_parse(Library.Utf8(text), out address));
            return address;
        }

        /// <summary>As Parse, for text that need not be an address.</summary>
        public static bool TryParse(string text, out Address address)
        {
            Library.Require();
            return Native.porous_address_parse(Library.Utf8(text), out address) == 0;
        }

        /// <summary>An address of the program's own of up to 24 bytes, for hosts without a socket.</summary>
        public static Address Own(byte[] bytes, ushort port = 0, uint scope = 0)
        {
            if (bytes.Length > 24) throw new ArgumentOutOfRangeException("bytes");
            var all = new byte[24];
            bytes.CopyTo(all, 0);
            return new Address
            {
                Kind = AddressKind.Own, length = (byte)bytes.Length, Port = port, Scope = scope,
                bytes0 = BitConverter.ToUInt64(all, 0), bytes1 = BitConverter.ToUInt64(all, 8),
                bytes2 = BitConverter.ToUInt64(all, 16),
            };
        }

        /// <summary>The bytes of the address, without its port: 4, 16, or up to 24.</summary>
        public byte[] ToBytes()
        {
            var all = new byte[24];
            BitConverter.GetBytes(bytes0).CopyTo(all, 0);
            BitConverter.GetBytes(bytes1).CopyTo(all, 8);
            BitConverter.GetBytes(bytes2).CopyTo(all, 16);
            Array.Resize(ref all, Math.Min((int)length, 24));
            return all;
        }

        /// <summary>As Parse reads it. An address that is none of IP: its kind and bytes.</summary>
        public override string ToString()
        {
            if (Kind != AddressKind.Ipv4 && Kind != AddressKind.Ipv6)
            {
                return Kind + " " + BitConverter.ToString(ToBytes()) + ":" + Port;
            }
            var text = new byte[64];
            int count = Library.Check(Native.porous_address_format(ref this, ref text[0], (UIntPtr)text.Length));
            return Encoding.ASCII.GetString(text, 0, count);
        }

        /// <summary>The text of the address without its port, and without brackets.</summary>
        public string Ip
        {
            get
            {
                string text = ToString();
                return text.Substring(0, text.LastIndexOf(':')).TrimStart('[').TrimEnd(']');
            }
        }

        public bool Equals(Address other)
        {
            return Kind == other.Kind && length == other.length && Port == other.Port && Scope == other.Scope &&
                bytes0 == other.bytes0 && bytes1 == other.bytes1 && bytes2 == other.bytes2;
        }
        public override bool Equals(object other) { return other is Address && Equals((Address)other); }
        public override int GetHashCode()
        {
            return (bytes0 ^ bytes1 * 31 ^ bytes2 * 961).GetHashCode() * 31 + Port * 7919 + (int)Scope;
        }
        public static bool operator ==(Address a, Address b) { return a.Equals(b); }
        public static bool operator !=(Address a, Address b) { return !a.Equals(b); }
    }

// The library reads and writes fields that nothing here does.
#pragma warning disable 169, 414, 649

    /// <summary>The settings of one channel: porous_channel. All 0: ordered, of low priority.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct Channel
    {
        byte priority, unordered;
        public byte Weight;
        byte reserved;
        /// <summary>The most to send to each peer, in bytes a second; 0: no limit.</summary>
        public uint Rate;

        /// <summary>True if it leaves first, as far as this host sends.</summary>
        public bool High { get { return priority != 0; } set { priority = (byte)(value ? 1 : 0); } }
        /// <summary>True if packets that this host receives are given as soon as they are complete.</summary>
        public bool Unordered { get { return unordered != 0; } set { unordered = (byte)(value ? 1 : 0); } }
    }

    /// <summary>The configuration of a host: porous_config. 0 in a field: as the preset has it.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct Config
    {
        uint size;
        Preset preset;
        public Policy Policy;
        public Congestion Congestion;
        public Integrity Integrity;
        IntPtr channels;
        public ulong ApplicationId, HostReceiveBudget, ConnectTimeoutUs, TimeoutUs, DisconnectTimeoutUs, KeepaliveUs;
        public ulong UnreliableAgeUs;
        /// <summary>How many channels there are, unless their settings are given to the host, too.</summary>
        public uint ChannelCount;
        public uint MaxPeers, MaxPeersPerSource, MaxPacket, ReceiveBudget, SendBudget, FrameWindow, PacketWindow;
        public uint SendRate, ReceiveRate, HostSendRate, RepliesPerAddress, Replies, CongestionRate, CongestionRateBad;
        public ushort MaxDatagram, RequestSize, PathMtu;
        public byte ConnectionIdLen;
        public Switch Ecn, Roaming;
        /// <summary>The suites to seal with, the best first; all None: the host does not seal.</summary>
        public Suite Suite0, Suite1, Suite2, Suite3;
        byte reserved0, reserved1, reserved2;
        uint reserved3;

        /// <summary>For PathMtu: no search.</summary>
        public const ushort PathMtuOff = 1;
        /// <summary>For ConnectionIdLen: ids of 0 bytes. Such a host cannot listen.</summary>
        public const byte NoConnectionIds = 255;

        /// <summary>The values of a preset.</summary>
        public static Config Of(Preset preset)
        {
            Library.Require();
            Config config;
            Library.Check(Native.porous_config_init(out config, (UIntPtr)Library.Size<Config>(), (uint)preset));
            return config;
        }

        /// <summary>Says whether hosts can be made with it, and otherwise which rule it breaks.</summary>
        public Status Check(Channel[] settings = null)
        {
            Library.Require();
            Config config = this;
            using (new Pinned(ref config, settings)) return (Status)Native.porous_config_check(ref config);
        }

        /// <summary>Keeps the settings of channels in their place for a call.</summary>
        internal struct Pinned : IDisposable
        {
            GCHandle handle;

            internal Pinned(ref Config config, Channel[] settings)
            {
                config.size = (uint)Library.Size<Config>();
                handle = default(GCHandle);
                if (settings == null || settings.Length == 0) return;
                handle = GCHandle.Alloc(settings, GCHandleType.Pinned);
                config.channels = handle.AddrOfPinnedObject();
                config.ChannelCount = (uint)settings.Length;
            }

            public void Dispose()
            {
                if (handle.IsAllocated) handle.Free();
            }
        }
    }

    /// <summary>What happened at a peer: porous_event. Fields that do not belong to the type are 0.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct Event
    {
        internal uint size;
        public EventType Type;
        public ulong Peer;
        public Address Address, From;
        public ulong Token, ApplicationId;
        public Outcome Outcome;
        public Reason Reason;
        public uint Code, Undelivered, OldestVersion, NewestVersion, DatagramBytes;
        uint dataLength;
        ulong data0, data1, data2, data3, data4, data5, data6, data7;

        /// <summary>What the application said that refused, of Reason.RefusedApplication.</summary>
        public byte[] Data()
        {
            var all = new byte[64];
            ulong[] words = { data0, data1, data2, data3, data4, data5, data6, data7 };
            Buffer.BlockCopy(words, 0, all, 0, all.Length);
            Array.Resize(ref all, (int)Math.Min(dataLength, 64));
            return all;
        }
    }

    /// <summary>How a packet is sent: porous_send_options.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct SendOptions
    {
        internal uint size;
        public Mode Mode;
        /// <summary>Copies in later datagrams, 1 to 3, or NoCopies; 0: as the host finds it useful.</summary>
        public byte Redundancy;
        byte hasReceipt, hasKey;
        /// <summary>The age at which the packet is of no more use, in microseconds; 0: none.</summary>
        public ulong TtlUs;
        ulong receipt, key;

        public const byte NoCopies = 255;

        public SendOptions(Mode mode) : this() { Mode = mode; }

        /// <summary>EventType.Receipt with this token tells what became of the packet; null: nothing does.</summary>
        public ulong? Receipt
        {
            get { return hasReceipt != 0 ? receipt : (ulong?)null; }
            set { hasReceipt = (byte)(value.HasValue ? 1 : 0); receipt = value ?? 0; }
        }

        /// <summary>Only the newest packet of a channel with this key is of use; null: each is.</summary>
        public ulong? Key
        {
            get { return hasKey != 0 ? key : (ulong?)null; }
            set { hasKey = (byte)(value.HasValue ? 1 : 0); key = value ?? 0; }
        }
    }

    /// <summary>What was received: porous_received.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct Received
    {
        public byte Channel;
        public Mode Mode;
        ushort reserved0;
        uint reserved1;
        ulong length;
        public int Length { get { return (int)length; } }
    }

    /// <summary>A datagram to be sent: porous_transmit.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct Transmit
    {
        public Address To;
        ulong length;
        public Ecn Ecn;
        byte dontFragment, toStranger, reserved0;
        uint reserved1;
        public int Length { get { return (int)length; } }
        public bool DontFragment { get { return dontFragment != 0; } }
        public bool ToStranger { get { return toStranger != 0; } }
    }

    [StructLayout(LayoutKind.Sequential)]
    public struct ModeCounts { public ulong Unreliable, Reliable, Passive; }

    /// <summary>What is known of a connection: porous_peer_stats.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct PeerStats
    {
        internal uint size;
        public State State;
        public uint Channels, MaxPacket, MaxUnfragmented, PathMtu;
        public ulong RemoteTimeoutUs, RttUs, RttVarianceUs, RttMinimumUs, JitterUs, ResendTimeoutUs;
        public ulong DatagramsSent, DatagramsReceived, BytesSent, BytesReceived;
        public ulong FramesSent, FramesLost, FramesSpurious, FramesMarked, FramesReceived, FramesMissing;
        public ModeCounts PacketsSent, PacketBytesSent, PacketsReceived, PacketBytesReceived;
        public ulong AnswersWithheld, PacketsExpired, PacketsReplaced, PacketsCancelled, PacketsIncomplete;
        public ulong PacketsEvicted;
        public uint Flight, Window, QueuedBytes, SendRate, ReceiveRate;
        /// <summary>The share that was lost in the last 5 to 10 s, 0 to 10,000.</summary>
        public ushort LossSent, LossReceived;
        public byte Quality;
        byte ecn, reserved0, reserved1;
        uint reserved2;
        public bool Ecn { get { return ecn != 0; } }
    }

    /// <summary>What is known of a channel to a peer: porous_channel_stats.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct ChannelStats
    {
        internal uint size;
        public uint Waiting;
        public ulong QueueTimeUs, QueueTimeLongestUs;
    }

    /// <summary>How far a packet has come: porous_progress.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct Progress
    {
        internal uint size;
        public uint Length, Sent, Arrived;
    }

#pragma warning restore 169, 414, 649

    /// <summary>What is known of a host: porous_host_stats. Make one, and fill it by Host.Info when you like.</summary>
    public sealed class HostStats
    {
        // A struct with arrays inside would be marshalled through garbage; these are its 488 bytes.
        internal readonly ulong[] words = new ulong[61];

        public HostStats() { words[0] = BitConverter.IsLittleEndian ? 488UL : 488UL << 32; }

        public ulong DatagramsReceived { get { return words[1]; } }
        public ulong BytesReceived { get { return words[2]; } }
        public ulong DatagramsSent { get { return words[3]; } }
        public ulong BytesSent { get { return words[4]; } }
        public ulong Accepted { get { return words[5]; } }
        public ulong Connected { get { return words[6]; } }
        public ulong SourceFull { get { return words[7]; } }
        /// <summary>Datagrams that were ignored, by cause, 1 to 17: see `ignored` of porous_host_stats.</summary>
        public ulong Ignored(int cause) { return words[8 + Within(cause, 32)]; }
        /// <summary>Clients that were refused for their token, by cause, 0 to 10: see `tokens_refused`.</summary>
        public ulong TokensRefused(int cause) { return words[40 + Within(cause, 16)]; }
        public ulong SendLost { get { return words[56]; } }
        public ulong SendDelayed { get { return words[57]; } }
        public ulong ReceiveErrors { get { return words[58]; } }
        public ulong AnswersWithheld { get { return words[59]; } }
        /// <summary>Requests that were refused while more came than the program takes in.</summary>
        public ulong Overloaded { get { return words[60]; } }

        static int Within(int cause, int count)
        {
            if (cause < 0 || cause >= count) throw new ArgumentOutOfRangeException("cause");
            return cause;
        }
    }

    /// <summary>A packet that was received without a copy. Dispose it.</summary>
    public sealed class Packet : SafeHandle
    {
        internal Packet(IntPtr packet) : base(IntPtr.Zero, true)
        {
            SetHandle(packet);
            UIntPtr length;
            Data = Native.porous_packet_data(this, out length);
            Length = (int)length;
        }

        /// <summary>Where its bytes are, until it is disposed.</summary>
        public IntPtr Data { get; private set; }
        public int Length { get; private set; }

        public byte[] ToArray()
        {
            if (IsClosed) throw new ObjectDisposedException("Packet");
            var bytes = new byte[Length];
            if (Length > 0) Marshal.Copy(Data, bytes, 0, Length);
            GC.KeepAlive(this);
            return bytes;
        }

        public override bool IsInvalid { get { return handle == IntPtr.Zero; } }
        protected override bool ReleaseHandle() { Native.porous_packet_free(handle); return true; }
    }

    /// <summary>Bytes that are sent to many peers and copied once, or not at all. Dispose it when you like.</summary>
    public sealed class Blob : SafeHandle
    {
        static readonly Native.Release release = Release;

        Blob(IntPtr blob) : base(IntPtr.Zero, true) { SetHandle(blob); }

        /// <summary>Copies the bytes.</summary>
        public static Blob Copy(byte[] data, int offset, int count)
        {
            Library.Require();
            IntPtr blob;
            Library.Check(Native.porous_blob_copy(ref Library.At(data, offset, count), (UIntPtr)count, out blob));
            return new Blob(blob);
        }

        /// <summary>Shares the array, which is pinned, and must not change, until no host needs it any more.</summary>
        public static Blob Wrap(byte[] data)
        {
            Library.Require();
            GCHandle pin = GCHandle.Alloc(data, GCHandleType.Pinned);
            IntPtr blob, user = GCHandle.ToIntPtr(pin);
            int status = Native.porous_blob_wrap(
                pin.AddrOfPinnedObject(), (UIntPtr)data.Length, release, user, out blob);
            if (status < 0) pin.Free();
            Library.Check(status);
            return new Blob(blob);
        }

        [AOT.MonoPInvokeCallback(typeof(Native.Release))]
        static void Release(IntPtr user) { GCHandle.FromIntPtr(user).Free(); }

        public override bool IsInvalid { get { return handle == IntPtr.Zero; } }
        protected override bool ReleaseHandle() { Native.porous_blob_free(handle); return true; }
    }

    /// <summary>How a host makes the ids of its connections, for what routes datagrams by them:
    /// porous_connection_ids. All have the length Config.ConnectionIdLen.</summary>
    public sealed class ConnectionIds
    {
        internal readonly byte[] bytes = new byte[48];

        ConnectionIds(Ids kind)
        {
            BitConverter.GetBytes((uint)bytes.Length).CopyTo(bytes, 0);
            bytes[4] = (byte)kind;
        }

        /// <summary>All bytes look random, as at first.</summary>
        public static ConnectionIds Random() { return new ConnectionIds(Ids.Random); }

        /// <summary>Random but for the low bits of the first byte, 1 to 8: this is the host `shard` on its port.</summary>
        public static ConnectionIds Sharded(byte shard, byte bits)
        {
            var ids = new ConnectionIds(Ids.Sharded);
            ids.bytes[5] = shard;
            ids.bytes[6] = bits;
            return ids;
        }

        /// <summary>For a balancer that knows this server by an id of 1 to 15 bytes, in its configuration 0 to 6. With
        /// the balancer's key of 16 bytes they are encrypted.</summary>
        public static ConnectionIds QuicLb(byte rotation, byte[] serverId, byte[] key = null)
        {
            if (serverId.Length > 15) throw new ArgumentException("the id of a server has 15 bytes at most");
            if (key != null && key.Length != 16) throw new ArgumentException("a key has 16 bytes");
            var ids = new ConnectionIds(Ids.QuicLb);
            ids.bytes[7] = rotation;
            serverId.CopyTo(ids.bytes, 8);
            ids.bytes[23] = (byte)serverId.Length;
            if (key == null) return ids;
            key.CopyTo(ids.bytes, 24);
            ids.bytes[40] = 1;
            return ids;
        }
    }

    /// <summary>One socket, or none, and all peers behind it. Dispose it: each peer is told once.</summary>
    public sealed class Host : SafeHandle
    {
        Host(IntPtr host) : base(IntPtr.Zero, true) { SetHandle(host); }

        public override bool IsInvalid { get { return handle == IntPtr.Zero; } }
        protected override bool ReleaseHandle() { return Native.porous_host_free(handle) == 0; }

        /// <summary>A host on a new UDP socket, at an address as "[::]:4000"; port 0: as the system chooses.</summary>
        public static Host Bind(string address, Config config, Channel[] channels = null)
        {
            Library.Require();
            IntPtr host;
            using (new Config.Pinned(ref config, channels))
            {
                Library.Check(Native.porous_udp_bind(ref config, Library.Utf8(address), out host));
            }
            return new Host(host);
        }

        /// <summary>Hosts on one port, each for a thread of its own: a power of two from 1 to 128. Dispose all of them
        /// or none. Only Linux can do this.</summary>
        public static Host[] BindShards(int count, string address, Config config, Channel[] channels = null)
        {
            Library.Require();
            if (count < 1 || count > 128) throw new ArgumentOutOfRangeException("count");
            var made = new IntPtr[count];
            using (new Config.Pinned(ref config, channels))
            {
                Library.Check(Native.porous_udp_bind_shards(
                    ref config, Library.Utf8(address), (uint)count, ref made[0]));
            }
            return Array.ConvertAll(made, host => new Host(host));
        }

        /// <summary>A host on a socket of the program's, bound and not connected, which the host owns from now on.</summary>
        public static Host Adopt(IntPtr socket, Config config, Channel[] channels = null)
        {
            Library.Require();
            IntPtr host;
            using (new Config.Pinned(ref config, channels))
            {
                Library.Check(Native.porous_udp_adopt(ref config, socket, out host));
            }
            return new Host(host);
        }

        /// <summary>A host without a socket, whose time begins at 0. `seed`: 32 secret bytes, or null for bytes of the
        /// system's generator.</summary>
        public static Host WithoutSocket(Config config, byte[] seed = null, Channel[] channels = null)
        {
            Library.Require();
            if (seed == null)
            {
                seed = new byte[32];
                using (var generator = RandomNumberGenerator.Create()) generator.GetBytes(seed);
            }
            if (seed.Length != 32) throw new ArgumentException("a seed has 32 bytes", "seed");
            IntPtr host;
            using (new Config.Pinned(ref config, channels))
            {
                Library.Check(Native.porous_core_new(ref config, ref seed[0], out host));
            }
            return new Host(host);
        }

        // Hosts on sockets.

        /// <summary>Takes in what has come, does what is due, and sends. Never blocks: call it once in each turn.
        /// Throws if the socket is of no more use.</summary>
        public void Step() { Library.Check(Native.porous_udp_step(this)); }
        /// <summary>Does what is due and sends, for the end of a turn. Throws as Step does.</summary>
        public void Transmit() { Library.Check(Native.porous_udp_transmit(this)); }
        /// <summary>Sends, sleeps until something happens, and does what Step does. Throws as Step does.</summary>
        public void Wait(ulong atMostUs) { Library.Check(Native.porous_udp_wait(this, atMostUs)); }
        /// <summary>Ends all connections, and blocks until all peers know. Dispose the host afterwards.</summary>
        public void Close(uint code, ulong flushAtMostUs)
        {
            Library.Check(Native.porous_udp_close(this, code, flushAtMostUs));
        }
        /// <summary>The address that the socket is bound to.</summary>
        public Address LocalAddress
        {
            get { Address address; Library.Check(Native.porous_udp_address(this, out address)); return address; }
        }
        /// <summary>The file descriptor or SOCKET, to be watched and not to be used.</summary>
        public IntPtr Socket
        {
            get { IntPtr socket; Library.Check(Native.porous_udp_socket(this, out socket)); return socket; }
        }
        /// <summary>In how many microseconds Step is due, if nothing comes before; ulong.MaxValue: never.</summary>
        public ulong DueInUs
        {
            get { ulong due; Library.Check(Native.porous_udp_deadline(this, out due)); return due; }
        }
        /// <summary>True if the socket has no room for datagrams that wait.</summary>
        public bool IsBlocked { get { return Library.Check(Native.porous_udp_is_blocked(this)) > 0; } }
        /// <summary>How long one Step lasts at most; 8 ms unless it is set.</summary>
        public void SetTimeLimit(ulong limitUs) { Library.Check(Native.porous_udp_set_time_limit(this, limitUs)); }
        /// <summary>Puts up to 32 bytes behind each datagram to a proxy, which knows the server by them and removes them:
        /// before Connect. Without bytes there is no suffix.</summary>
        public void SetSuffix(Address to, byte[] suffix)
        {
            Library.Check(Native.porous_udp_set_suffix(
                this, ref to, ref Library.At(suffix, 0, suffix.Length), (UIntPtr)suffix.Length));
        }

        // Hosts without sockets.

        /// <summary>Says what time it is, in microseconds, before what follows.</summary>
        public void SetTime(ulong nowUs) { Library.Check(Native.porous_core_time(this, nowUs)); }
        /// <summary>Takes a datagram in. Returns 0, or why it was ignored, 1 to 17, which is no fault.</summary>
        public int Input(Address from, Ecn ecn, byte[] data, int offset, int count)
        {
            return Library.Check(Native.porous_core_input(
                this, ref from, (uint)ecn, ref Library.At(data, offset, count), (UIntPtr)count));
        }
        /// <summary>Writes the next datagram to be sent into a buffer of at least BufferSize. False: there is none.</summary>
        public bool Output(out Transmit transmit, byte[] buffer)
        {
            return Library.Check(Native.porous_core_output(
                this, out transmit, ref Library.At(buffer, 0, buffer.Length), (UIntPtr)buffer.Length)) > 0;
        }
        /// <summary>Does what is due at the time of the host.</summary>
        public void Timeout() { Library.Check(Native.porous_core_timeout(this)); }
        /// <summary>When Timeout is due, in the host's time; ulong.MaxValue: never.</summary>
        public ulong Deadline
        {
            get { ulong at; Library.Check(Native.porous_core_deadline(this, out at)); return at; }
        }
        /// <summary>The bytes that the buffer of Output needs.</summary>
        public int BufferSize
        {
            get { ulong bytes; Library.Check(Native.porous_core_buffer_size(this, out bytes)); return (int)bytes; }
        }
        public void Unreachable(Address to) { Library.Check(Native.porous_core_unreachable(this, ref to)); }
        /// <summary>Nothing is bound to the port of an address; null if the system does not say which.</summary>
        public void PortClosed(Address? at)
        {
            if (!at.HasValue)
            {
                Library.Check(Native.PortClosedSomewhere(this, IntPtr.Zero));
                return;
            }
            Address address = at.Value;
            Library.Check(Native.porous_core_port_closed(this, ref address));
        }
        /// <summary>The time of day, in seconds since 1970, by which tokens expire.</summary>
        public void SetUnixTime(ulong seconds) { Library.Check(Native.porous_core_unix_time(this, seconds)); }
        /// <summary>At the end of a turn: whether it has left datagrams behind that had come, for want of time.</summary>
        public void Backlog(bool waits) { Library.Check(Native.porous_core_backlog(this, waits ? 1u : 0u)); }

        // Connections.

        /// <summary>Says whether strangers may connect. At first they may not.</summary>
        public void Listen(Listen policy) { Library.Check(Native.porous_listen(this, (uint)policy)); }

        /// <summary>Begins to connect, and returns the new peer. EventType.Connected or Disconnected follows.</summary>
        public ulong Connect(Address to)
        {
            ulong peer;
            Library.Check(Native.porous_connect(this, ref to, out peer));
            return peer;
        }

        /// <summary>As Connect, to a host at any of up to 8 addresses, with a greeting of up to 255 bytes.</summary>
        public ulong ConnectAny(Address[] to, byte[] greeting = null)
        {
            ulong peer;
            Address[] some = to.Length > 0 ? to : new Address[1];
            int count = greeting == null ? 0 : greeting.Length;
            Library.Check(Native.porous_connect_any(
                this, ref some[0], (UIntPtr)to.Length, ref Library.At(greeting, 0, count), (UIntPtr)count, out peer));
            return peer;
        }

        /// <summary>Says how the ids of new connections are made.</summary>
        public void SetConnectionIds(ConnectionIds ids)
        {
            Library.Check(Native.porous_set_connection_ids(this, ref ids.bytes[0]));
        }

        /// <summary>Lets a peer in that asked by EventType.Request.</summary>
        public Status Accept(ulong peer) { return (Status)Native.porous_accept(this, peer); }

        /// <summary>Turns a peer away that asked, with up to 64 bytes for its application.</summary>
        public Status Refuse(ulong peer, byte[] data = null)
        {
            int count = data == null ? 0 : data.Length;
            return (Status)Native.porous_refuse(this, peer, ref Library.At(data, 0, count), (UIntPtr)count);
        }

        /// <summary>Ends a connection: at once, or when all was delivered, within a time. Disconnected follows.</summary>
        public Status Disconnect(ulong peer, uint code = 0, ulong flushAtMostUs = 0)
        {
            return (Status)Native.porous_disconnect(this, peer, code, flushAtMostUs);
        }

        /// <summary>Ends all connections, and lets nobody in. Go on until IsEmpty.</summary>
        public void DisconnectAll(uint code = 0, ulong flushAtMostUs = 0)
        {
            Library.Check(Native.porous_disconnect_all(this, code, flushAtMostUs));
        }

        /// <summary>Ends a server: newcomers are refused as full, and each connection ends when all was delivered,
        /// or the time is over. Go on until IsEmpty.</summary>
        public void Drain(uint code, ulong atMostUs)
        {
            Library.Check(Native.porous_drain(this, code, atMostUs));
        }

        /// <summary>True if there are no live peers, and nothing more is to be said to those that have ended.</summary>
        public bool IsEmpty { get { return Library.Check(Native.porous_is_empty(this)) > 0; } }

        /// <summary>Writes the names of the live peers, as many as fit, and returns how many there are.</summary>
        public int Peers(ulong[] into)
        {
            return Library.Check(Native.porous_peers(this, ref First(into), (UIntPtr)into.Length));
        }

        /// <summary>As Peers: those of which packets can be received, also if they have ended.</summary>
        public int Readable(ulong[] into)
        {
            return Library.Check(Native.porous_readable(this, ref First(into), (UIntPtr)into.Length));
        }

        static readonly ulong[] nobody = new ulong[1];
        static ref ulong First(ulong[] peers) { return ref (peers.Length > 0 ? peers : nobody)[0]; }

        /// <summary>The address that datagrams to a peer go to. False: there is no such peer.</summary>
        public bool PeerAddress(ulong peer, out Address address)
        {
            return Native.porous_peer_address(this, peer, out address) == 0;
        }

        /// <summary>What the remote application said with its request; null if there is no such peer.</summary>
        public byte[] Greeting(ulong peer)
        {
            var greeting = new byte[255];
            int count = Native.porous_peer_greeting(this, peer, ref greeting[0], (UIntPtr)greeting.Length);
            if (count == (int)Status.UnknownPeer) return null;
            Array.Resize(ref greeting, Library.Check(count));
            return greeting;
        }

        public State PeerState(ulong peer) { return (State)Library.Check(Native.porous_peer_state(this, peer)); }

        /// <summary>Takes the next event. False: there is none.</summary>
        public bool Poll(ref Event what)
        {
            what.size = EventSize;
            return Library.Check(Native.porous_poll_event(this, ref what)) > 0;
        }

        const uint EventSize = 192;

        // Packets.

        /// <summary>Queues a copy of the bytes. It leaves with the next Step, Transmit or Output.</summary>
        public Status Send(ulong peer, byte channel, Mode mode, byte[] data, int offset, int count)
        {
            return (Status)Native.porous_send(
                this, peer, channel, (uint)mode, ref Library.At(data, offset, count), (UIntPtr)count);
        }
        public Status Send(ulong peer, byte channel, Mode mode, byte[] data)
        {
            return Send(peer, channel, mode, data, 0, data.Length);
        }
        public Status Send(ulong peer, byte channel, Mode mode, ArraySegment<byte> data)
        {
            return Send(peer, channel, mode, data.Array, data.Offset, data.Count);
        }
        /// <summary>As Send, with options.</summary>
        public Status Send(ulong peer, byte channel, SendOptions options, byte[] data, int offset, int count)
        {
            options.size = OptionsSize;
            return (Status)Native.porous_send_with(
                this, peer, channel, ref Library.At(data, offset, count), (UIntPtr)count, ref options);
        }
        /// <summary>As Send, without a copy.</summary>
        public Status Send(ulong peer, byte channel, SendOptions options, Blob blob)
        {
            options.size = OptionsSize;
            return (Status)Native.porous_send_blob(this, peer, channel, blob, ref options);
        }

        const uint OptionsSize = 32;

        /// <summary>Cancels what was sent on a channel with this receipt. Status.One: there was something.</summary>
        public Status Cancel(ulong peer, byte channel, ulong receipt)
        {
            return (Status)Native.porous_cancel(this, peer, channel, receipt);
        }

        /// <summary>Takes the next packet from a peer, and copies it into the buffer. Status.One: there was one.
        /// Status.Small: it is longer, what.Length bytes, and kept.</summary>
        public Status Receive(ulong peer, out Received what, byte[] buffer, int offset, int count)
        {
            return (Status)Native.porous_receive(
                this, peer, out what, ref Library.At(buffer, offset, count), (UIntPtr)count);
        }
        public Status Receive(ulong peer, out Received what, byte[] buffer)
        {
            return Receive(peer, out what, buffer, 0, buffer.Length);
        }
        /// <summary>Takes the next packet from a peer without a copy, as a new object.</summary>
        public Status Receive(ulong peer, out Received what, out Packet packet)
        {
            IntPtr taken;
            var status = (Status)Native.porous_receive_packet(this, peer, out what, out taken);
            packet = status == Status.One ? new Packet(taken) : null;
            return status;
        }

#if NETSTANDARD2_1_OR_GREATER || NETSTANDARD2_1 || NET || NETCOREAPP || UNITY_2021_2_OR_NEWER
        public Status Send(ulong peer, byte channel, Mode mode, ReadOnlySpan<byte> data)
        {
            return (Status)Native.porous_send(
                this, peer, channel, (uint)mode, ref MemoryMarshal.GetReference(data), (UIntPtr)data.Length);
        }
        public Status Send(ulong peer, byte channel, SendOptions options, ReadOnlySpan<byte> data)
        {
            options.size = OptionsSize;
            return (Status)Native.porous_send_with(
                this, peer, channel, ref MemoryMarshal.GetReference(data), (UIntPtr)data.Length, ref options);
        }
        public Status Receive(ulong peer, out Received what, Span<byte> buffer)
        {
            return (Status)Native.porous_receive(
                this, peer, out what, ref MemoryMarshal.GetReference(buffer), (UIntPtr)buffer.Length);
        }
#endif

        // Rates, in bytes a second; 0: no limit.

        public Status SetSendRate(ulong peer, uint rate) { return (Status)Native.porous_set_send_rate(this, peer, rate); }
        public Status SetReceiveRate(ulong peer, uint rate)
        {
            return (Status)Native.porous_set_receive_rate(this, peer, rate);
        }
        public Status SetChannelRate(ulong peer, byte channel, uint rate)
        {
            return (Status)Native.porous_set_channel_rate(this, peer, channel, rate);
        }
        public void SetHostSendRate(uint rate) { Library.Check(Native.porous_set_host_send_rate(this, rate)); }

        // What is known.

        public Status Info(ulong peer, out PeerStats stats)
        {
            stats = new PeerStats { size = 328 };
            return (Status)Native.porous_peer_info(this, peer, ref stats);
        }
        public Status Info(ulong peer, byte channel, out ChannelStats stats)
        {
            stats = new ChannelStats { size = 24 };
            return (Status)Native.porous_channel_info(this, peer, channel, ref stats);
        }
        public void Info(HostStats stats) { Library.Check(Native.porous_host_info(this, ref stats.words[0])); }
        /// <summary>How far the packet with a receipt has come that is sent. Status.Ok: its fate is known.</summary>
        public Status SendProgress(ulong peer, byte channel, ulong receipt, out Progress progress)
        {
            progress = new Progress { size = 16 };
            return (Status)Native.porous_send_progress(this, peer, channel, receipt, ref progress);
        }
        /// <summary>How much of a packet has come that is received in part. Status.Ok: there is none.</summary>
        public Status ReceiveProgress(ulong peer, byte channel, out Progress progress)
        {
            progress = new Progress { size = 16 };
            return (Status)Native.porous_receive_progress(this, peer, channel, ref progress);
        }

        // Sealed connections.

        /// <summary>Says how the host seals from now on. Its configuration has to name suites.</summary>
        public void SetSecurity(Security security)
        {
            using (var pins = new Pins())
            {
                Native.Security native = security.ToNative(pins);
                Library.Check(Native.porous_set_security(this, ref native));
            }
        }

        /// <summary>As ConnectAny, for a connection that no listener can read, and nobody can change. Its key, a psk or a
        /// ticket proves the server; without one an attacker in between can be the other end.</summary>
        public ulong ConnectSealed(Address[] to, Credentials with)
        {
            ulong peer;
            Address[] some = to.Length > 0 ? to : new Address[1];
            using (var pins = new Pins())
            {
                Native.Credentials native = with.ToNative(pins);
                Library.Check(Native.porous_connect_sealed(
                    this, ref some[0], (UIntPtr)to.Length, ref native, out peer));
            }
            // The ticket is used during the call only, and must live until then.
            GC.KeepAlive(with);
            return peer;
        }

        /// <summary>Tells what is proved of a connection. Status.One: it is sealed; Status.Ok: it is plain.</summary>
        public Status Secured(ulong peer, out Secured secured)
        {
            var bytes = new byte[Porous.Secured.Size];
            BitConverter.GetBytes((uint)bytes.Length).CopyTo(bytes, 0);
            var status = (Status)Native.porous_peer_secured(this, peer, ref bytes[0]);
            secured = status == Status.One ? new Secured(bytes) : null;
            return status;
        }

        /// <summary>A secret of 32 bytes that both hosts of a sealed connection have, another one for each label.</summary>
        public Status Export(ulong peer, byte[] label, out byte[] secret)
        {
            secret = new byte[32];
            return (Status)Native.porous_peer_export(
                this, peer, ref Library.At(label, 0, label.Length), (UIntPtr)label.Length, ref secret[0]);
        }
    }

    /// <summary>Arrays that stay in their place during a call.</summary>
    internal sealed class Pins : IDisposable
    {
        readonly List<GCHandle> handles = new List<GCHandle>();

        /// <summary>Where the array is; null and arrays without bytes are nowhere.</summary>
        internal IntPtr Pin(byte[] bytes)
        {
            if (bytes == null || bytes.Length == 0) return IntPtr.Zero;
            GCHandle handle = GCHandle.Alloc(bytes, GCHandleType.Pinned);
            handles.Add(handle);
            return handle.AddrOfPinnedObject();
        }

        public void Dispose()
        {
            foreach (GCHandle handle in handles) handle.Free();
        }
    }

    /// <summary>A secret of 32 bytes, and the number by which others name it: porous_key.</summary>
    public struct Key
    {
        public readonly uint Number;
        internal readonly byte[] Secret;

        public Key(uint number, byte[] secret)
        {
            Number = number;
            Secret = Library.Exactly32(secret);
        }

        /// <summary>As the library has them, 36 bytes each.</summary>
        internal static byte[] ToNative(Key[] keys)
        {
            var all = new byte[keys == null ? 0 : 36 * keys.Length];
            for (int i = 0; i < all.Length; i += 36)
            {
                BitConverter.GetBytes(keys[i / 36].Number).CopyTo(all, i);
                keys[i / 36].Secret.CopyTo(all, i + 4);
            }
            return all;
        }
    }

    /// <summary>How a host seals: porous_security. As it is made: without keys, and no plain connections.</summary>
    public sealed class Security
    {
        /// <summary>Plain connections are let in, too.</summary>
        public bool AllowPlain;
        /// <summary>Clients are refused that prove nothing by a psk or a token.</summary>
        public bool RequireProof;
        /// <summary>A client, by the id in its token, may have several connections.</summary>
        public bool ManyPerClient;
        /// <summary>Secret keys of 32 bytes that prove to clients that this is the server, 2 at most.</summary>
        public byte[][] Identities;
        /// <summary>Secrets of clients that are let in, and keys of backends whose tokens are taken; 4 of each.</summary>
        public Key[] Psks, TokenKeys;
        /// <summary>Tokens are taken that name this server, or none.</summary>
        public ulong? ServerId;
        /// <summary>0: as the library has it.</summary>
        public ulong MaxTokenLifetimeUs, RekeyFrames, RekeyTimeUs;
        /// <summary>How many used tokens are remembered; 0: as the library has it.</summary>
        public uint UsedTokens;

        internal Native.Security ToNative(Pins pins)
        {
            int identities = Identities == null ? 0 : Identities.Length;
            var keys = new byte[32 * identities];
            for (int i = 0; i < identities; i++) Library.Exactly32(Identities[i]).CopyTo(keys, 32 * i);
            return new Native.Security
            {
                Size = (uint)Library.Size<Native.Security>(),
                AllowPlain = (byte)(AllowPlain ? 1 : 0), RequireProof = (byte)(RequireProof ? 1 : 0),
                ManyPerClient = (byte)(ManyPerClient ? 1 : 0), HasServerId = (byte)(ServerId.HasValue ? 1 : 0),
                Identities = pins.Pin(keys), IdentityCount = (uint)identities,
                Psks = pins.Pin(Key.ToNative(Psks)), PskCount = (uint)(Psks == null ? 0 : Psks.Length),
                TokenKeys = pins.Pin(Key.ToNative(TokenKeys)),
                TokenKeyCount = (uint)(TokenKeys == null ? 0 : TokenKeys.Length),
                ServerId = ServerId ?? 0, MaxTokenLifetimeUs = MaxTokenLifetimeUs, RekeyFrames = RekeyFrames,
                RekeyTimeUs = RekeyTimeUs, UsedTokens = UsedTokens,
            };
        }
    }

    /// <summary>What a client brings to a sealed connection: porous_credentials. As it is made, it proves nothing and
    /// checks nothing.</summary>
    public sealed class Credentials
    {
        /// <summary>A ticket of a backend, instead of a psk or a token.</summary>
        public Ticket Ticket;
        /// <summary>The public key of the server: only that server can answer. null: that of the ticket.</summary>
        public byte[] ServerKey;
        /// <summary>A secret of 32 bytes that the server has as well, and the number by which it knows it.</summary>
        public byte[] Psk;
        public uint PskNumber;
        /// <summary>A token, whose secret is Psk.</summary>
        public byte[] Token;
        /// <summary>What the application of the server reads by Host.Greeting.</summary>
        public byte[] Greeting;

        internal Native.Credentials ToNative(Pins pins)
        {
            if (Psk != null) Library.Exactly32(Psk);
            if (Ticket != null && Ticket.IsClosed) throw new ObjectDisposedException("Ticket");
            return new Native.Credentials
            {
                Size = (uint)Library.Size<Native.Credentials>(), PskNumber = PskNumber,
                Ticket = Ticket == null ? IntPtr.Zero : Ticket.DangerousGetHandle(),
                ServerKey = pins.Pin(ServerKey), ServerKeyLen = Length(ServerKey), Psk = pins.Pin(Psk),
                Token = pins.Pin(Token), TokenLen = Length(Token),
                Greeting = pins.Pin(Greeting), GreetingLen = Length(Greeting),
            };
        }

        static uint Length(byte[] bytes) { return bytes == null ? 0 : (uint)bytes.Length; }
    }

    /// <summary>What is proved of a sealed connection: porous_secured.</summary>
    public sealed class Secured
    {
        internal const int Size = 376;
        public readonly Suite Suite;
        /// <summary>The number of the psk that both hosts have.</summary>
        public readonly uint? PskNumber;
        /// <summary>The client, as the backend names it in the token; at the server alone.</summary>
        public readonly ulong? ClientId;
        /// <summary>Names this connection, and is no secret.</summary>
        public readonly byte[] Binding;
        /// <summary>The key that the server has proved to have the secret of; empty if the client named none.</summary>
        public readonly byte[] ServerKey;
        /// <summary>What the backend has written into the token.</summary>
        public readonly byte[] UserData;

        internal Secured(byte[] bytes)
        {
            Suite = (Suite)bytes[4];
            PskNumber = bytes[5] != 0 ? BitConverter.ToUInt32(bytes, 16) : (uint?)null;
            ClientId = bytes[6] != 0 ? BitConverter.ToUInt64(bytes, 8) : (ulong?)null;
            Binding = Part(bytes, 24, 32);
            ServerKey = Part(bytes, 56, bytes[7]);
            UserData = Part(bytes, 121, (int)BitConverter.ToUInt32(bytes, 20));
        }

        static byte[] Part(byte[] bytes, int offset, int count)
        {
            var part = new byte[count];
            Buffer.BlockCopy(bytes, offset, part, 0, count);
            return part;
        }
    }

    /// <summary>What a backend says of a client, and a game server believes: porous_claims.</summary>
    public sealed class Claims
    {
        /// <summary>The number by which servers know the token key.</summary>
        public byte KeyNumber;
        public Suite Suite;
        /// <summary>A server takes the token once.</summary>
        public bool SingleUse;
        public ulong ApplicationId, ClientId;
        /// <summary>In seconds since 1970 in UTC.</summary>
        public ulong Created, Expires;
        /// <summary>The servers that take the token, 4 at most; null: every one that has the key.</summary>
        public ulong[] Audiences;
        /// <summary>The token counts only from this address, whatever the port; as it is made: from everywhere.</summary>
        public Address Ip;
        /// <summary>What the application of the server reads, 255 bytes at most.</summary>
        public byte[] UserData;

        internal Native.Claims ToNative(Pins pins)
        {
            ulong[] audiences = Audiences ?? new ulong[0];
            if (audiences.Length > 4) throw new ArgumentException("a token names 4 servers at most");
            int count = audiences.Length;
            Array.Resize(ref audiences, 4);
            return new Native.Claims
            {
                Size = (uint)Library.Size<Native.Claims>(), KeyNumber = KeyNumber, Suite = Suite,
                SingleUse = (byte)(SingleUse ? 1 : 0), AudienceCount = (byte)count, ApplicationId = ApplicationId,
                ClientId = ClientId, Created = Created, Expires = Expires, Audiences0 = audiences[0],
                Audiences1 = audiences[1], Audiences2 = audiences[2], Audiences3 = audiences[3], Ip = Ip,
                UserData = pins.Pin(UserData), UserDataLen = (uint)(UserData == null ? 0 : UserData.Length),
            };
        }
    }

    /// <summary>A token, its secret, the addresses of servers and their key. A secret until it was used.</summary>
    public sealed class Ticket : SafeHandle
    {
        Ticket(IntPtr ticket) : base(IntPtr.Zero, true) { SetHandle(ticket); }

        /// <summary>Makes a ticket by a token key of 32 bytes that the servers have: a backend's work.</summary>
        public static Ticket Mint(byte[] tokenKey, Claims claims)
        {
            Library.Require();
            IntPtr ticket;
            using (var pins = new Pins())
            {
                Native.Claims native = claims.ToNative(pins);
                Library.Check(Native.porous_ticket_mint(
                    ref Library.At(Library.Exactly32(tokenKey), 0, 32), ref native, out ticket));
            }
            return new Ticket(ticket);
        }

        /// <summary>Reads a ticket from the text that a backend passes on.</summary>
        public static Ticket FromText(string text)
        {
            Library.Require();
            IntPtr ticket;
            Library.Check(Native.porous_ticket_from_text(Library.Utf8(text), out ticket));
            return new Ticket(ticket);
        }

        public static Ticket FromBytes(byte[] bytes)
        {
            Library.Require();
            IntPtr ticket;
            Library.Check(Native.porous_ticket_from_bytes(
                ref Library.At(bytes, 0, bytes.Length), (UIntPtr)bytes.Length, out ticket));
            return new Ticket(ticket);
        }

        public string ToText()
        {
            var text = new byte[2000];
            int count = Library.Check(Native.porous_ticket_to_text(this, ref text[0], (UIntPtr)text.Length));
            return Encoding.ASCII.GetString(text, 0, count);
        }

        public byte[] ToBytes()
        {
            var bytes = new byte[2000];
            int count = Native.porous_ticket_to_bytes(this, ref bytes[0], (UIntPtr)bytes.Length);
            Array.Resize(ref bytes, Library.Check(count));
            return bytes;
        }

        /// <summary>Where the servers are that take it, 32 at most.</summary>
        public Address[] Servers
        {
            get
            {
                var all = new Address[32];
                int count = Native.porous_ticket_servers(this, ref all[0], (UIntPtr)all.Length);
                Array.Resize(ref all, Library.Check(count));
                return all;
            }
            set
            {
                Address[] some = value.Length > 0 ? value : new Address[1];
                Library.Check(Native.porous_ticket_set_servers(this, ref some[0], (UIntPtr)value.Length));
            }
        }

        /// <summary>The public key by which the servers are known; empty if it has none.</summary>
        public byte[] ServerKey
        {
            get
            {
                var key = new byte[65];
                int count = Native.porous_ticket_server_key(this, ref key[0], (UIntPtr)key.Length);
                Array.Resize(ref key, Library.Check(count));
                return key;
            }
            set
            {
                Library.Check(Native.porous_ticket_set_server_key(
                    this, ref Library.At(value, 0, value.Length), (UIntPtr)value.Length));
            }
        }

        /// <summary>The token, for Credentials.</summary>
        public byte[] Token
        {
            get
            {
                var token = new byte[1000];
                int count = Native.porous_ticket_token(this, ref token[0], (UIntPtr)token.Length);
                Array.Resize(ref token, Library.Check(count));
                return token;
            }
        }

        /// <summary>The secret of the token, for Credentials.</summary>
        public byte[] Psk
        {
            get
            {
                var psk = new byte[32];
                Library.Check(Native.porous_ticket_psk(this, ref psk[0]));
                return psk;
            }
        }

        /// <summary>When the token expires, in seconds since 1970 in UTC.</summary>
        public ulong Expires
        {
            get { ulong seconds; Library.Check(Native.porous_ticket_expires(this, out seconds)); return seconds; }
        }

        public override bool IsInvalid { get { return handle == IntPtr.Zero; } }
        protected override bool ReleaseHandle() { Native.porous_ticket_free(handle); return true; }
    }

    /// <summary>Events and packets of a host in one order: Connected, then each packet as an event of the type
    /// Readable, and Disconnected behind the last packet. Makes no garbage.</summary>
    public sealed class Inbox
    {
        readonly Host host;
        byte[] buffer;
        Received what;
        Event current;
        ulong reading;

        /// <summary>The buffer grows up to the longest packet that comes.</summary>
        public Inbox(Host host, int bufferSize = 2048)
        {
            this.host = host;
            buffer = new byte[Math.Max(bufferSize, 1)];
        }

        /// <summary>The event that Next has taken; of a packet, one of the type Readable.</summary>
        public ref readonly Event Event { get { return ref current; } }
        /// <summary>The packet of an event of the type Readable, until the next call of Next.</summary>
        public ArraySegment<byte> Bytes { get { return new ArraySegment<byte>(buffer, 0, what.Length); } }
        /// <summary>The channel of the packet.</summary>
        public byte Channel { get { return what.Channel; } }
        /// <summary>How the packet was sent.</summary>
        public Mode Mode { get { return what.Mode; } }

        /// <summary>Takes the next event or packet. False: there is none until the host steps.</summary>
        public bool Next()
        {
            while (true)
            {
                if (reading != 0)
                {
                    Status status = host.Receive(reading, out what, buffer);
                    if (status == Status.Small)
                    {
                        buffer = new byte[Math.Max(what.Length, 2 * buffer.Length)];
                        continue;
                    }
                    if (Library.Check((int)status) > 0) return true;
                    reading = 0;
                    what = default(Received);
                }
                if (!host.Poll(ref current)) return false;
                if (current.Type != EventType.Readable) return true;
                reading = current.Peer;
            }
        }
    }

    /// <summary>The functions of the library, by their names. `ref byte` is the first byte of a buffer.</summary>
    internal static partial class Native
    {
#if (UNITY_IOS || UNITY_TVOS || UNITY_VISIONOS || UNITY_SWITCH || UNITY_PS4 || UNITY_PS5 || UNITY_GAMECORE) && !UNITY_EDITOR
        internal const string File = "__Internal";
#else
        internal const string File = "porous";
#endif
        const CallingConvention C = CallingConvention.Cdecl;

        [StructLayout(LayoutKind.Sequential)]
        internal struct Security
        {
            internal uint Size;
            internal byte AllowPlain, RequireProof, ManyPerClient, HasServerId;
            internal IntPtr Identities, Psks, TokenKeys;
            internal ulong ServerId, MaxTokenLifetimeUs, RekeyFrames, RekeyTimeUs;
            internal uint UsedTokens, IdentityCount, PskCount, TokenKeyCount;
        }

        [StructLayout(LayoutKind.Sequential)]
        internal struct Credentials
        {
            internal uint Size, PskNumber;
            internal IntPtr Ticket, ServerKey, Psk, Token, Greeting;
            internal uint ServerKeyLen, TokenLen, GreetingLen, Reserved;
        }

        [StructLayout(LayoutKind.Sequential)]
        internal struct Claims
        {
            internal uint Size;
            internal byte KeyNumber;
            internal Suite Suite;
            internal byte SingleUse, AudienceCount;
            internal ulong ApplicationId, ClientId, Created, Expires, Audiences0, Audiences1, Audiences2, Audiences3;
            internal Address Ip;
            internal IntPtr UserData;
            internal uint UserDataLen, Reserved;
        }

        [UnmanagedFunctionPointer(C)] internal delegate void Told(IntPtr user, IntPtr text, UIntPtr length);
        [UnmanagedFunctionPointer(C)] internal delegate void Release(IntPtr user);

        [DllImport(File, CallingConvention = C)] internal static extern uint porous_version();
        [DllImport(File, CallingConvention = C)] internal static extern int porous_check_abi(uint abi);
        [DllImport(File, CallingConvention = C)] internal static extern IntPtr porous_status_text(int status);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_io_error_text(ref byte text, UIntPtr cap);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_on_panic(Told told, IntPtr user);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_address_parse(byte[] text, out Address address);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_address_format(ref Address address, ref byte text, UIntPtr cap);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_resolve(byte[] name, ref Address found, UIntPtr cap);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_config_init(out Config config, UIntPtr size, uint preset);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_config_check(ref Config config);
        [DllImport(File, CallingConvention = C)] internal static extern int porous_host_free(IntPtr host);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_core_new(ref Config config, ref byte seed, out IntPtr host);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_core_time(Host host, ulong now);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_core_input(Host host, ref Address from, uint ecn, ref byte data,
            UIntPtr length);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_core_output(Host host, out Transmit transmit, ref byte buffer,
            UIntPtr cap);
        [DllImport(File, CallingConvention = C)] internal static extern int porous_core_timeout(Host host);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_core_deadline(Host host, out ulong at);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_core_buffer_size(Host host, out ulong bytes);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_core_unreachable(Host host, ref Address to);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_core_port_closed(Host host, ref Address at);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_core_backlog(Host host, uint waits);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_core_unix_time(Host host, ulong seconds);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_udp_bind(ref Config config, byte[] address, out IntPtr host);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_udp_bind_shards(ref Config config, byte[] address, uint count,
            ref IntPtr first);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_udp_adopt(ref Config config, IntPtr socket, out IntPtr host);
        [DllImport(File, CallingConvention = C)] internal static extern int porous_udp_step(Host host);
        [DllImport(File, CallingConvention = C)] internal static extern int porous_udp_transmit(Host host);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_udp_wait(Host host, ulong atMost);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_udp_close(Host host, uint code, ulong flushAtMost);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_udp_address(Host host, out Address address);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_udp_socket(Host host, out IntPtr socket);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_udp_deadline(Host host, out ulong fromNow);
        [DllImport(File, CallingConvention = C)] internal static extern int porous_udp_is_blocked(Host host);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_udp_set_time_limit(Host host, ulong limit);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_udp_set_suffix(Host host, ref Address to, ref byte suffix, UIntPtr length);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_set_connection_ids(Host host, ref byte ids);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_listen(Host host, uint policy);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_connect(Host host, ref Address to, out ulong peer);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_connect_any(Host host, ref Address to, UIntPtr count,
            ref byte greeting, UIntPtr length, out ulong peer);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_accept(Host host, ulong peer);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_refuse(Host host, ulong peer, ref byte data, UIntPtr length);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_disconnect(Host host, ulong peer, uint code, ulong flushAtMost);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_disconnect_all(Host host, uint code, ulong flushAtMost);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_drain(Host host, uint code, ulong atMost);
        [DllImport(File, CallingConvention = C)] internal static extern int porous_is_empty(Host host);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_peers(Host host, ref ulong peers, UIntPtr cap);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_readable(Host host, ref ulong peers, UIntPtr cap);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_peer_address(Host host, ulong peer, out Address address);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_peer_greeting(Host host, ulong peer, ref byte greeting, UIntPtr cap);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_peer_state(Host host, ulong peer);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_poll_event(Host host, ref Event what);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_send(Host host, ulong peer, byte channel, uint mode, ref byte data,
            UIntPtr length);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_send_with(Host host, ulong peer, byte channel, ref byte data,
            UIntPtr length, ref SendOptions options);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_send_blob(Host host, ulong peer, byte channel, Blob blob,
            ref SendOptions options);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_cancel(Host host, ulong peer, byte channel, ulong receipt);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_set_send_rate(Host host, ulong peer, uint rate);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_set_receive_rate(Host host, ulong peer, uint rate);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_set_channel_rate(Host host, ulong peer, byte channel, uint rate);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_set_host_send_rate(Host host, uint rate);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_receive(Host host, ulong peer, out Received what, ref byte buffer,
            UIntPtr cap);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_receive_packet(Host host, ulong peer, out Received what,
            out IntPtr packet);
        [DllImport(File, CallingConvention = C)]
        internal static extern IntPtr porous_packet_data(Packet packet, out UIntPtr length);
        [DllImport(File, CallingConvention = C)] internal static extern void porous_packet_free(IntPtr packet);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_blob_copy(ref byte data, UIntPtr length, out IntPtr blob);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_blob_wrap(IntPtr data, UIntPtr length, Release release, IntPtr user,
            out IntPtr blob);
        [DllImport(File, CallingConvention = C)] internal static extern void porous_blob_free(IntPtr blob);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_peer_info(Host host, ulong peer, ref PeerStats stats);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_channel_info(Host host, ulong peer, byte channel,
            ref ChannelStats stats);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_host_info(Host host, ref ulong stats);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_send_progress(Host host, ulong peer, byte channel, ulong receipt,
            ref Progress progress);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_receive_progress(Host host, ulong peer, byte channel,
            ref Progress progress);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_set_security(Host host, ref Security security);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_key_generate(ref byte secret);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_public_key(ref byte secret, ref byte key);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_connect_sealed(Host host, ref Address to, UIntPtr count, ref Credentials with, out ulong peer);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_peer_secured(Host host, ulong peer, ref byte secured);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_peer_export(Host host, ulong peer, ref byte label, UIntPtr length, ref byte secret);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_ticket_mint(ref byte tokenKey, ref Claims claims, out IntPtr ticket);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_ticket_set_servers(Ticket ticket, ref Address servers, UIntPtr count);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_ticket_set_server_key(Ticket ticket, ref byte key, UIntPtr length);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_ticket_from_text(byte[] text, out IntPtr ticket);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_ticket_from_bytes(ref byte data, UIntPtr length, out IntPtr ticket);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_ticket_to_text(Ticket ticket, ref byte text, UIntPtr cap);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_ticket_to_bytes(Ticket ticket, ref byte buffer, UIntPtr cap);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_ticket_servers(Ticket ticket, ref Address servers, UIntPtr cap);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_ticket_server_key(Ticket ticket, ref byte buffer, UIntPtr cap);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_ticket_token(Ticket ticket, ref byte buffer, UIntPtr cap);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_ticket_psk(Ticket ticket, ref byte psk);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_ticket_expires(Ticket ticket, out ulong seconds);
        [DllImport(File, CallingConvention = C)] internal static extern void porous_ticket_free(IntPtr ticket);
        [DllImport(File, CallingConvention = C, EntryPoint = "porous_core_port_closed")]
        internal static extern int PortClosedSomewhere(Host host, IntPtr nowhere);
    }
}
