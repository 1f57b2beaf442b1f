// The module and the link without a browser, in virtual time: two hosts that connect to each other, and a link over
// sessions that this file makes.
//
// usage: node test.mjs FOLDER, where FOLDER has porous_wasm.js and porous_wasm_bg.wasm

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

import { PorousLink } from "./porous.js";

const folder = resolve(process.argv[2]);
const { initSync, PorousHost } = await import(pathToFileURL(`${folder}/porous_wasm.js`));
initSync({ module: readFileSync(`${folder}/porous_wasm_bg.wasm`) });

const CHANNELS = { channels: [{ priority: "high" }, { priority: "low" }, { priority: "low" }] };
const MODES = ["unreliable", "reliable", "passive"];

const seed = (number) => new Uint8Array(32).fill(number);
const bytes = (text) => new TextEncoder().encode(text);
const text = (payload) => new TextDecoder().decode(payload);

/** Numbers from 0 to n - 1 that follow from the seed (mulberry32). */
function generator(state) {
  return (n) => {
    state = (state + 0x6d2b79f5) | 0;
    let x = Math.imul(state ^ (state >>> 15), state | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return ((x ^ (x >>> 14)) >>> 0) % n;
  };
}

/** Two hosts and the line between them, which takes 20 ms and loses datagrams. */
class Pair {
  constructor({ loss = 0, config = CHANNELS, chance = 1 } = {}) {
    this.now = 1000.5;
    this.loss = loss;
    this.chance = generator(chance);
    this.hosts = [new PorousHost(seed(1), config), new PorousHost(seed(2), config)];
    this.flying = [[], []];
    this.events = [[], []];
    this.asleep = [false, false];
    this.connect();
  }

  /** Both at once, as neither lets others in. */
  connect() {
    for (const host of this.hosts) host.connect(this.now);
  }

  step() {
    this.hosts.forEach((host, n) => {
      if (this.asleep[n]) return;
      while (this.flying[n][0]?.at <= this.now) host.handle_datagram(this.now, this.flying[n].shift().datagram);
      host.handle_timeout(this.now);
      for (let event; (event = host.poll_event());) this.events[n].push(event);
      for (let datagram; (datagram = host.poll_transmit(this.now));) {
        assert.ok(datagram.length <= 1200);
        if (this.chance(100) >= this.loss) this.flying[1 - n].push({ at: this.now + 20, datagram });
      }
    });
    this.now += 5;
  }

  /** Goes on until this is so, but for no longer than this many seconds. */
  until(seconds, is_so) {
    const end = this.now + seconds * 1000;
    while (!is_so()) {
      assert.ok(this.now < end, `not in ${seconds} s: ${JSON.stringify(this.events.map((all) => all.slice(-3)))}`);
      this.step();
    }
  }

  has(n, kind) {
    return this.events[n].some((event) => event.kind === kind);
  }

  connected() {
    this.until(15, () => this.has(0, "connected") && this.has(1, "connected"));
  }
}

test("packets of all modes pass a line that loses a tenth", () => {
  const pair = new Pair({ loss: 10 });
  pair.connected();
  const got = [[], []];
  let sent = 0;
  pair.until(60, () => {
    for (let n = 0; n < 3 && sent < 300; n += 1, sent += 1) {
      pair.hosts.forEach((host) => MODES.forEach((mode, channel) =>
        assert.ok(host.send(channel, bytes(`${mode} ${sent}`), mode))));
    }
    pair.hosts.forEach((host, n) => {
      for (let packet; (packet = host.receive());) got[n].push(packet);
    });
    return got.every((all) => all.filter((packet) => packet.mode === "reliable").length === 300) &&
      pair.hosts.every((host) => host.peer_stats().queued_bytes === 0);
  });
  for (const all of got) {
    const of = (mode) => all.filter((packet) => packet.mode === mode);
    assert.deepEqual(of("reliable").map((packet) => text(packet.payload)),
      Array.from({ length: 300 }, (_, n) => `reliable ${n}`));
    for (const mode of ["unreliable", "passive"]) {
      assert.ok(of(mode).length > 200 && of(mode).length <= 300, `${of(mode).length} ${mode}`);
    }
    assert.ok(all.every((packet) => MODES[packet.channel] === packet.mode));
  }
  const stats = pair.hosts[0].peer_stats();
  assert.equal(stats.state, "connected");
  assert.ok(stats.rtt_ms > 30 && stats.rtt_ms < 80, `${stats.rtt_ms}`);
  assert.ok(stats.loss_sent > 0.01, `${stats.loss_sent}`);
  assert.equal(stats.packets_sent.reliable, 300);
});

test("a receipt tells what became of a packet", () => {
  const pair = new Pair();
  pair.connected();
  pair.hosts[0].send(0, bytes("?"), "reliable", { receipt: 7 });
  pair.until(5, () => pair.has(0, "receipt"));
  const { receipt, outcome } = pair.events[0].find((event) => event.kind === "receipt");
  assert.deepEqual([receipt, outcome], [7n, "delivered"]);
});

test("a page that sleeps for a minute is told that the connection is lost, and connects again", () => {
  const pair = new Pair();
  pair.connected();
  pair.asleep[0] = true;
  pair.until(61, () => pair.has(1, "disconnected"));
  assert.equal(pair.events[1].at(-1).reason, "silent");
  pair.now += 50_000;
  // What was sent meanwhile and not taken in, and what is written before the page knows.
  assert.ok(pair.hosts[0].send(1, bytes("kept until it is known"), "reliable"));
  pair.asleep[0] = false;
  pair.until(15, () => pair.has(0, "disconnected"));
  const end = pair.events[0].at(-1);
  assert.ok(["silent", "lost_by_peer"].includes(end.reason), end.reason);
  assert.equal(end.undelivered, 1);
  assert.match(end.text, /[a-z ]{10}/);
  pair.events = [[], []];
  pair.flying = [[], []];
  pair.connect();
  pair.connected();
  assert.equal(pair.events[0].at(-1).session, 2);
});

test("a connection in a session before ends in words, also if nobody answers", () => {
  const pair = new Pair();
  pair.connected();
  pair.hosts[0].send(1, bytes("on its way"), "reliable");
  pair.flying = [[], []];
  pair.events = [[], []];
  pair.connect();
  pair.until(15, () => pair.events[0].some((event) => event.kind === "disconnected"));
  const end = pair.events[0].find((event) => event.kind === "disconnected");
  assert.deepEqual([end.session, end.undelivered], [1, 1]);
  pair.connected();
});

test("bad calls say what to do, and change nothing", () => {
  assert.throws(() => new PorousHost(new Uint8Array(31)), /32 bytes/);
  assert.throws(() => new PorousHost(seed(1), { max_packet: 1.5 }), /whole number/);
  assert.throws(() => new PorousHost(seed(1), { channels: [{ priority: "middle" }] }), /"low" or "high"/);
  assert.throws(() => new PorousHost(seed(1), { application_id: 7 }), /BigInt/);
  const pair = new Pair();
  const host = pair.hosts[0];
  assert.throws(() => new PorousHost(seed(1)).send(0, bytes("x"), "reliable"), /connect first/);
  assert.throws(() => host.send(0, bytes("x"), "reliable"), /connected/);
  pair.connected();
  assert.throws(() => host.send(9, bytes("x"), "reliable"), /channel/);
  assert.throws(() => host.send(0, bytes("x"), "surely"), /no mode/);
  assert.throws(() => host.send(0, bytes("x"), "reliable", { redundancy: 255 }), /0 to 254/);
  let sent = 0;
  while (host.send(0, new Uint8Array(60_000), "reliable")) sent += 1;
  assert.ok(sent > 1 && sent < 10_000);
  pair.until(60, () => {
    while (pair.hosts[1].receive());
    return pair.has(0, "writable");
  });
});

test("what nobody sends, also 4 KB of it, changes nothing", () => {
  const pair = new Pair();
  pair.connected();
  const chance = generator(3);
  for (const length of [0, 1, 7, 600, 1200, 4096, 65_536]) {
    const datagram = Uint8Array.from({ length }, () => chance(256));
    pair.hosts[0].handle_datagram(pair.now, datagram);
    pair.step();
  }
  pair.hosts[1].send(0, bytes("still there"), "reliable");
  let got;
  pair.until(5, () => (got = pair.hosts[0].receive()));
  assert.equal(text(got.payload), "still there");
});

/** A session whose other end is a host of this file, which connects to it at once. */
class FakeTransport {
  static made = [];
  static next = () => ({});
  constructor(url, options) {
    Object.assign(this, { url, options, ...FakeTransport.next() });
    FakeTransport.made.push(this);
    this.events = [];
    this.ready ??= Promise.resolve();
    this.closed = new Promise((resolve) => { this.end = resolve; });
    this.other = new PorousHost(seed(9), CHANNELS);
    this.other.connect(performance.now());
    const readable = new ReadableStream({ start: (to) => { this.to = to; } });
    const writable = new WritableStream({ write: (datagram) => this.other.handle_datagram(this.now(), datagram) });
    this.datagrams = { readable, writable };
    this.timer = setInterval(() => this.turn(), 10);
  }

  now = () => performance.now();

  turn() {
    this.other.handle_timeout(this.now());
    for (let event; (event = this.other.poll_event());) this.events.push(event);
    for (let datagram; (datagram = this.other.poll_transmit(this.now()));) this.to.enqueue(datagram);
  }

  close() {
    clearInterval(this.timer);
    this.end();
  }

  /** The server is gone. */
  vanish() {
    clearInterval(this.timer);
    this.to.close();
  }
}

/** A link over such sessions, and what it says. */
function linked({ hashes, ...seams } = {}) {
  FakeTransport.made = [];
  FakeTransport.next = () => ({});
  const said = [], events = [];
  const host = new PorousHost(seed(5), CHANNELS);
  const link = new PorousLink(host, hashes ? () => ({ url: "https://server/", hashes: hashes() }) : "https://server/", {
    WebTransport: FakeTransport, onStatus: (...it) => said.push(it), onEvent: (event) => events.push(event), ...seams,
  });
  return { host, link, said, events, statuses: () => said.map(([status]) => status) };
}

/** Timers and a clock in virtual time, in place of the real ones. */
class Time {
  now = 1000;
  timers = new Map();
  next = 1;

  set(act, ms = 0, every) {
    this.timers.set(this.next, { at: this.now + ms, act, every });
    return this.next++;
  }

  /** The next timer that is due, if there is one. */
  run() {
    for (const [id, timer] of this.timers) {
      if (timer.at > this.now) continue;
      if (timer.every) timer.at += timer.every;
      else this.timers.delete(id);
      timer.act();
      return true;
    }
    return false;
  }
}

let time;

/** Virtual time passes, until this is so. Promises get their turns between timers. */
async function pass(ms, is_so = () => false) {
  for (let n = 0; n < ms / 10 && !is_so(); n += 1) {
    time.now += 10;
    while (time.run()) await new Promise(setImmediate);
    await new Promise(setImmediate);
  }
}

async function virtually(act) {
  const real = { setTimeout, setInterval, clearTimeout, clearInterval };
  const clock = performance.now;
  time = new Time();
  globalThis.setTimeout = (act, ms) => time.set(act, ms);
  globalThis.setInterval = (act, ms) => time.set(act, ms, ms);
  globalThis.clearTimeout = globalThis.clearInterval = (id) => time.timers.delete(id);
  performance.now = () => time.now;
  try {
    await act();
  } finally {
    Object.assign(globalThis, real);
    performance.now = clock;
  }
}

test("a browser without WebTransport is told what to use", async () => {
  const { link, said } = linked({ WebTransport: undefined });
  await link.open();
  assert.equal(said.at(-1)[0], "unsupported");
  assert.match(said.at(-1)[1], /Chrome.*Firefox/);
});

test("a link connects, and again when the server is gone", () => virtually(async () => {
  const { host, link, said, statuses } = linked({ hashes: () => [seed(3)] });
  const done = link.open();
  await pass(5000, () => statuses().includes("connected"));
  assert.deepEqual(statuses(), ["connecting", "connected"]);
  assert.deepEqual(FakeTransport.made[0].options.serverCertificateHashes, [{ algorithm: "sha-256", value: seed(3) }]);
  host.send(0, bytes("hello"), "reliable");
  link.pump();
  await pass(200);
  assert.equal(text(FakeTransport.made[0].other.receive().payload), "hello");
  FakeTransport.made[0].vanish();
  await pass(20_000, () => statuses().filter((status) => status === "connected").length === 2);
  assert.deepEqual(statuses(), ["connecting", "connected", "lost", "connected"]);
  assert.match(said[2][1], /Connection lost.*Reconnecting/);
  link.close(0, 100);
  await pass(10_000, () => statuses().includes("ended"));
  await done;
}));

test("a handler that throws is told of it, and the link goes on", () => virtually(async () => {
  const [told, thrown, { queueMicrotask }] = [[], [], globalThis];
  globalThis.queueMicrotask = (act) => {
    try { act(); } catch (error) { thrown.push(error.message); }
  };
  const handler = (what) => { told.push(what); throw new Error(`in ${what}`); };
  const { host, link } = linked({ onStatus: handler, onEvent: ({ kind }) => handler(kind) });
  try {
    link.open();
    await pass(5000, () => told.filter((what) => what === "connected").length === 2);
    host.send(0, bytes("hello"), "reliable", { receipt: 1 });
    await pass(5000, () => told.includes("receipt"));
    assert.deepEqual(told, ["connecting", "connected", "connected", "receipt"]);
    assert.deepEqual(thrown, told.map((what) => `in ${what}`));
    assert.equal(FakeTransport.made.length, 1);
    link.close(0, 100);
    await pass(10_000, () => told.includes("ended"));
    assert.equal(told.at(-1), "ended");
  } finally {
    globalThis.queueMicrotask = queueMicrotask;
  }
}));

test("a certificate that has run out is told, and the hash is asked for again", () => virtually(async () => {
  let asked = 0;
  const { link, said, statuses } = linked({ hashes: () => [seed((asked += 1))] });
  const refused = () => ({ ready: Promise.reject(new Error("Opening handshake failed.")) });
  FakeTransport.next = refused;
  link.open();
  await pass(5000, () => statuses().includes("lost"));
  assert.match(said.at(-1)[1], /cannot be reached.*certificate has run out.*Opening handshake failed/);
  FakeTransport.next = () => ({});
  await pass(20_000, () => statuses().includes("connected"));
  assert.ok(asked >= 2);
  link.close();
  await pass(10_000);
}));

test("a session that closes in the handshake, or never opens, is tried again", () => virtually(async () => {
  const { link, statuses } = linked();
  FakeTransport.next = () => ({ ready: new Promise(() => {}) });
  link.open();
  await pass(12_000, () => statuses().includes("lost"));
  assert.equal(statuses().at(-1), "lost");
  FakeTransport.next = () => ({});
  await pass(1000, () => FakeTransport.made.length === 2);
  FakeTransport.made[1].vanish(); // before the connection is there
  await pass(20_000, () => statuses().includes("connected"));
  assert.ok(FakeTransport.made.length >= 3);
  link.close();
  await pass(10_000);
}));

test("a link that is closed while its session opens stays closed", () => virtually(async () => {
  const { link, statuses } = linked();
  let opens;
  FakeTransport.next = () => ({ ready: new Promise((resolve) => { opens = resolve; }) });
  link.open();
  await pass(1000, () => opens !== undefined);
  link.close();
  opens();
  await pass(20_000, () => statuses().includes("closed"));
  await pass(5000);
  assert.deepEqual(statuses(), ["connecting", "closed"]);
}));

test("a link whose page sleeps for a minute connects again", () => virtually(async () => {
  const { link, said, statuses } = linked();
  link.open();
  await pass(5000, () => statuses().includes("connected"));
  // No timer of the page runs, and the server goes on alone and gives up.
  const [server] = FakeTransport.made;
  clearInterval(server.timer);
  for (const end = time.now + 60_000; time.now < end; time.now += 10) server.turn();
  assert.equal(server.events.at(-1).reason, "silent");
  await pass(20_000, () => statuses().filter((status) => status === "connected").length === 2);
  assert.deepEqual(statuses(), ["connecting", "connected", "lost", "connected"]);
  assert.match(said[2][1], /^Connection lost.*Reconnecting/);
  link.close();
  await pass(10_000);
}));
