/* The server and the clients of one measurement over a library of C, as `src/sockets/play.rs` has them. The library
 * is behind `node.h`.
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

#include "node.h"

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
    struct node *node;
    uint64_t peer;
    int is_connected, has_ended;
    uint64_t sent, read, reported;
};

struct meter {
    uint64_t processor, clock;
};

struct ticks {
    uint64_t period, next, limit;
};

void fail(const char *what) {
    fprintf(stderr, "%s\n", what);
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

static void *message_of(size_t length) {
    void *message = malloc(length + 1);
    if (message == NULL)
        fail("no memory");
    memset(message, 7, length);
    return message;
}

struct server {
    uint64_t *peers;
    size_t clients, connected, ended;
    uint64_t read;
};

static void server_sees(void *of, uint64_t peer, enum seen seen, const void *message, size_t length) {
    struct server *server = of;
    (void)message;
    (void)length;
    if (seen == CONNECTED) {
        if (server->connected == server->clients)
            fail("a client came twice");
        server->peers[server->connected++] = peer;
    } else if (seen == MESSAGE) {
        server->read += 1;
    } else {
        server->ended += 1;
    }
}

static void serve(const struct shape *shape) {
    uint16_t port;
    struct node *node = node_server(shape->clients, &port);
    printf("%u\n", (unsigned)port);
    fflush(stdout);

    int has_ticks = shape->down > 0;
    struct ticks ticks = ticks_of(shape->period, shape->measured);
    void *down = message_of(shape->down);
    struct server server = {calloc(shape->clients, sizeof(uint64_t)), shape->clients, 0, 0, 0};
    if (server.peers == NULL)
        fail("no memory");
    uint64_t reported = 0, before = 0;
    struct meter meter = started();
    while (server.ended < shape->clients) {
        check(&ticks);
        int were_all = server.connected == shape->clients, was_whole = server.ended == 0;
        node_turn(node, has_ticks ? 0 : PATIENCE, server_sees, &server);
        if (!were_all && server.connected == shape->clients) {
            meter = started();
            before = server.read;
        }
        if (was_whole && server.ended > 0) {
            if (server.connected < shape->clients)
                fail("a client ended before all had come");
            say(meter, server.read - before);
        }
        if (shape->under_way > 0 && server.read - reported >= (shape->under_way + 3) / 4) {
            node_send(node, server.peers[0], &server.read, sizeof server.read, 1);
            reported = server.read;
        }
        if (has_ticks) {
            for (size_t n = 0; n < server.connected && server.ended == 0; n++)
                node_send(node, server.peers[n], down, shape->down, 0);
            node_flush(node);
            rest(&ticks);
        }
    }
    node_free(node);
    free(server.peers);
    free(down);
}

static void client_sees(void *of, uint64_t peer, enum seen seen, const void *message, size_t length) {
    struct client *client = of;
    (void)peer;
    if (seen == CONNECTED) {
        client->is_connected = 1;
    } else if (seen == MESSAGE) {
        client->read += 1;
        if (length == sizeof client->reported)
            memcpy(&client->reported, message, length);
    } else {
        client->has_ended = 1;
    }
}

static void turn(struct client *client, unsigned longest) {
    node_turn(client->node, longest, client_sees, client);
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
        if (!node_send(client->node, client->peer, message, shape->up, shape->is_reliable))
            break;
        client->sent += 1;
    }
}

static void drive(const struct shape *shape, uint16_t port) {
    struct client *clients = calloc(shape->clients, sizeof *clients);
    if (clients == NULL)
        fail("no memory");
    for (size_t n = 0; n < shape->clients; n++)
        clients[n].node = node_client(port, &clients[n].peer);
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
                node_flush(client->node);
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
        node_leave(clients[n].node, clients[n].peer);
    turn_until(clients, shape->clients, 1);
    for (size_t n = 0; n < shape->clients; n++)
        node_free(clients[n].node);
    free(clients);
    free(message);
}

int main(int count, char **words) {
    if (count == 2 && strcmp(words[1], "version") == 0) {
        node_say_version();
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
    return 0;
}
