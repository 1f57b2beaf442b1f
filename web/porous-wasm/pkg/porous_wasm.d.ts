/* tslint:disable */
/* eslint-disable */

/** Sent once: it may arrive. Repeated until it arrives, and the channel waits. Repeated, and nobody waits. */
export type PorousMode = "unreliable" | "reliable" | "passive";

export interface PorousOptions {
    /** The time after which the packet is not sent, or not sent again. */
    ttl_ms?: number;
    /** An event of the kind "receipt" with this number says what became of the packet. From 0 to 2 ** 32 - 1. */
    receipt?: number;
    /** Of the packets of a channel with the same key that wait, only the latest is sent. From 0 to 2 ** 32 - 1. */
    key?: number;
    /** Copies in the spare bytes of later datagrams, 0 to 254. */
    redundancy?: number;
}

export interface PorousPacket {
    channel: number;
    mode: PorousMode;
    payload: Uint8Array;
}



/** What a host is configured with. What is left out is as `Config::client()` has it. */
export interface PorousConfig {
    /** A number that both hosts must have alike, by which an application knows its own. */
    application_id?: bigint;
    /** The channels to send on, 1 to 255. One of low priority, if left out. */
    channels?: PorousChannel[];
    /** The largest packet that comes, in bytes. */
    max_packet?: number;
    /** A check over all bytes of a datagram: QUIC has one of its own, so that this is for programs on UDP. */
    crc32c?: boolean;
    /** How long an attempt to connect may take. */
    connect_timeout_ms?: number;
    /** A connection of which nothing came for so long is lost. */
    timeout_ms?: number;
    /** How long a disconnection waits for its acknowledgement. */
    disconnect_timeout_ms?: number;
}

export interface PorousChannel {
    priority: "low" | "high";
    /** True if packets may overtake each other. */
    unordered?: boolean;
}



/** What happened to a connection. `text` says it in words, and `session` is what `connect` has returned. Names are
 * those of the C interface. */
export type PorousEvent = { text: string; session: number } & (
/** Packets can be sent. */
| { kind: "connected" }
/** Packets can be received. It comes once until `receive` has given `undefined`. */
| { kind: "readable" }
/** `send` has given false, and there is room again for a packet like that one. */
| { kind: "writable" }
/** What became of a packet that was sent with a receipt. */
| { kind: "receipt"; receipt: bigint; outcome: PorousOutcome }
/** The path carries only shorter datagrams now. */
| { kind: "path_narrowed"; bytes: number }
/** The connection has ended, or never came to be. `code` is the application's, of `by_peer` and `by_us`; `data` is
 * what the application of a server says that refuses. `undelivered` are packets that were sent and not
 * acknowledged. */
| { kind: "disconnected"; reason: PorousReason; code: number; data?: Uint8Array; undelivered: number }
);

export type PorousOutcome = "delivered" | "skipped" | "lost" | "expired" | "cancelled" | "other";

export type PorousReason =
| "by_peer" | "by_us" | "goodbye_unanswered" | "never_answered" | "unfinished" | "silent" | "lost_by_peer"
| "path_too_narrow" | "restarted" | "unreachable" | "too_many_forgeries" | "internal_error"
| "refused_version" | "refused_incompatible" | "refused_full" | "refused_application" | "refused_security"
| "other";



/** What is known about the connection: see `porous_peer_stats` of the C interface, and `PeerStats`. */
export interface PorousStats {
    state: "connecting" | "connected" | "disconnecting" | "disconnected" | "zombie";
    rtt_ms: number;
    rtt_variance_ms: number;
    jitter_ms: number;
    /** Shares of the last seconds, from 0 to 1. */
    loss_sent: number;
    loss_received: number;
    /** From 0 to 100. */
    quality: number;
    /** The largest packet that can be sent, and the largest that leaves in one datagram. */
    max_packet: number;
    max_unfragmented: number;
    path_mtu: number;
    queued_bytes: number;
    /** Bytes a second. */
    send_rate: number;
    receive_rate: number;
    datagrams_sent: number;
    datagrams_received: number;
    bytes_sent: number;
    bytes_received: number;
    packets_sent: PorousModeCounts;
    packets_received: PorousModeCounts;
}

export interface PorousModeCounts {
    unreliable: number;
    reliable: number;
    passive: number;
}



/**
 * A host with one connection at a time, without input and output.
 *
 * The program hands over each datagram that comes, calls `handle_timeout` when `poll_timeout` says so, and then sends
 * what `poll_transmit` gives, until that gives nothing. `porous.js` does this by WebTransport.
 */
export class PorousHost {
    free(): void;
    [Symbol.dispose](): void;
    /**
     * Cancels the packets of a channel that were sent with this receipt. True if there were any.
     */
    cancel(channel: number, receipt: number): boolean;
    /**
     * Connects in a session that has been opened anew, and returns its number, which events of the connection have. A
     * connection in a session before is over: an event says so later, and how many packets were not acknowledged.
     */
    connect(now: number): number;
    /**
     * Ends the connection with a number for the other application: at once, or when all was delivered that was sent,
     * for `flush_ms` at most. An event of the kind "disconnected" says when it has ended.
     */
    disconnect(now: number, code: number, flush_ms?: number | null): void;
    /**
     * Takes in a datagram that has come. Whatever it is, it does no harm.
     */
    handle_datagram(now: number, datagram: Uint8Array | number[]): void;
    /**
     * Does what is due by time.
     */
    handle_timeout(now: number): void;
    /**
     * A host. `seed` are 32 bytes of `crypto.getRandomValues`: who knows them can forge its datagrams.
     */
    constructor(seed: Uint8Array | number[], config: PorousConfig | undefined);
    /**
     * What is known about the connection; `undefined` if there is none.
     */
    peer_stats(): PorousStats | undefined;
    /**
     * The next event; `undefined` if there is none.
     */
    poll_event(): PorousEvent | undefined;
    /**
     * When `handle_timeout` and `poll_transmit` are to be called next, by the clock of `now`; `undefined` if nothing
     * is due.
     */
    poll_timeout(): number | undefined;
    /**
     * The next datagram to be sent; `undefined` if there is none now.
     */
    poll_transmit(now: number): Uint8Array | undefined;
    /**
     * The next packet; `undefined` if none waits. Those of connections before come first.
     */
    receive(): PorousPacket | undefined;
    /**
     * Sends a packet. False if there is no room for it in the send budget: an event of the kind "writable" says when
     * there is. Throws if there is no connection, no such channel, or the packet is too large; nothing was sent then.
     */
    send(channel: number, payload: Uint8Array | number[], how: PorousMode, options: PorousOptions | undefined): boolean;
}

export type InitInput = RequestInfo | URL | Response | BufferSource | WebAssembly.Module;

export interface InitOutput {
    readonly memory: WebAssembly.Memory;
    readonly __wbg_poroushost_free: (a: number, b: number) => void;
    readonly poroushost_cancel: (a: number, b: number, c: number) => number;
    readonly poroushost_connect: (a: number, b: number) => [number, number, number];
    readonly poroushost_disconnect: (a: number, b: number, c: number, d: number) => void;
    readonly poroushost_handle_datagram: (a: number, b: number, c: number, d: number) => void;
    readonly poroushost_handle_timeout: (a: number, b: number) => void;
    readonly poroushost_new: (a: number, b: number, c: any) => [number, number, number];
    readonly poroushost_peer_stats: (a: number) => any;
    readonly poroushost_poll_event: (a: number) => any;
    readonly poroushost_poll_timeout: (a: number) => [number, number];
    readonly poroushost_poll_transmit: (a: number, b: number) => any;
    readonly poroushost_receive: (a: number) => any;
    readonly poroushost_send: (a: number, b: number, c: number, d: number, e: number, f: number, g: any) => [number, number, number];
    readonly __wbindgen_malloc: (a: number, b: number) => number;
    readonly __wbindgen_realloc: (a: number, b: number, c: number, d: number) => number;
    readonly __wbindgen_free: (a: number, b: number, c: number) => void;
    readonly __wbindgen_exn_store: (a: number) => void;
    readonly __externref_table_alloc: () => number;
    readonly __wbindgen_externrefs: WebAssembly.Table;
    readonly __externref_table_dealloc: (a: number) => void;
    readonly __wbindgen_start: () => void;
}

export type SyncInitInput = BufferSource | WebAssembly.Module;

/**
 * Instantiates the given `module`, which can either be bytes or
 * a precompiled `WebAssembly.Module`.
 *
 * @param {{ module: SyncInitInput }} module - Passing `SyncInitInput` directly is deprecated.
 *
 * @returns {InitOutput}
 */
export function initSync(module: { module: SyncInitInput } | SyncInitInput): InitOutput;

/**
 * If `module_or_path` is {RequestInfo} or {URL}, makes a request and
 * for everything else, calls `WebAssembly.instantiate` directly.
 *
 * @param {{ module_or_path: InitInput | Promise<InitInput> }} module_or_path - Passing `InitInput` directly is deprecated.
 *
 * @returns {Promise<InitOutput>}
 */
export default function __wbg_init (module_or_path?: { module_or_path: InitInput | Promise<InitInput> } | InitInput | Promise<InitInput>): Promise<InitOutput>;
