// A host in a thread of its own: a second file, beside Porous.cs, for programs whose turns are long. The thread of the
// library answers and acknowledges at once, however long a turn is.
//
// All calls but Close and Dispose queue a command, and never block. What becomes of a command, and what comes, is told
// by Poll. One thread of the program at a time uses it.

using System;
using System.Runtime.InteropServices;

namespace Porous
{
    /// <summary>What a network thread tells: POROUS_OUTPUT_ of the header.</summary>
    public enum OutputType : uint
    {
        None = 0, Event = 1, Packet = 2, Connecting = 3, NotConnecting = 4, NotListening = 5, NotAnswered = 6,
        Unsent = 7, Stats = 8, PeerStats = 9, SendProgress = 10, ReceiveProgress = 11, Ended = 12,
        NotSuffixed = 13, IdsUnchanged = 14,
    }

#pragma warning disable 169, 414, 649
    /// <summary>What a network thread tells: porous_output. Fields that do not belong to the type are 0.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct Output
    {
        internal uint size;
        public OutputType Type;
        public ulong Peer;
        internal IntPtr packet;
        public Received What;
        public ulong Receipt;
        public Progress Progress;
        public Address Address;
        public Status Status;
        uint isKnown;
        public Event Event;

        /// <summary>True if there is what was asked for.</summary>
        public bool IsKnown { get { return isKnown != 0; } }
    }
#pragma warning restore 169, 414, 649

    /// <summary>A host on a socket in a thread of its own. Dispose it: the connections end at once.</summary>
    public sealed class HostThread : SafeHandle
    {
        const uint OutputSize = 296;
        IntPtr held;

        HostThread(IntPtr thread) : base(IntPtr.Zero, true) { SetHandle(thread); }

        public override bool IsInvalid { get { return handle == IntPtr.Zero; } }

        protected override bool ReleaseHandle()
        {
            Native.porous_packet_free(held);
            held = IntPtr.Zero;
            return Native.porous_thread_free(handle) == 0;
        }

        /// <summary>As Host.Bind, in a thread.</summary>
        public static HostThread Bind(string address, Config config, Channel[] channels = null)
        {
            Library.Require();
            IntPtr thread;
            using (new Config.Pinned(ref config, channels))
            {
                Library.Check(Native.porous_thread_bind(ref config, Library.Utf8(address), out thread));
            }
            return Checked(thread);
        }

        /// <summary>As Host.Adopt, in a thread.</summary>
        public static HostThread Adopt(IntPtr socket, Config config, Channel[] channels = null)
        {
            Library.Require();
            IntPtr thread;
            using (new Config.Pinned(ref config, channels))
            {
                Library.Check(Native.porous_thread_adopt(ref config, socket, out thread));
            }
            return Checked(thread);
        }

        static HostThread Checked(IntPtr thread)
        {
            if (Library.Size<Output>() == OutputSize || IntPtr.Size != 8) return new HostThread(thread);
            Native.porous_thread_free(thread);
            throw new PorousException(Status.Version, "PorousThread.cs and the library are of different versions");
        }

        /// <summary>Takes the next thing that the thread tells. False: there is none. The packet of the one before is
        /// freed, unless it was taken.</summary>
        public bool Poll(ref Output output)
        {
            Native.porous_packet_free(held);
            held = IntPtr.Zero;
            output.size = (uint)Library.Size<Output>();
            bool isThere = Library.Check(Native.porous_thread_poll(this, ref output)) > 0;
            if (isThere) held = output.packet;
            return isThere;
        }

        /// <summary>Copies the packet of the last Poll, of the type Packet or Unsent, and returns its length. Nothing is
        /// copied of a packet that is longer than the buffer.</summary>
        public int CopyPacket(byte[] buffer, int offset = 0)
        {
            if (IsClosed) throw new ObjectDisposedException("HostThread");
            UIntPtr length;
            IntPtr data = Native.PacketData(held, out length);
            int count = (int)length;
            if (count > 0 && offset >= 0 && count <= buffer.Length - offset) Marshal.Copy(data, buffer, offset, count);
            GC.KeepAlive(this);
            return count;
        }

        /// <summary>Takes the packet of the last Poll, to be kept and disposed; null if there is none.</summary>
        public Packet TakePacket()
        {
            if (IsClosed) throw new ObjectDisposedException("HostThread");
            if (held == IntPtr.Zero) return null;
            var packet = new Packet(held);
            held = IntPtr.Zero;
            return packet;
        }

        /// <summary>Sends the packet of the last Poll again, of the type Unsent, as it was sent before.</summary>
        public Status SendAgain(ulong peer, byte channel)
        {
            return (Status)Native.porous_thread_send_packet(this, peer, channel, held);
        }

        /// <summary>The address that the socket is bound to.</summary>
        public Address LocalAddress
        {
            get { Address address; Library.Check(Native.porous_thread_address(this, out address)); return address; }
        }

        /// <summary>Ends all connections and the thread, and blocks until the end. Dispose it afterwards.</summary>
        public void Close(uint code, ulong flushAtMostUs)
        {
            Library.Check(Native.porous_thread_close(this, code, flushAtMostUs));
        }

        // Commands. Each may be answered with Status.ThreadFull: poll, and try again in the next turn.

        public Status Listen(Listen policy) { return (Status)Native.porous_thread_listen(this, (uint)policy); }

        /// <summary>OutputType.Connecting names the peer, or NotConnecting says why not.</summary>
        public Status Connect(Address[] to, byte[] greeting = null)
        {
            Address[] some = to.Length > 0 ? to : new Address[1];
            int count = greeting == null ? 0 : greeting.Length;
            return (Status)Native.porous_thread_connect(
                this, ref some[0], (UIntPtr)to.Length, ref Library.At(greeting, 0, count), (UIntPtr)count);
        }

        /// <summary>As Connect, sealed.</summary>
        public Status ConnectSealed(Address[] to, Credentials with)
        {
            Address[] some = to.Length > 0 ? to : new Address[1];
            Status status;
            using (var pins = new Pins())
            {
                Native.Credentials native = with.ToNative(pins);
                status = (Status)Native.porous_thread_connect_sealed(this, ref some[0], (UIntPtr)to.Length, ref native);
            }
            GC.KeepAlive(with);
            return status;
        }

        public Status SetSecurity(Security security)
        {
            using (var pins = new Pins())
            {
                Native.Security native = security.ToNative(pins);
                return (Status)Native.porous_thread_set_security(this, ref native);
            }
        }

        public Status Accept(ulong peer) { return (Status)Native.porous_thread_accept(this, peer); }

        public Status Refuse(ulong peer, byte[] data = null)
        {
            int count = data == null ? 0 : data.Length;
            return (Status)Native.porous_thread_refuse(
                this, peer, ref Library.At(data, 0, count), (UIntPtr)count);
        }

        /// <summary>Queues a copy of the bytes. What only the host can find brings it back as Unsent.</summary>
        public Status Send(ulong peer, byte channel, SendOptions options, byte[] data, int offset, int count)
        {
            options.size = (uint)Library.Size<SendOptions>();
            return (Status)Native.porous_thread_send(
                this, peer, channel, ref Library.At(data, offset, count), (UIntPtr)count, ref options);
        }

        public Status Send(ulong peer, byte channel, Mode mode, byte[] data)
        {
            return Send(peer, channel, new SendOptions(mode), data, 0, data.Length);
        }

        /// <summary>As Send, without a copy.</summary>
        public Status Send(ulong peer, byte channel, SendOptions options, Blob blob)
        {
            options.size = (uint)Library.Size<SendOptions>();
            return (Status)Native.porous_thread_send_blob(this, peer, channel, blob, ref options);
        }

        public Status Cancel(ulong peer, byte channel, ulong receipt)
        {
            return (Status)Native.porous_thread_cancel(this, peer, channel, receipt);
        }

        public Status Disconnect(ulong peer, uint code = 0, ulong flushAtMostUs = 0)
        {
            return (Status)Native.porous_thread_disconnect(this, peer, code, flushAtMostUs);
        }

        /// <summary>As Host.Drain. EventType.Disconnected follows of each peer; then Close.</summary>
        public Status Drain(uint code, ulong atMostUs)
        {
            return (Status)Native.porous_thread_drain(this, code, atMostUs);
        }

        /// <summary>As Host.SetSuffix. OutputType.NotSuffixed tells if it was too long, or too late.</summary>
        public Status SetSuffix(Address to, byte[] suffix)
        {
            return (Status)Native.porous_thread_set_suffix(
                this, ref to, ref Library.At(suffix, 0, suffix.Length), (UIntPtr)suffix.Length);
        }

        /// <summary>As Host.SetConnectionIds. OutputType.IdsUnchanged tells if this host cannot make such ids.</summary>
        public Status SetConnectionIds(ConnectionIds ids)
        {
            return (Status)Native.porous_thread_set_connection_ids(this, ref ids.bytes[0]);
        }

        public Status SetSendRate(ulong peer, uint rate)
        {
            return (Status)Native.porous_thread_set_send_rate(this, peer, rate);
        }

        public Status SetReceiveRate(ulong peer, uint rate)
        {
            return (Status)Native.porous_thread_set_receive_rate(this, peer, rate);
        }

        public Status SetChannelRate(ulong peer, byte channel, uint rate)
        {
            return (Status)Native.porous_thread_set_channel_rate(this, peer, channel, rate);
        }

        public Status SetHostSendRate(uint rate) { return (Status)Native.porous_thread_set_host_send_rate(this, rate); }

        // Questions, which outputs answer.

        /// <summary>OutputType.Stats follows, and then Info.</summary>
        public Status AskStats() { return (Status)Native.porous_thread_ask_stats(this); }
        /// <summary>OutputType.PeerStats follows, and then Info.</summary>
        public Status AskPeerStats(ulong peer) { return (Status)Native.porous_thread_ask_peer_stats(this, peer); }
        /// <summary>OutputType.SendProgress follows.</summary>
        public Status AskSendProgress(ulong peer, byte channel, ulong receipt)
        {
            return (Status)Native.porous_thread_ask_send_progress(this, peer, channel, receipt);
        }
        /// <summary>OutputType.ReceiveProgress follows.</summary>
        public Status AskReceiveProgress(ulong peer, byte channel)
        {
            return (Status)Native.porous_thread_ask_receive_progress(this, peer, channel);
        }
        /// <summary>What the last OutputType.Stats has told.</summary>
        public void Info(HostStats stats) { Library.Check(Native.porous_thread_stats(this, ref stats.words[0])); }
        /// <summary>What the last OutputType.PeerStats has told.</summary>
        public void Info(out PeerStats stats)
        {
            stats = new PeerStats { size = (uint)Library.Size<PeerStats>() };
            Library.Check(Native.porous_thread_peer_stats(this, ref stats));
        }

        /// <summary>What a remote application said with its request; empty if it said nothing.</summary>
        public byte[] Greeting(ulong peer)
        {
            var greeting = new byte[255];
            int count = Native.porous_thread_greeting(this, peer, ref greeting[0], (UIntPtr)greeting.Length);
            Array.Resize(ref greeting, count == (int)Status.UnknownPeer ? 0 : Library.Check(count));
            return greeting;
        }

        /// <summary>What is proved of a connection; null if it is plain, or not there.</summary>
        public Secured Secured(ulong peer)
        {
            var bytes = new byte[Porous.Secured.Size];
            BitConverter.GetBytes((uint)bytes.Length).CopyTo(bytes, 0);
            int status = Native.porous_thread_secured(this, peer, ref bytes[0]);
            bool isSealed = status != (int)Status.UnknownPeer && Library.Check(status) > 0;
            return isSealed ? new Secured(bytes) : null;
        }
    }

    internal static partial class Native
    {
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_thread_bind(ref Config config, byte[] address, out IntPtr thread);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_thread_adopt(ref Config config, IntPtr socket, out IntPtr thread);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_thread_poll(HostThread thread, ref Output output);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_thread_address(HostThread thread, out Address address);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_thread_stats(HostThread thread, ref ulong stats);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_thread_peer_stats(HostThread thread, ref PeerStats stats);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_thread_close(HostThread thread, uint code, ulong flushAtMost);
        [DllImport(File, CallingConvention = C)] internal static extern int porous_thread_free(IntPtr thread);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_thread_listen(HostThread thread, uint policy);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_thread_connect(HostThread thread, ref Address to, UIntPtr count,
            ref byte greeting, UIntPtr length);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_thread_connect_sealed(HostThread thread, ref Address to, UIntPtr count,
            ref Credentials with);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_thread_set_security(HostThread thread, ref Security security);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_thread_accept(HostThread thread, ulong peer);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_thread_refuse(HostThread thread, ulong peer, ref byte data, UIntPtr length);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_thread_send(HostThread thread, ulong peer, byte channel, ref byte data,
            UIntPtr length, ref SendOptions options);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_thread_send_blob(HostThread thread, ulong peer, byte channel, Blob blob,
            ref SendOptions options);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_thread_send_packet(HostThread thread, ulong peer, byte channel,
            IntPtr packet);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_thread_cancel(HostThread thread, ulong peer, byte channel, ulong receipt);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_thread_disconnect(HostThread thread, ulong peer, uint code,
            ulong flushAtMost);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_thread_drain(HostThread thread, uint code, ulong atMost);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_thread_set_suffix(HostThread thread, ref Address to, ref byte suffix,
            UIntPtr length);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_thread_set_connection_ids(HostThread thread, ref byte ids);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_thread_ask_stats(HostThread thread);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_thread_ask_peer_stats(HostThread thread, ulong peer);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_thread_ask_send_progress(HostThread thread, ulong peer, byte channel,
            ulong receipt);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_thread_ask_receive_progress(HostThread thread, ulong peer, byte channel);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_thread_set_send_rate(HostThread thread, ulong peer, uint rate);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_thread_set_receive_rate(HostThread thread, ulong peer, uint rate);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_thread_set_channel_rate(HostThread thread, ulong peer, byte channel,
            uint rate);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_thread_set_host_send_rate(HostThread thread, uint rate);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_thread_greeting(HostThread thread, ulong peer, ref byte greeting,
            UIntPtr cap);
        [DllImport(File, CallingConvention = C)]
        internal static extern int porous_thread_secured(HostThread thread, ulong peer, ref byte secured);
        [DllImport(File, CallingConvention = C, EntryPoint = "porous_packet_data")]
        internal static extern IntPtr PacketData(IntPtr packet, out UIntPtr length);
    }
}
