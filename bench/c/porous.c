/* porous by its C interface, with the defaults of a server and of a client. */
#include "node.h"

#include <porous.h>
#include <stdio.h>
#include <stdlib.h>

static porous_status must(porous_status status) {
    if (status < 0)
        fail(porous_status_text(status));
    return status;
}

static porous_host *host_of(struct node *node) {
    return (porous_host *)node;
}

static porous_host *bound(uint32_t preset, uint32_t max_peers) {
    porous_config config;
    porous_host *host;
    must(porous_config_init(&config, sizeof config, preset));
    if (max_peers > 0)
        config.max_peers = max_peers;
    must(porous_udp_bind(&config, "127.0.0.1:0", &host));
    return host;
}

void node_say_version(void) {
    uint32_t version = porous_version();
    printf("%u.%u.%u\n", (unsigned)(version >> 16), (unsigned)(version >> 8 & 255), (unsigned)(version & 255));
}

struct node *node_server(size_t clients, uint16_t *port) {
    porous_host *host = bound(POROUS_PRESET_DEFAULT, (uint32_t)clients);
    porous_address address;
    must(porous_listen(host, POROUS_LISTEN_OPEN));
    must(porous_udp_address(host, &address));
    *port = address.port;
    return (struct node *)host;
}

struct node *node_client(uint16_t port, uint64_t *peer) {
    porous_host *host = bound(POROUS_PRESET_CLIENT, 0);
    porous_address address;
    must(porous_address_parse("127.0.0.1:1", &address));
    address.port = port;
    must(porous_connect(host, &address, peer));
    return (struct node *)host;
}

static void read_all(porous_host *host, porous_peer peer, sees tell, void *of) {
    static unsigned char message[1 << 16];
    porous_received what;
    while (must(porous_receive(host, peer, &what, message, sizeof message)))
        tell(of, peer, MESSAGE, message, (size_t)what.len);
}

void node_turn(struct node *node, unsigned longest, sees tell, void *of) {
    porous_host *host = host_of(node);
    porous_event event = {0};
    event.size = sizeof event;
    if (longest > 0)
        must(porous_udp_wait(host, (uint64_t)longest * 1000));
    else
        must(porous_udp_step(host));
    while (must(porous_poll_event(host, &event))) {
        if (event.type == POROUS_EVENT_READABLE)
            read_all(host, event.peer, tell, of);
        else if (event.type == POROUS_EVENT_CONNECTED)
            tell(of, event.peer, CONNECTED, NULL, 0);
        else if (event.type == POROUS_EVENT_DISCONNECTED)
            tell(of, event.peer, ENDED, NULL, 0);
    }
}

int node_send(struct node *node, uint64_t peer, const void *message, size_t length, int is_reliable) {
    uint32_t mode = is_reliable ? POROUS_RELIABLE : POROUS_UNRELIABLE;
    return porous_send(host_of(node), peer, 0, mode, message, length) == POROUS_OK;
}

void node_flush(struct node *node) {
    must(porous_udp_transmit(host_of(node)));
}

void node_leave(struct node *node, uint64_t peer) {
    /* A peer that has ended already needs no more. */
    (void)porous_disconnect(host_of(node), peer, 0, 5000000);
}

void node_free(struct node *node) {
    must(porous_host_free(host_of(node)));
}
