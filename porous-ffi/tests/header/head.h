/* porous: packets over UDP for games and other things that happen now.
 *
 * A host is one socket and all peers behind it. There are two kinds: porous_udp_bind makes one with a UDP socket of
 * its own, porous_core_new one without input and output, whose datagrams and time the program carries. Functions
 * that begin with porous_udp_ or porous_core_ are for one kind, and all others for both.
 *
 * What holds for every function:
 *
 * - It returns 0 (done, or nothing is there), a positive number (one is there, or a count) or a negative
 *   POROUS_ERR_. Beside those that a function lists, each may answer POROUS_ERR_NULL, POROUS_ERR_BUSY,
 *   POROUS_ERR_PANIC, POROUS_ERR_VERSION, POROUS_ERR_KIND and POROUS_ERR_VALUE. After an error nothing has changed,
 *   unless it says so.
 * - A struct that begins with `size` may grow in later versions: set it up by its _init function, or set it to 0 and
 *   its size to sizeof. The library reads and writes no more than that. All other structs never change. Fields that
 *   are called reserved are 0.
 * - A pointer is never NULL, unless it says so, but NULL does no harm: it is answered with POROUS_ERR_NULL. Data of
 *   length 0 may be NULL, and so may buffers and arrays of length 0. Other pointers point to as much memory as the
 *   function needs, and are aligned as their types demand.
 * - The library keeps nothing of a pointer after the call, unless it says so. Texts are UTF-8 and end with a 0.
 * - One thread at a time uses a host; it may be another one later. Different hosts know nothing of each other. A
 *   call into a host that is in a call is answered with POROUS_ERR_BUSY.
 * - Times are microseconds, sizes bytes, rates bytes a second. A name of a peer is never 0.
 * - Without memory the process ends.
 *
 * This file is written from the library's code by `POROUS_BLESS=1 cargo test -p porous-ffi --test header`. */
/* ---- */
#if defined(_WIN32) && defined(POROUS_SHARED)
#define POROUS_API __declspec(dllimport)
#else
#define POROUS_API
#endif

/* A library may be built without sockets, without sealing, without the standard library of Rust (and then without
 * sockets), or with memory of the program's own, and then lacks some functions or has more. A program that defines
 * these names sees those of its library. */
#ifndef POROUS_WITHOUT_STD
#define POROUS_WITH_STD
#endif
#if !defined(POROUS_WITHOUT_UDP) && !defined(POROUS_WITHOUT_STD)
#define POROUS_WITH_UDP
#endif
#ifndef POROUS_WITHOUT_SEAL
#define POROUS_WITH_SEAL
#endif
#ifdef POROUS_HOOKS
#define POROUS_WITH_HOOKS
#endif
