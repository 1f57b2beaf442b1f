/* ENet's C library, with its defaults. */
#include "node.h"

#include <enet/enet.h>
#include <stdio.h>

static struct node *node_of(ENetHost *host) {
    if (host == NULL)
        fail("no socket");
    return (struct node *)host;
}

static ENetHost *host_of(struct node *node) {
    return (ENetHost *)node;
}

static ENetPeer *peer_of(uint64_t peer) {
    return (ENetPeer *)(uintptr_t)peer;
}

static ENetAddress loopback(uint16_t port) {
    ENetAddress address;
    if (enet_initialize() != 0)
        fail("it does not begin");
    if (enet_address_set_host_ip(&address, "127.0.0.1") != 0)
        fail("no address");
    address.port = port;
    return address;
}

void node_say_version(void) {
    ENetVersion version = enet_linked_version();
    printf("%u.%u.%u\n", (unsigned)ENET_VERSION_GET_MAJOR(version),
           (unsigned)ENET_VERSION_GET_MINOR(version), (unsigned)ENET_VERSION_GET_PATCH(version));
}

struct node *node_server(size_t clients, uint16_t *port) {
    ENetAddress address = loopback(0);
    ENetHost *host = enet_host_create(&address, clients, 1, 0, 0);
    struct node *node = node_of(host);
    if (enet_socket_get_address(host->socket, &address) != 0)
        fail("no socket");
    *port = address.port;
    return node;
}

struct node *node_client(uint16_t port, uint64_t *peer) {
    ENetAddress address = loopback(port);
    ENetHost *host = enet_host_create(NULL, 1, 1, 0, 0);
    struct node *node = node_of(host);
    *peer = (uintptr_t)enet_host_connect(host, &address, 1, 0);
    if (*peer == 0)
        fail("no peer");
    return node;
}

/* The next event, after the first that `enet_host_service` told. A connection that begins or ends stops it from
 * taking in more datagrams. */
static int next_event(ENetHost *host, ENetEvent *event) {
    if (event->type == ENET_EVENT_TYPE_RECEIVE)
        return enet_host_check_events(host, event);
    return enet_host_service(host, event, 0);
}

void node_turn(struct node *node, unsigned longest, sees tell, void *of) {
    ENetEvent event;
    int more = enet_host_service(host_of(node), &event, longest);
    for (; more > 0; more = next_event(host_of(node), &event)) {
        uint64_t peer = (uintptr_t)event.peer;
        if (event.type == ENET_EVENT_TYPE_CONNECT) {
            tell(of, peer, CONNECTED, NULL, 0);
        } else if (event.type == ENET_EVENT_TYPE_RECEIVE) {
            tell(of, peer, MESSAGE, event.packet->data, event.packet->dataLength);
            enet_packet_destroy(event.packet);
        } else if (event.type == ENET_EVENT_TYPE_DISCONNECT) {
            tell(of, peer, ENDED, NULL, 0);
        }
    }
    if (more < 0)
        fail("the socket is of no more use");
}

int node_send(struct node *node, uint64_t peer, const void *message, size_t length, int is_reliable) {
    (void)node;
    ENetPacket *packet =
        enet_packet_create(message, length, is_reliable ? ENET_PACKET_FLAG_RELIABLE : 0);
    if (packet == NULL)
        fail("no memory");
    if (enet_peer_send(peer_of(peer), 0, packet) == 0)
        return 1;
    enet_packet_destroy(packet);
    return 0;
}

void node_flush(struct node *node) {
    enet_host_flush(host_of(node));
}

void node_leave(struct node *node, uint64_t peer) {
    (void)node;
    enet_peer_disconnect_later(peer_of(peer), 0);
}

void node_free(struct node *node) {
    enet_host_destroy(host_of(node));
}
