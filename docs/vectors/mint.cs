// A token and a ticket in the few lines that a backend needs, with what .NET has: docs/wire.md, "Tokens", and the
// documentation of porous-token. Prints those of the examples, as in sealed.txt.
using System;
using System.Linq;
using System.Security.Cryptography;
using System.Text;

class Claims
{
    public ulong Application, Client, Created, Expires, Audience;
    public byte[] UserData = { };
}

class Mint
{
    static readonly byte[] Label = Encoding.ASCII.GetBytes("porous token");

    static byte[] Join(params byte[][] parts) => parts.SelectMany(part => part).ToArray();

    static byte[] U64(ulong number) => Enumerable.Range(0, 8).Select(i => (byte)(number >> (8 * i))).ToArray();

    static byte[] Mac(byte[] key, byte[] text)
    {
        using (var hmac = new HMACSHA256(key)) return hmac.ComputeHash(text);
    }

    // A token of version 2, of one use, for one server, and the psk that belongs to it.
    static byte[] Token(byte[] key, byte number, Claims say, byte[] random, out byte[] psk)
    {
        var head = Join(new byte[] { 2, number }, U64(say.Expires), random);
        // HKDF without info is these three, RFC 5869.
        var extracted = Mac(key, Join(Label, head));
        var sealing = Mac(extracted, new byte[] { 1 });
        psk = Mac(extracted, Join(sealing, new byte[] { 2 }));

        var body = Join(
            U64(say.Client), U64(say.Created),
            new byte[] { 1, 1 }, // single use; one audience
            U64(say.Audience), new[] { (byte)say.UserData.Length }, say.UserData);
        var text = new byte[body.Length];
        var tag = new byte[16];
        using (var gcm = new AesGcm(sealing, tag.Length)) // before .NET 8: without the length
        {
            gcm.Encrypt(new byte[12], body, text, tag, Join(Label, U64(say.Application), head));
        }
        return Join(head, text, tag);
    }

    // What the game gets, as base64: a token, its psk, and one server at an address of IPv4.
    static byte[] Ticket(byte[] token, byte[] psk, byte[] serverKey, byte[] ip, ushort port) =>
        Join(
            new byte[] { 1 }, psk, new[] { (byte)serverKey.Length }, serverKey,
            new byte[] { 1, 4 }, ip, new[] { (byte)port, (byte)(port >> 8) }, token);

    static byte[] Counting(int first, int length) => Enumerable.Range(first, length).Select(n => (byte)n).ToArray();

    static string Hex(byte[] bytes) => BitConverter.ToString(bytes).Replace("-", "").ToLowerInvariant();

    static void Main()
    {
        var key = Counting(0, 32); // shared with the game servers
        var serverKey = Convert.FromBase64String("pOCSkrZRwni5dyxWn1+puxPZBrRqtoyd+dwrRAn4ogk=");
        var random = Counting(0x40, 24); // of a backend: by RandomNumberGenerator
        var claims = new Claims
        {
            Application = 0x0123456789abcdef,
            Client = 42,
            Created = 1800000000,
            Expires = 1800000030,
            Audience = 0x51,
            UserData = Encoding.UTF8.GetBytes("ana"),
        };
        var token = Token(key, 7, claims, random, out var psk);
        Console.WriteLine("token of version 2 = " + Hex(token));
        Console.WriteLine("psk of version 2 = " + Hex(psk));
        Console.WriteLine("ticket = " + Hex(Ticket(token, psk, serverKey, new byte[] { 192, 0, 2, 1 }, 7777)));
    }
}
