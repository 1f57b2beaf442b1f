// Two instances of one module, each with one host; this program is their network and their clock.
// They connect over a line that loses datagrams, exchange packets of many fragments both ways, and
// disconnect. Fails if anything is missing or different.
//
// usage: node run.mjs MODULE.wasm

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import process from "node:process";

const PACKETS = 40;
const LONGEST = 6000;
const DELAY = 20_000; // microseconds, as all times here
const FRAME = 5_000;
const START = 2 ** 32 - 100_000; // 32 bits are soon too few
const LIMIT = START + 300_000_000;
const LOST = 12; // one of so many datagrams, by chance

const CONNECTED = 1, READABLE = 2, DISCONNECTED = 3;

const module = new WebAssembly.Module(readFileSync(process.argv[2]));
assert.deepEqual(WebAssembly.Module.imports(module), [], "the module needs something");

/** Numbers from 0 to n - 1 that follow from the seed (mulberry32). */
function generator(seed) {
  let state = seed;
  return (n) => {
    state = (state + 0x6d2b79f5) | 0;
    let x = Math.imul(state ^ (state >>> 15), state | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return ((x ^ (x >>> 14)) >>> 0) % n;
  };
}

/** A host in an instance of its own, and what it sends and has received. */
class Node {
  constructor(seed, chance) {
    this.wasm = new WebAssembly.Instance(module).exports;
    this.wasm.start(BigInt(seed));
    this.sends = Array.from({ length: PACKETS }, () =>
      Uint8Array.from({ length: chance(LONGEST) }, () => chance(256)));
    this.sends.push(new Uint8Array(0), new Uint8Array(LONGEST).fill(7));
    this.accepted = 0;
    this.received = [];
    this.events = [];
    this.flying = []; // all datagrams take equally long, so they arrive in order
  }

  /** The first bytes of the buffer. Memory moves when it grows, so never keep this. */
  bytes(len) {
    return new Uint8Array(this.wasm.memory.buffer, this.wasm.buffer(), len);
  }

  write(bytes) {
    this.bytes(bytes.length).set(bytes);
    return bytes.length;
  }

  /** What an application does once a frame. */
  play() {
    for (let event; (event = this.wasm.poll_event()) !== 0;) {
      this.events.push(event);
      if (event !== READABLE) continue;
      for (let len; (len = this.wasm.receive()) >= 0;) {
        this.received.push(this.bytes(len).slice());
      }
    }
    while (this.events.includes(CONNECTED) && this.accepted < this.sends.length) {
      if (!this.wasm.send(this.write(this.sends[this.accepted]))) break;
      this.accepted += 1;
    }
  }
}

/** A whole session. Gives how many datagrams were sent and lost, and the hash of all of them. */
function session(seed) {
  const chance = generator(seed);
  const [a, b] = [new Node(2 * seed, chance), new Node(2 * seed + 1, chance)];
  const hash = createHash("sha256");
  let sent = 0, lost = 0, now = START, parting = false;

  const step = (node, other) => {
    while (node.flying.length > 0 && node.flying[0].at <= now) {
      node.wasm.handle_datagram(BigInt(now), node.write(node.flying.shift().bytes));
    }
    node.wasm.handle_timeout(BigInt(now));
    node.play();
    for (let len; (len = node.wasm.poll_transmit(BigInt(now))) !== 0;) {
      const bytes = node.bytes(len).slice();
      hash.update(`${now} ${len} `).update(bytes);
      sent += 1;
      if (chance(LOST) === 0) lost += 1;
      else other.flying.push({ at: now + DELAY, bytes });
    }
  };

  b.wasm.listen();
  a.wasm.connect(BigInt(now));
  const have = (node, event) => node.events.includes(event);
  while (!(have(a, DISCONNECTED) && have(b, DISCONNECTED))) {
    assert.ok(now < LIMIT, `not done at ${now / 1e6} s: ${a.received.length} and ` +
      `${b.received.length} packets of ${a.sends.length}; seed ${seed}`);
    step(a, b);
    step(b, a);
    if (!parting && [a, b].every((node) => node.received.length === node.sends.length)) {
      parting = true;
      a.wasm.disconnect(BigInt(now));
    }
    now += FRAME;
  }

  assert.deepEqual(a.received, b.sends, `seed ${seed}`);
  assert.deepEqual(b.received, a.sends, `seed ${seed}`);
  for (const node of [a, b]) {
    const others = node.events.filter((event) => event !== READABLE);
    assert.deepEqual(others, [CONNECTED, DISCONNECTED], `events, seed ${seed}`);
  }
  assert.ok(lost > 10, `the line was too good, seed ${seed}`);
  return { sent, lost, seconds: (now - START) / 1e6, hash: hash.digest("hex") };
}

const first = session(1);
assert.deepEqual(session(1), first, "the same seed, another session");
assert.notEqual(session(2).hash, first.hash, "another seed, the same session");
console.log(`${2 * (PACKETS + 2)} packets both ways in ${first.sent} datagrams, ${first.lost} of them ` +
  `lost, in ${first.seconds} s of virtual time; twice the same bytes`);
