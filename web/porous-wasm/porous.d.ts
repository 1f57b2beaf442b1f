/** What a link asks of a host: a `PorousHost`, or a class of a module for browsers that is made of one. */
export interface PorousCarried {
    connect(now: number): number;
    handle_datagram(now: number, datagram: Uint8Array): void;
    handle_timeout(now: number): void;
    poll_transmit(now: number): Uint8Array | undefined;
    poll_timeout(): number | undefined;
    poll_event(): { kind: string; text: string; session: number; reason?: string } | undefined;
    disconnect(now: number, code: number, flush_ms?: number | null): void;
}

/**
 * - `connecting`: the first attempt.
 * - `connected`: packets can be sent.
 * - `lost`: there is no connection, and the link tries again, until `close`.
 * - `ended`: the server does not want this client, or the client has disconnected. The link does nothing more.
 * - `closed`: after `close`.
 * - `unsupported`: this browser has no WebTransport.
 */
export type PorousStatus = "connecting" | "connected" | "lost" | "ended" | "closed" | "unsupported";

/** Where a server is. */
export interface PorousPlace {
    /** It begins with `https://`. */
    url: string;
    /** The SHA-256 hashes of certificates that no authority has signed. */
    hashes?: Uint8Array[];
}

/** What the handlers throw is reported as an error of the page, and the link goes on. */
export interface PorousSeams {
    /** Gets each event of the host, in its order. */
    onEvent?: (event: any) => void;
    /** Gets each change, with words for the player. */
    onStatus?: (status: PorousStatus, words: string) => void;
    /** For tests: another clock in milliseconds, another carrier. */
    now?: () => number;
    WebTransport?: unknown;
}

/** Carries the datagrams of a host by WebTransport, and connects again when the connection is lost. */
export class PorousLink {
    /** `where` is a URL, or is asked for each session anew: a server that makes its certificate by itself has another one
     * after some days. */
    constructor(host: PorousCarried, where: string | (() => PorousPlace | Promise<PorousPlace>), seams?: PorousSeams);
    /** Connects, and goes on until the connection has ended for good, or `close` was called. */
    open(): Promise<void>;
    /** Sends what waits, and tells events. To be called after `send`, or once a frame; all else comes by itself. */
    pump(): void;
    /** Disconnects with a number for the server, after what was sent has arrived, or after `flush_ms`. */
    close(code?: number, flush_ms?: number): void;
}
