/* The interface of a library's hosts: what an application calls, and no more. As `src/sockets/node.rs` has it. */
#ifndef NODE_H
#define NODE_H

#include <stddef.h>
#include <stdint.h>

/* A host on a socket of its own. */
struct node;

enum seen { CONNECTED, MESSAGE, ENDED };

/* Told what happened to a connection; the message is gone after the call. */
typedef void (*sees)(void *of, uint64_t peer, enum seen seen, const void *message, size_t length);

/* Ends the process. */
void fail(const char *what);

/* Says the version of the library, on a line. */
void node_say_version(void);

/* Binds a host that lets in this number of clients, on a port that it tells. */
struct node *node_server(size_t clients, uint16_t *port);

/* Binds a host, and begins to connect to this port of this machine. */
struct node *node_client(uint16_t port, uint64_t *peer);

/* Sends what waits, sleeps for at most `longest` milliseconds until the network has something, takes in what has
 * arrived, and tells all that happened. */
void node_turn(struct node *node, unsigned longest, sees tell, void *of);

/* Sends a message; 0 if there is no room for it now. */
int node_send(struct node *node, uint64_t peer, const void *message, size_t length, int is_reliable);

/* Puts what waits on its way now. */
void node_flush(struct node *node);

/* Ends a connection when all that was sent has arrived. */
void node_leave(struct node *node, uint64_t peer);

void node_free(struct node *node);

#endif
