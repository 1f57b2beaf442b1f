// A token in the few lines that a backend needs, with what Node has: docs/wire.md, "Tokens". Prints the token of
// the examples and its psk, as in sealed.txt.
const crypto = require('crypto');

const u64 = (number) => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(number));
  return bytes;
};
const counting = (first, length) => Buffer.from(Array.from({ length }, (_, i) => first + i));

const key = counting(0, 32); // shared with the game servers
const random = counting(0x40, 24); // of a backend: crypto.randomBytes(24)
const expires = 1800000030;

const head = Buffer.concat([Buffer.from([1, 7]), u64(expires), random]); // version 1, key number 7
const label = Buffer.from('porous token');
const keys = Buffer.from(crypto.hkdfSync('sha256', Buffer.concat([label, head]), key, '', 64));
const body = Buffer.concat([
  u64(42), // client id
  u64(1800000000), // created
  Buffer.from([1, 1]), // single use; one audience
  u64(0x51),
  Buffer.from([3]),
  Buffer.from('ana'), // user data
]);
const cipher = crypto.createCipheriv('chacha20-poly1305', keys.subarray(0, 32), Buffer.alloc(12), {
  authTagLength: 16,
});
cipher.setAAD(Buffer.concat([label, u64(0x0123456789abcdefn), head]), { plaintextLength: body.length });
const token = Buffer.concat([head, cipher.update(body), cipher.final(), cipher.getAuthTag()]);

console.log(`token = ${token.toString('hex')}`);
console.log(`psk = ${keys.subarray(32).toString('hex')}`);
