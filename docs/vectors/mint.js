// Tokens and a ticket in the few lines that a backend needs, with what Node has: docs/wire.md, "Tokens", and the
// documentation of porous-token. Prints those of the examples, as in sealed.txt.
const crypto = require('crypto');

const LABEL = Buffer.from('porous token');
const CIPHERS = { 1: 'chacha20-poly1305', 2: 'aes-256-gcm' };

const u64 = (number) => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(number));
  return bytes;
};

// A token of one use for one server, and the psk that belongs to it.
const mint = (version, key, number, claims, random) => {
  const head = Buffer.concat([Buffer.from([version, number]), u64(claims.expires), random]);
  const derived = Buffer.from(crypto.hkdfSync('sha256', Buffer.concat([LABEL, head]), key, '', 64));
  const body = Buffer.concat([
    u64(claims.client),
    u64(claims.created),
    Buffer.from([1, 1]), // single use; one audience
    u64(claims.audience),
    Buffer.from([claims.userData.length]),
    claims.userData,
  ]);
  const options = { authTagLength: 16 };
  const cipher = crypto.createCipheriv(CIPHERS[version], derived.subarray(0, 32), Buffer.alloc(12), options);
  const associated = Buffer.concat([LABEL, u64(claims.application), head]);
  cipher.setAAD(associated, { plaintextLength: body.length });
  const token = Buffer.concat([head, cipher.update(body), cipher.final(), cipher.getAuthTag()]);
  return [token, derived.subarray(32)];
};

// What the game gets, as base64: a token, its psk, and one server at an address of IPv4.
const ticket = (token, psk, serverKey, ip, port) => {
  const server = [4, ...ip, port & 0xff, port >> 8];
  const lead = [Buffer.from([1]), psk, Buffer.from([serverKey.length]), serverKey];
  return Buffer.concat([...lead, Buffer.from([1, ...server]), token]);
};

const counting = (first, length) => Buffer.from(Array.from({ length }, (_, i) => first + i));

const key = counting(0, 32); // shared with the game servers
const serverKey = Buffer.from('a4e09292b651c278b9772c569f5fa9bb13d906b46ab68c9df9dc2b4409f8a209', 'hex');
const random = counting(0x40, 24); // of a backend: crypto.randomBytes(24)
const claims = {
  application: 0x0123456789abcdefn,
  client: 42,
  created: 1800000000,
  expires: 1800000030,
  audience: 0x51,
  userData: Buffer.from('ana'),
};
for (const [version, name] of [[1, ''], [2, ' of version 2']]) {
  const [token, psk] = mint(version, key, 7, claims, random);
  console.log(`token${name} = ${token.toString('hex')}`);
  console.log(`psk${name} = ${psk.toString('hex')}`);
  if (version === 2) {
    console.log(`ticket = ${ticket(token, psk, serverKey, [192, 0, 2, 1], 7777).toString('hex')}`);
  }
}
