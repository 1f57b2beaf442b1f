// What the page of a case does: `case.html?NAME`. It tells the test what happens, one text after the other.

import init, { PorousHost } from "./pkg/porous_wasm.js";
import { PorousLink } from "./porous.js";

const MODES = ["unreliable", "reliable", "passive"];
const PACKETS = 1000;
const CONFIG = { channels: MODES.map(() => ({ priority: "high" })), timeout_ms: 3000 };

let told = Promise.resolve();
/** Tells the test, in order. */
function tell(what) {
  told = told.then(() => fetch("told", { method: "POST", body: JSON.stringify(what) }));
}

async function where() {
  const { port, hash } = await (await fetch("place")).json();
  const bytes = Uint8Array.from(hash.match(/../g), (pair) => parseInt(pair, 16));
  return { url: `https://127.0.0.1:${port}/`, hashes: [bytes] };
}

const host = new Promise((resolve) => init().then(() =>
  resolve(new PorousHost(crypto.getRandomValues(new Uint8Array(32)), CONFIG))));

/** A link that tells each status and its words. */
async function linked(on_status = () => {}) {
  const it = await host;
  const link = new PorousLink(it, where, {
    onStatus: (status, words) => {
      tell({ status, words });
      on_status(status, link);
    },
  });
  return { host: it, link };
}

async function open(on_status) {
  const { link } = await linked(on_status);
  await link.open();
}

/** A thousand packets of each mode, and what came of the server's. */
async function thousand() {
  const got = Object.fromEntries(MODES.map((mode) => [mode, 0]));
  let sent = 0, in_order = true, latest = 0;
  const { host, link } = await linked((status) => {
    if (status !== "connected") return;
    const timer = setInterval(() => {
      for (let n = 0; n < 10 && sent < PACKETS; n += 1, sent += 1) {
        MODES.forEach((mode, channel) => {
          if (!host.send(channel, new TextEncoder().encode(`${mode} ${sent}`), mode)) tell({ error: "no room" });
        });
      }
      for (let packet; (packet = host.receive());) {
        const text = new TextDecoder().decode(packet.payload);
        if (packet.mode === "reliable") in_order &&= text === `reliable ${got.reliable}`;
        got[packet.mode] += 1;
        latest = performance.now();
      }
      link.pump();
      const is_done = sent === PACKETS && got.reliable === PACKETS && host.peer_stats().queued_bytes === 0;
      if (is_done && performance.now() - latest > 1000) {
        clearInterval(timer);
        const { loss_sent, loss_received, rtt_ms } = host.peer_stats();
        tell({ got, in_order, loss_sent, loss_received, rtt_ms });
      }
    }, 10);
  });
  await link.open();
}

/** What no honest page does, in sessions of its own; then what one does. */
async function bad() {
  const { url, hashes } = await where();
  const options = { serverCertificateHashes: hashes.map((value) => ({ algorithm: "sha-256", value })) };
  for (let n = 0; n < 10; n += 1) {
    const closed = new WebTransport(url, options);
    closed.ready.catch(() => {});
    closed.closed.catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, n));
    closed.close();
  }
  const transport = new WebTransport(url, options);
  await transport.ready;
  const writer = (transport.datagrams.createWritable?.() ?? transport.datagrams.writable).getWriter();
  for (const length of [0, 1, 600, 1024, 4096, 65_536]) {
    await writer.write(new Uint8Array(length).fill(0xa5)).catch(() => {});
  }
  tell({ most: transport.datagrams.maxDatagramSize });
  await open();
}

const cases = {
  thousand,
  bad,
  open: () => open(),
  missing() {
    delete globalThis.WebTransport;
    return open();
  },
  /** Nothing of the page runs for six seconds, as in a tab that sleeps. */
  sleep: () => open((status, link) => {
    if (status !== "connected" || link.slept) return;
    link.slept = true;
    setTimeout(() => {
      for (const end = performance.now() + 6000; performance.now() < end;);
    }, 100);
  }),
};

addEventListener("unhandledrejection", ({ reason }) => tell({ error: String(reason) }));
addEventListener("error", ({ message }) => tell({ error: message }));
cases[location.search.slice(1)]().catch((error) => tell({ error: String(error) }));
