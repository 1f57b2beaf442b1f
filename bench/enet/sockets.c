/* The server and the clients of one measurement over ENet's C library, as `src/sockets/play.rs` has them.
 *
 *     version
 *     serve CLIENTS UP DOWN RELIABLE UNDER_WAY BURST PERIOD_NS MEASURED_MS
 *     drive CLIENTS UP DOWN RELIABLE UNDER_WAY BURST PERIOD_NS MEASURED_MS PORT
 *
 * UNDER_WAY is 0 where clients have ticks, PERIOD_NS is 0 where they have none. A server says its port
 * first. At the end a process says its microseconds of processor time, those that have passed, and the
 * messages that it has read.
 */
#define _POSIX_C_SOURCE 200809L

#include <enet/enet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

/* Milliseconds: the longest sleep, and the time beside the measurement. */
enum { PATIENCE = 100, GRACE = 10000 };

struct shape {
    size_t clients, up, down;
    int is_reliable;
    uint64_t under_way, burst, period;
    uint64_t measured;
};

struct client {
    ENetHost *host;
    ENetPeer *peer;
    int is_connected, has_ended;
    uint64_t sent, read, reported;
};

struct meter {
    uint64_t processor, clock;
};

struct ticks {
    uint64_t period, next, limit;
};

static void fail(const char *what) {
    fprintf(stderr, "enet: %s\n", what);
    exit(1);
}

static uint64_t nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t processor_microseconds(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
           (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static struct meter started(void) {
    struct meter meter = {processor_microseconds(), nanoseconds()};
    return meter;
}

static void say(struct meter meter, uint64_t read) {
    printf("%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", processor_microseconds() - meter.processor,
           (nanoseconds() - meter.clock) / 1000, read);
    fflush(stdout);
}

static struct ticks ticks_of(uint64_t period, uint64_t measured) {
    uint64_t now = nanoseconds();
    struct ticks ticks = {period, now, now + (measured + GRACE) * 1000000};
    return ticks;
}

/* Sleeps until the next tick. Ticks that are missed are not made up for. */
static void rest(struct ticks *ticks) {
    uint64_t now = nanoseconds();
    ticks->next += ticks->period;
    if (ticks->next < now)
        ticks->next = now;
    struct timespec left = {(time_t)((ticks->next - now) / 1000000000),
                            (long)((ticks->next - now) % 1000000000)};
    nanosleep(&left, NULL);
}

static void check(const struct ticks *ticks) {
    if (nanoseconds() > ticks->limit)
        fail("it takes too long");
}

static int sends(ENetPeer *peer, const void *message, size_t length, int is_reliable) {
    ENetPacket *packet =
        enet_packet_create(message, length, is_reliable ? ENET_PACKET_FLAG_RELIABLE : 0);
    if (packet == NULL)
        fail("no memory");
    if (enet_peer_send(peer, 0, packet) == 0)
        return 1;
    enet_packet_destroy(packet);
    return 0;
}

/* The next event, after the first that `enet_host_service` told. A connection that begins or ends stops it from
 * taking in more datagrams. */
static int next_event(ENetHost *host, ENetEvent *event) {
    if (event->type == ENET_EVENT_TYPE_RECEIVE)
        return enet_host_check_events(host, event);
    return enet_host_service(host, event, 0);
}

static void *message_of(size_t length) {
    void *message = malloc(length + 1);
    if (message == NULL)
        fail("no memory");
    memset(message, 7, length);
    return message;
}

static ENetAddress loopback(uint16_t port) {
    ENetAddress address;
    if (enet_address_set_host_ip(&address, "127.0.0.1") != 0)
        fail("no address");
    address.port = port;
    return address;
}

static void serve(const struct shape *shape) {
    ENetAddress address = loopback(0);
    ENetHost *host = enet_host_create(&address, shape->clients, 1, 0, 0);
    if (host == NULL || enet_socket_get_address(host->socket, &address) != 0)
        fail("no socket");
    printf("%u\n", (unsigned)address.port);
    fflush(stdout);

    int has_ticks = shape->down > 0;
    struct ticks ticks = ticks_of(shape->period, shape->measured);
    void *down = message_of(shape->down);
    ENetPeer **peers = calloc(shape->clients, sizeof *peers);
    if (peers == NULL)
        fail("no memory");
    size_t connected = 0, ended = 0;
    uint64_t read = 0, reported = 0, before = 0;
    struct meter meter = started();
    while (ended < shape->clients) {
        check(&ticks);
        int were_all = connected == shape->clients, was_whole = ended == 0;
        ENetEvent event;
        int more = enet_host_service(host, &event, has_ticks ? 0 : PATIENCE);
        for (; more > 0; more = next_event(host, &event)) {
            if (event.type == ENET_EVENT_TYPE_CONNECT) {
                if (connected == shape->clients)
                    fail("a client came twice");
                peers[connected++] = event.peer;
            } else if (event.type == ENET_EVENT_TYPE_RECEIVE) {
                read += 1;
                enet_packet_destroy(event.packet);
            } else if (event.type == ENET_EVENT_TYPE_DISCONNECT) {
                ended += 1;
            }
        }
        if (more < 0)
            fail("the socket is of no more use");
        if (!were_all && connected == shape->clients) {
            meter = started();
            before = read;
        }
        if (was_whole && ended > 0) {
            if (connected < shape->clients)
                fail("a client ended before all had come");
            say(meter, read - before);
        }
        if (shape->under_way > 0 && read - reported >= (shape->under_way + 3) / 4) {
            sends(peers[0], &read, sizeof read, 1);
            reported = read;
        }
        if (has_ticks) {
            for (size_t n = 0; n < connected && ended == 0; n++)
                sends(peers[n], down, shape->down, 0);
            enet_host_flush(host);
            rest(&ticks);
        }
    }
    enet_host_destroy(host);
    free(peers);
    free(down);
}

static void turn(struct client *client, enet_uint32 longest) {
    ENetEvent event;
    int more = enet_host_service(client->host, &event, longest);
    for (; more > 0; more = next_event(client->host, &event)) {
        if (event.type == ENET_EVENT_TYPE_CONNECT) {
            client->is_connected = 1;
        } else if (event.type == ENET_EVENT_TYPE_RECEIVE) {
            client->read += 1;
            if (event.packet->dataLength == sizeof client->reported)
                memcpy(&client->reported, event.packet->data, sizeof client->reported);
            enet_packet_destroy(event.packet);
        } else if (event.type == ENET_EVENT_TYPE_DISCONNECT) {
            client->has_ended = 1;
        }
    }
    if (more < 0)
        fail("the socket is of no more use");
}

static void turn_until(struct client *clients, size_t count, int is_end) {
    struct ticks ticks = ticks_of(1000000, 0);
    size_t done = 0;
    while (done < count) {
        check(&ticks);
        done = 0;
        for (size_t n = 0; n < count; n++) {
            turn(&clients[n], 0);
            done += (size_t)(is_end ? clients[n].has_ended : clients[n].is_connected);
        }
        rest(&ticks);
    }
}

static void send_some(struct client *client, const struct shape *shape, uint64_t count,
                      const void *message) {
    for (; count > 0; count--) {
        if (!sends(client->peer, message, shape->up, shape->is_reliable))
            break;
        client->sent += 1;
    }
}

static void drive(const struct shape *shape, uint16_t port) {
    struct client *clients = calloc(shape->clients, sizeof *clients);
    if (clients == NULL)
        fail("no memory");
    ENetAddress address = loopback(port);
    for (size_t n = 0; n < shape->clients; n++) {
        clients[n].host = enet_host_create(NULL, 1, 1, 0, 0);
        if (clients[n].host == NULL)
            fail("no socket");
        clients[n].peer = enet_host_connect(clients[n].host, &address, 1, 0);
        if (clients[n].peer == NULL)
            fail("no peer");
    }
    turn_until(clients, shape->clients, 0);

    void *message = message_of(shape->up);
    struct meter meter = started();
    struct ticks ticks = ticks_of(shape->period, shape->measured);
    while (nanoseconds() - meter.clock < shape->measured * 1000000) {
        for (size_t n = 0; n < shape->clients; n++) {
            struct client *client = &clients[n];
            if (shape->under_way > 0) {
                uint64_t waiting = client->sent - client->reported;
                send_some(client, shape, shape->under_way - waiting, message);
                turn(client, PATIENCE);
            } else {
                turn(client, 0);
                send_some(client, shape, shape->burst, message);
                enet_host_flush(client->host);
            }
            if (client->has_ended)
                fail("a connection ended early");
        }
        if (shape->under_way == 0)
            rest(&ticks);
    }
    uint64_t read = 0;
    for (size_t n = 0; n < shape->clients; n++)
        read += clients[n].read;
    say(meter, read);

    for (size_t n = 0; n < shape->clients; n++)
        enet_peer_disconnect_later(clients[n].peer, 0);
    turn_until(clients, shape->clients, 1);
    for (size_t n = 0; n < shape->clients; n++)
        enet_host_destroy(clients[n].host);
    free(clients);
    free(message);
}

int main(int count, char **words) {
    if (enet_initialize() != 0)
        fail("it does not begin");
    if (count == 2 && strcmp(words[1], "version") == 0) {
        ENetVersion version = enet_linked_version();
        printf("%u.%u.%u\n", (unsigned)ENET_VERSION_GET_MAJOR(version),
               (unsigned)ENET_VERSION_GET_MINOR(version),
               (unsigned)ENET_VERSION_GET_PATCH(version));
        return 0;
    }
    if (count < 10)
        fail("see the head of the file for the arguments");
    uint64_t figures[9] = {0};
    for (int n = 2; n < count && n < 11; n++)
        figures[n - 2] = strtoull(words[n], NULL, 10);
    struct shape shape = {(size_t)figures[0], (size_t)figures[1], (size_t)figures[2],
                          figures[3] != 0,    figures[4],         figures[5],
                          figures[6],         figures[7]};
    if (strcmp(words[1], "serve") == 0)
        serve(&shape);
    else
        drive(&shape, (uint16_t)figures[8]);
    enet_deinitialize();
    return 0;
}
