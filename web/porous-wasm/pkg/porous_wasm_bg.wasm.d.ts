/* tslint:disable */
/* eslint-disable */
export const memory: WebAssembly.Memory;
export const __wbg_poroushost_free: (a: number, b: number) => void;
export const poroushost_cancel: (a: number, b: number, c: number) => number;
export const poroushost_connect: (a: number, b: number) => [number, number, number];
export const poroushost_disconnect: (a: number, b: number, c: number, d: number) => void;
export const poroushost_handle_datagram: (a: number, b: number, c: number, d: number) => void;
export const poroushost_handle_timeout: (a: number, b: number) => void;
export const poroushost_new: (a: number, b: number, c: any) => [number, number, number];
export const poroushost_peer_stats: (a: number) => any;
export const poroushost_poll_event: (a: number) => any;
export const poroushost_poll_timeout: (a: number) => [number, number];
export const poroushost_poll_transmit: (a: number, b: number) => any;
export const poroushost_receive: (a: number) => any;
export const poroushost_send: (a: number, b: number, c: number, d: number, e: number, f: number, g: any) => [number, number, number];
export const __wbindgen_malloc: (a: number, b: number) => number;
export const __wbindgen_realloc: (a: number, b: number, c: number, d: number) => number;
export const __wbindgen_free: (a: number, b: number, c: number) => void;
export const __wbindgen_exn_store: (a: number) => void;
export const __externref_table_alloc: () => number;
export const __wbindgen_externrefs: WebAssembly.Table;
export const __externref_table_dealloc: (a: number) => void;
export const __wbindgen_start: () => void;
