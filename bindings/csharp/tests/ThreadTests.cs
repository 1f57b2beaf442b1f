// Hosts in threads of their own.

using System;
using System.Collections.Generic;
using System.Linq;
using System.Text;

namespace Porous.Tests
{
    public static class ThreadTests
    {
        /// <summary>A server and a client, each in a thread, and what they have told.</summary>
        sealed class Threads : IDisposable
        {
            internal readonly HostThread Server, Client;
            internal readonly List<Output> AtServer = new List<Output>(), AtClient = new List<Output>();
            internal readonly List<byte[]> PacketsAtServer = new List<byte[]>(), PacketsAtClient = new List<byte[]>();
            internal ulong ToServer, ToClient;

            internal Threads(Func<Config, Config> configure = null, Channel[] channels = null)
            {
                configure = configure ?? (config => config);
                Server = HostThread.Bind("127.0.0.1:0", configure(Config.Of(Preset.Default)), channels);
                Client = HostThread.Bind("127.0.0.1:0", configure(Config.Of(Preset.Client)), channels);
            }

            internal Address[] Where { get { return new[] { Server.LocalAddress }; } }

            internal void Turn()
            {
                Poll(Server, AtServer, PacketsAtServer);
                Poll(Client, AtClient, PacketsAtClient);
            }

            static void Poll(HostThread thread, List<Output> into, List<byte[]> packets)
            {
                var output = new Output();
                while (thread.Poll(ref output))
                {
                    into.Add(output);
                    if (output.Type != OutputType.Packet) continue;
                    var packet = new byte[output.What.Length];
                    Check.Equal(packet.Length, thread.CopyPacket(packet), "length");
                    packets.Add(packet);
                }
            }

            internal Output Await(List<Output> outputs, OutputType type)
            {
                Check.Until(() => outputs.Any(o => o.Type == type), Turn, "the output " + type);
                return outputs.First(o => o.Type == type);
            }

            internal Event Await(List<Output> outputs, EventType type)
            {
                Func<Output, bool> wanted = o => o.Type == OutputType.Event && o.Event.Type == type;
                Check.Until(() => outputs.Any(wanted), Turn, "the event " + type);
                return outputs.First(wanted).Event;
            }

            internal Threads Connected()
            {
                Check.Equal(Status.Ok, Server.Listen(Listen.Open), "listen");
                Check.Equal(Status.Ok, Client.Connect(Where, Encoding.UTF8.GetBytes("hello")), "connect");
                ToServer = Await(AtClient, OutputType.Connecting).Peer;
                Check.Equal(ToServer, Await(AtClient, EventType.Connected).Peer, "peer");
                ToClient = Await(AtServer, EventType.Connected).Peer;
                return this;
            }

            public void Dispose()
            {
                Client.Dispose();
                Server.Dispose();
            }
        }

        public static void threads_connect_and_talk_while_the_program_sleeps()
        {
            using (var threads = new Threads().Connected())
            {
                Check.Equal("hello", Encoding.UTF8.GetString(threads.Server.Greeting(threads.ToClient)), "greeting");
                Check.Equal(0, threads.Server.Greeting(12345).Length, "greeting of nobody");
                Check.That(threads.Server.Secured(threads.ToClient) == null, "plain");
                Check.That(threads.Server.Secured(12345) == null, "nobody");
                byte[] large = Enumerable.Range(0, 100000).Select(i => (byte)(i * 3)).ToArray();
                var options = new SendOptions(Mode.Reliable) { Receipt = 9 };
                Check.Equal(Status.Ok, threads.Client.Send(threads.ToServer, 0, options, large, 1, 99999), "send");
                using (Blob blob = Blob.Copy(large, 0, 10)) threads.Client.Send(threads.ToServer, 0, options, blob);
                threads.Client.Send(threads.ToServer, 0, Mode.Reliable, new byte[0]);
                Check.Until(() => threads.PacketsAtServer.Count == 3, threads.Turn, "packets");
                Check.Bytes(large.Skip(1).ToArray(), threads.PacketsAtServer[0], "first");
                Check.Bytes(large.Take(10).ToArray(), threads.PacketsAtServer[1], "second");
                Check.Equal(0, threads.PacketsAtServer[2].Length, "third");
                Check.Equal(9UL, threads.Await(threads.AtClient, EventType.Receipt).Token, "receipt");
                threads.Client.Disconnect(threads.ToServer, 7, 10000000);
                Check.Equal(7U, threads.Await(threads.AtServer, EventType.Disconnected).Code, "code");
                threads.Server.Close(0, 0);
                Check.Throws(Status.ThreadEnded, () => threads.Server.Close(0, 0));
                Check.Equal(Status.ThreadEnded, threads.Server.Listen(Listen.Open), "a thread that was closed");
            }
        }

        public static void a_packet_is_taken_or_freed_by_the_next_poll()
        {
            using (var threads = new Threads().Connected())
            {
                for (byte i = 1; i <= 3; i++) threads.Client.Send(threads.ToServer, 0, Mode.Reliable, new[] { i, i });
                var output = new Output();
                Packet kept = null;
                var small = new byte[1];
                int count = 0;
                Check.Until(() => count == 3, () =>
                {
                    while (threads.Server.Poll(ref output))
                    {
                        if (output.Type != OutputType.Packet) continue;
                        count++;
                        Check.Equal(2, threads.Server.CopyPacket(small), "length");
                        Check.Equal(0, (int)small[0], "nothing of a packet that does not fit");
                        if (count == 1) kept = threads.Server.TakePacket();
                    }
                    Check.That(threads.Server.TakePacket() == null, "no packet");
                    Check.Equal(0, threads.Server.CopyPacket(small), "no packet");
                }, "packets");
                Check.Bytes(new byte[] { 1, 1 }, kept.ToArray(), "the packet that was kept");
                kept.Dispose();
            }
        }

        public static void a_thread_that_is_disposed_has_no_packet()
        {
            using (var threads = new Threads().Connected())
            {
                threads.Client.Send(threads.ToServer, 0, Mode.Reliable, new byte[] { 7 });
                var output = new Output();
                Check.Until(() => output.Type == OutputType.Packet, () => { threads.Server.Poll(ref output); }, "a packet");
                threads.Server.Dispose();
                Check.Throws<ObjectDisposedException>(() => threads.Server.TakePacket(), "take");
                Check.Throws<ObjectDisposedException>(() => threads.Server.CopyPacket(new byte[1]), "copy");
            }
        }

        public static void questions_are_answered()
        {
            using (var threads = new Threads().Connected())
            {
                Check.Equal(Status.Ok, threads.Server.AskStats(), "ask");
                threads.Await(threads.AtServer, OutputType.Stats);
                var host = new HostStats();
                threads.Server.Info(host);
                Check.Equal(1UL, host.Accepted, "accepted");
                Check.Equal(Status.Ok, threads.Client.AskPeerStats(threads.ToServer), "ask");
                Output known = threads.Await(threads.AtClient, OutputType.PeerStats);
                Check.That(known.IsKnown && known.Peer == threads.ToServer, "which peer");
                PeerStats stats;
                threads.Client.Info(out stats);
                Check.That(stats.DatagramsSent > 1, "datagrams");
                Check.Equal(Status.Ok, threads.Client.AskSendProgress(threads.ToServer, 0, 5), "ask");
                Output progress = threads.Await(threads.AtClient, OutputType.SendProgress);
                Check.That(!progress.IsKnown && progress.Receipt == 5, "no progress");
                Check.Equal(Status.Ok, threads.Client.AskReceiveProgress(threads.ToServer, 0), "ask");
                Check.That(!threads.Await(threads.AtClient, OutputType.ReceiveProgress).IsKnown, "no progress");
                Check.Equal(Status.Ok, threads.Client.SetSendRate(threads.ToServer, 1000000), "rate");
                Check.Equal(Status.Ok, threads.Client.SetReceiveRate(threads.ToServer, 1000000), "rate");
                Check.Equal(Status.Ok, threads.Client.SetChannelRate(threads.ToServer, 0, 1000000), "rate");
                Check.Equal(Status.Ok, threads.Client.SetHostSendRate(1000000), "rate");
                Check.Equal(Status.Ok, threads.Client.Cancel(threads.ToServer, 0, 5), "cancel");
            }
        }

        public static void the_application_refuses_and_accepts_from_a_thread()
        {
            using (var threads = new Threads())
            {
                threads.Server.Listen(Listen.Ask);
                threads.Client.Connect(threads.Where);
                Event request = threads.Await(threads.AtServer, EventType.Request);
                Check.Equal(Status.TooLong, threads.Server.Refuse(request.Peer, new byte[65]), "65 bytes");
                Check.Equal(Status.Ok, threads.Server.Refuse(request.Peer, new byte[] { 5 }), "refuse");
                Check.Bytes(new byte[] { 5 }, threads.Await(threads.AtClient, EventType.Disconnected).Data(), "what it said");
                threads.Server.Accept(request.Peer);
                Check.Equal(request.Peer, threads.Await(threads.AtServer, OutputType.NotAnswered).Peer, "too late");
                threads.AtServer.Clear();
                threads.AtClient.Clear();
                threads.Client.Connect(threads.Where);
                threads.Server.Accept(threads.Await(threads.AtServer, EventType.Request).Peer);
                threads.Await(threads.AtClient, EventType.Connected);
            }
        }

        public static void what_cannot_be_done_is_told()
        {
            using (var threads = new Threads(c => { c.SendBudget = 3000; return c; }).Connected())
            {
                threads.Client.Listen(Listen.Open);
                Check.Equal(Status.CannotListen, threads.Await(threads.AtClient, OutputType.NotListening).Status, "listen");
                threads.Client.Connect(new[] { Address.Parse("127.0.0.1:0") });
                Output not = threads.Await(threads.AtClient, OutputType.NotConnecting);
                Check.Equal(Status.AddressPortZero, not.Status, "connect");
                Check.Equal(Address.Parse("127.0.0.1:0"), not.Address, "where to");

                // The budget holds three. A thread that gets few of them at a time may have room for all, so until
                // one comes back.
                var output = new Output();
                Check.Until(() => threads.Client.Poll(ref output) && output.Type == OutputType.Unsent, () =>
                {
                    for (byte i = 0; i < 10; i++) threads.Client.Send(threads.ToServer, 0, Mode.Reliable, new byte[900]);
                }, "unsent");
                Check.Equal(Status.Full, output.Status, "status");
                Check.Equal(900, threads.Client.CopyPacket(new byte[900]), "the packet");
                Check.That(threads.Client.SendAgain(output.Peer, output.What.Channel) <= Status.Ok, "again");
            }
            Check.Throws(Status.ConfigWindow, () =>
            {
                Config config = Config.Of(Preset.Default);
                config.FrameWindow = 17;
                HostThread.Bind("127.0.0.1:0", config);
            });
            Check.Throws(Status.Value, () => HostThread.Adopt((IntPtr)(-1), Config.Of(Preset.Default)));
        }

        public static void settings_that_are_refused_are_told()
        {
            using (var threads = new Threads())
            {
                Address proxy = Address.Parse("127.0.0.1:9");
                Check.Equal(Status.Ok, threads.Client.SetSuffix(proxy, new byte[33]), "suffix");
                Output not = threads.Await(threads.AtClient, OutputType.NotSuffixed);
                Check.Equal(Status.TooLong, not.Status, "suffix");
                Check.Equal(proxy, not.Address, "of which address");
                Check.Equal(Status.Ok, threads.Client.SetConnectionIds(ConnectionIds.Sharded(2, 1)), "ids");
                Check.Equal(Status.IdsShard, threads.Await(threads.AtClient, OutputType.IdsUnchanged).Status, "ids");
            }
        }

        public static void a_thread_that_is_drained_lets_nobody_in()
        {
            using (var threads = new Threads().Connected())
            {
                Check.Equal(Status.Ok, threads.Server.Drain(9, 10000000), "drain");
                Check.Equal(9U, threads.Await(threads.AtClient, EventType.Disconnected).Code, "code");
                threads.AtClient.Clear();
                threads.Client.Connect(threads.Where);
                Check.Equal(Reason.RefusedFull, threads.Await(threads.AtClient, EventType.Disconnected).Reason, "reason");
            }
        }

        public static void a_thread_seals()
        {
            using (var threads = new Threads(c => { c.Suite0 = Suite.ChachaPoly; return c; }))
            {
                byte[] secret = Library.GenerateKey(), key = Library.PublicKey(secret);
                Check.Equal(Status.Ok, threads.Server.SetSecurity(new Security { Identities = new[] { secret } }), "keys");
                threads.Server.Listen(Listen.Open);
                threads.Client.ConnectSealed(threads.Where, new Credentials { ServerKey = key });
                ulong peer = threads.Await(threads.AtClient, EventType.Connected).Peer;
                Check.Bytes(key, threads.Client.Secured(peer).ServerKey, "key");
            }
        }

        public static void a_thread_that_is_disposed_throws()
        {
            var thread = HostThread.Bind("127.0.0.1:0", Config.Of(Preset.Default));
            thread.Dispose();
            var output = new Output();
            Check.Throws<ObjectDisposedException>(() => thread.Poll(ref output), "poll");
            Check.Throws<ObjectDisposedException>(() => thread.Listen(Listen.Open), "listen");
        }
    }
}
