// Two hosts that tests let talk: over UDP on the loopback interface, or over memory in virtual time.

using System;
using System.Collections.Generic;
using System.Linq;

namespace Porous.Tests
{
    /// <summary>A server and a client on loopback.</summary>
    public sealed class Pair : IDisposable
    {
        public readonly Host Server, Client;
        public readonly List<Event> AtServer = new List<Event>(), AtClient = new List<Event>();
        /// <summary>The peer of the client, and what the server calls the client.</summary>
        public ulong ToServer, ToClient;

        public Pair(Func<Config, Config> configure = null, Channel[] channels = null, Listen listen = Listen.Open)
        {
            configure = configure ?? (config => config);
            Server = Host.Bind("127.0.0.1:0", configure(Config.Of(Preset.Default)), channels);
            Client = Host.Bind("127.0.0.1:0", configure(Config.Of(Preset.Client)), channels);
            Server.Listen(listen);
        }

        /// <summary>A pair that is connected.</summary>
        public static Pair Connected(Func<Config, Config> configure = null, Channel[] channels = null)
        {
            var pair = new Pair(configure, channels);
            pair.ToServer = pair.Client.Connect(pair.Server.LocalAddress);
            pair.Await(pair.AtServer, EventType.Connected);
            pair.Await(pair.AtClient, EventType.Connected);
            pair.ToClient = pair.AtServer.First(e => e.Type == EventType.Connected).Peer;
            return pair;
        }

        public void Turn()
        {
            Server.Step();
            Client.Step();
            Poll(Server, AtServer);
            Poll(Client, AtClient);
        }

        static void Poll(Host host, List<Event> into)
        {
            var what = new Event();
            while (host.Poll(ref what)) into.Add(what);
        }

        /// <summary>The first event of this type, when it has come.</summary>
        public Event Await(List<Event> events, EventType type)
        {
            Check.Until(() => events.Any(e => e.Type == type), Turn, "the event " + type);
            return events.First(e => e.Type == type);
        }

        /// <summary>The next packet that comes from a peer.</summary>
        public byte[] Next(Host host, ulong peer, out Received what)
        {
            var buffer = new byte[1 << 20];
            Received got = new Received();
            Check.Until(() => host.Receive(peer, out got, buffer) == Status.One, Turn, "a packet");
            what = got;
            Array.Resize(ref buffer, got.Length);
            return buffer;
        }

        public void Dispose()
        {
            Client.Dispose();
            Server.Dispose();
        }
    }

    /// <summary>Two hosts without sockets, whose datagrams take 10 ms of virtual time.</summary>
    public sealed class Wire : IDisposable
    {
        public readonly Host A, B;
        public readonly Address AddressA = Address.Own(new byte[] { 1 }), AddressB = Address.Own(new byte[] { 2 }, 7, 0);
        readonly Queue<KeyValuePair<ulong, byte[]>> toA = new Queue<KeyValuePair<ulong, byte[]>>();
        readonly Queue<KeyValuePair<ulong, byte[]>> toB = new Queue<KeyValuePair<ulong, byte[]>>();
        /// <summary>Why the first datagram of a stranger is ignored: it is answered with a cookie.</summary>
        const int AnsweredWithoutState = 7;
        /// <summary>Why a datagram is ignored that crosses a goodbye.</summary>
        const int NoUseInThisState = 14;
        public ulong Now { get; private set; }

        /// <summary>How many of the next datagrams are lost.</summary>
        public int Lose;

        public Wire(Channel[] channels = null)
        {
            var seed = new byte[32];
            seed[0] = 1;
            A = Host.WithoutSocket(Config.Of(Preset.Client), seed, channels);
            seed[0] = 2;
            B = Host.WithoutSocket(Config.Of(Preset.Default), seed, channels);
            B.Listen(Listen.Open);
        }

        /// <summary>A millisecond goes by.</summary>
        public void Turn()
        {
            Now += 1000;
            Turn(A, AddressB, toA, toB, AddressB);
            Turn(B, AddressA, toB, toA, AddressA);
        }

        void Turn(Host host, Address from, Queue<KeyValuePair<ulong, byte[]>> come,
            Queue<KeyValuePair<ulong, byte[]>> leave, Address to)
        {
            host.SetTime(Now);
            while (come.Count > 0 && come.Peek().Key <= Now)
            {
                byte[] datagram = come.Dequeue().Value;
                int cause = host.Input(from, Ecn.NotEct, datagram, 0, datagram.Length);
                Check.That(cause == 0 || cause == AnsweredWithoutState || cause == NoUseInThisState, "ignored for " + cause);
            }
            if (host.Deadline <= Now) host.Timeout();
            var buffer = new byte[host.BufferSize];
            Transmit transmit;
            while (host.Output(out transmit, buffer))
            {
                Check.Equal(to, transmit.To, "where a datagram goes");
                if (Lose > 0) Lose--;
                else leave.Enqueue(new KeyValuePair<ulong, byte[]>(Now + 10000, buffer.Take(transmit.Length).ToArray()));
            }
        }

        /// <summary>Turns until the next event of a host of this type, within ten virtual seconds.</summary>
        public Event Await(Host host, EventType type)
        {
            var what = new Event();
            for (int i = 0; i < 10000; i++)
            {
                while (host.Poll(ref what)) if (what.Type == type) return what;
                Turn();
            }
            throw new Failure("no event " + type);
        }

        public void Dispose()
        {
            A.Dispose();
            B.Dispose();
        }
    }
}
