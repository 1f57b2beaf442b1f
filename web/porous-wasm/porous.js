// Carries the datagrams of a host by WebTransport, and connects again when the connection is lost. The host is a
// `PorousHost`, or a class of a module that has its methods of the same names (`porous.d.ts`).

/** Milliseconds to wait before the first attempt, the second one and so on; then always the last. */
const PAUSES = [0, 500, 1000, 2000, 5000];
/** A session that is not open after this many milliseconds is given up. */
const OPENING = 10_000;
/** A timer that is later than this was held back: the page slept, and what came meanwhile is taken in first. */
const LATE = 100;

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export class PorousLink {
  #host; #where; #seams; #isClosed = false; #ended; #writer; #timer;

  constructor(host, where, seams = {}) {
    this.#host = host;
    this.#where = typeof where === "string" ? () => ({ url: where }) : where;
    this.#seams = {
      onEvent: () => {}, onStatus: () => {}, now: () => performance.now(), WebTransport: globalThis.WebTransport,
      ...seams,
    };
  }

  async open() {
    if (!this.#seams.WebTransport) {
      return this.#status("unsupported", "This browser has no WebTransport. Use Chrome or Edge 97, Firefox 114, or later " +
        "ones, and a page that comes by https or from localhost.");
    }
    for (let attempt = 0; !this.#isClosed; attempt += 1) {
      if (attempt === 0) this.#status("connecting", "Connecting.");
      await pause(PAUSES[Math.min(attempt, PAUSES.length - 1)]);
      if (this.#isClosed) break;
      const end = await this.#session(() => { attempt = 0; });
      if (end.is_final) return this.#status("ended", `The connection has ended: ${end.text}.`);
      if (!this.#isClosed) this.#status("lost", `${end.text}. Reconnecting.`);
    }
    this.#status("closed", "Closed.");
  }

  #status(...it) {
    this.#tell(() => this.#seams.onStatus(...it));
  }

  /** Calls a handler of the page. What it throws is an error of the page, and none of the connection. */
  #tell(act) {
    try {
      act();
    } catch (error) {
      queueMicrotask(() => { throw error; });
    }
  }

  /** One session, until it ends. */
  async #session(connected) {
    let transport;
    try {
      const { url, hashes = [] } = await this.#where();
      const options = hashes.map((value) => ({ algorithm: "sha-256", value }));
      transport = new this.#seams.WebTransport(url, { serverCertificateHashes: options });
      transport.closed.catch(() => {}); // told by the reader
      const late = pause(OPENING).then(() => { throw new Error("it does not answer"); });
      await Promise.race([transport.ready, late]);
      if (this.#isClosed) throw new Error("closed");
    } catch (error) {
      transport?.close?.();
      return { text: `The server cannot be reached, or its certificate has run out (${error.message})` };
    }
    try {
      const { datagrams } = transport;
      this.#writer = (datagrams.createWritable?.() ?? datagrams.writable).getWriter();
      const session = this.#host.connect(this.#seams.now());
      const ended = new Promise((resolve) => { this.#ended = { session, resolve, connected }; });
      this.pump();
      return await Promise.race([ended, this.#read(datagrams.readable.getReader())]);
    } finally {
      clearTimeout(this.#timer);
      this.#writer = this.#ended = undefined;
      try { transport.close(); } catch { /* it is closed */ }
    }
  }

  async #read(reader) {
    try {
      for (let next; !(next = await reader.read()).done; this.pump()) {
        this.#host.handle_datagram(this.#seams.now(), next.value);
      }
      return { text: "Connection lost: the server has closed the session" };
    } catch (error) {
      return { text: `Connection lost: ${error.message}` };
    }
  }

  pump() {
    const [host, now] = [this.#host, this.#seams.now()];
    host.handle_timeout(now);
    for (let event; (event = host.poll_event()) !== undefined;) {
      this.#tell(() => this.#seams.onEvent(event));
      if (event.session !== this.#ended?.session) continue; // of a session before
      if (event.kind === "connected") {
        this.#ended.connected();
        this.#status("connected", "Connected.");
      } else if (event.kind === "disconnected") {
        const is_final = event.reason === "by_us" || /^refused_(?!full)/.test(event.reason);
        this.#ended.resolve({ is_final, text: is_final ? event.text : `Connection lost: ${event.text}` });
      }
    }
    if (!this.#writer) return;
    for (let datagram; (datagram = host.poll_transmit(now)) !== undefined;) {
      this.#writer.write(datagram).catch(() => {}); // lost, as a datagram may be
    }
    const due = host.poll_timeout();
    clearTimeout(this.#timer);
    if (due === undefined) return;
    const turn = () => (this.#seams.now() - due > LATE ? setTimeout(() => this.pump(), 1) : this.pump());
    this.#timer = setTimeout(turn, Math.max(0, due - now));
  }

  close(code = 0, flush_ms = 1000) {
    this.#isClosed = true;
    this.#host.disconnect(this.#seams.now(), code, flush_ms);
    this.pump();
  }
}
