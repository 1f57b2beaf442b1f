// A server that sends back what it gets, and a client that says hello and measures the way.
//
//     mcs -langversion:7.2 -out:echo.exe bindings/csharp/Porous.cs bindings/csharp/examples/Echo.cs
//     LD_LIBRARY_PATH=target/debug mono echo.exe               both in one program
//     LD_LIBRARY_PATH=target/debug mono echo.exe listen 4000   the server alone
//     LD_LIBRARY_PATH=target/debug mono echo.exe example.org:4000

using System;
using System.Diagnostics;
using System.Text;
using Porous;

static class Echo
{
    static int Main(string[] arguments)
    {
        if (arguments.Length == 2 && arguments[0] == "listen")
        {
            using (Host server = Serve("[::]:" + arguments[1]))
            {
                var inbox = new Inbox(server);
                while (true) Answer(server, inbox, 1000000);
            }
        }
        if (arguments.Length == 1)
        {
            Address[] found;
            Library.Resolve(arguments[0], out found);
            using (Host client = Host.Bind("0.0.0.0:0", Config.Of(Preset.Client)))
            {
                return Ask(client, Array.FindAll(found, a => a.Kind == AddressKind.Ipv4), null);
            }
        }
        using (Host server = Serve("127.0.0.1:0"))
        using (Host client = Host.Bind("127.0.0.1:0", Config.Of(Preset.Client)))
        {
            var inbox = new Inbox(server);
            return Ask(client, new[] { server.LocalAddress }, () => Answer(server, inbox, 0));
        }
    }

    static Host Serve(string address)
    {
        Host server = Host.Bind(address, Config.Of(Preset.Default));
        server.Listen(Listen.Open);
        Console.WriteLine("listening at " + server.LocalAddress);
        return server;
    }

    /// <summary>One turn of the server.</summary>
    static void Answer(Host server, Inbox inbox, ulong atMostUs)
    {
        server.Wait(atMostUs);
        while (inbox.Next())
        {
            if (inbox.Event.Type == EventType.Readable)
            {
                server.Send(inbox.Event.Peer, inbox.Channel, inbox.Mode, inbox.Bytes);
            }
            else
            {
                Console.WriteLine("server: " + inbox.Event.Type);
            }
        }
        server.Transmit();
    }

    /// <summary>Connects, sends, waits for the echo, and says goodbye. `other` is done in each turn.</summary>
    static int Ask(Host client, Address[] server, Action other)
    {
        ulong peer = client.ConnectAny(server);
        var inbox = new Inbox(client);
        var clock = new Stopwatch();
        while (true)
        {
            if (other != null) other();
            client.Wait(1000);
            while (inbox.Next())
            {
                switch (inbox.Event.Type)
                {
                    case EventType.Connected:
                        clock.Start();
                        client.Send(peer, 0, Mode.Reliable, Encoding.UTF8.GetBytes("hello"));
                        break;
                    case EventType.Readable:
                        ArraySegment<byte> bytes = inbox.Bytes;
                        string text = Encoding.UTF8.GetString(bytes.Array, bytes.Offset, bytes.Count);
                        Console.WriteLine("client: " + text + " after " + clock.Elapsed.TotalMilliseconds + " ms");
                        client.Disconnect(peer, 0, 1000000);
                        break;
                    case EventType.Disconnected:
                        Console.WriteLine("client: " + inbox.Event.Reason);
                        return inbox.Event.Reason == Reason.ByUs ? 0 : 1;
                }
            }
        }
    }
}
