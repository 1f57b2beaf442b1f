/* What the programs of this folder have in common: checks that say where they failed, and a network of arrays. */
#ifndef CHECK_H
#define CHECK_H

#include "porous.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ends the program unless a call answers what it should. */
#define IS(call, wanted) check_status((call), (wanted), #call, __FILE__, __LINE__)

/* Ends the program unless a condition holds. */
#define HOLDS(condition) check_holds((condition) ? 1 : 0, #condition, __FILE__, __LINE__)

static void check_status(int64_t got, int64_t wanted, const char *call, const char *file, int line) {
  if (got != wanted) {
    fprintf(stderr, "%s:%d: %s is %ld (%s), not %ld\n", file, line, call, (long)got,
            porous_status_text((porous_status)got), (long)wanted);
    exit(1);
  }
}

static void check_holds(int holds, const char *condition, const char *file, int line) {
  if (!holds) {
    fprintf(stderr, "%s:%d: not so: %s\n", file, line, condition);
    exit(1);
  }
}

/* Numbers that look random, from a state that is not 0. */
static uint32_t draw(uint32_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 17;
  *state ^= *state << 5;
  return *state;
}

static porous_address own_address(uint32_t number) {
  porous_address address;
  memset(&address, 0, sizeof address);
  address.kind = POROUS_ADDRESS_OWN;
  address.len = 4;
  address.port = 1;
  memcpy(address.bytes, &number, sizeof number);
  return address;
}

static porous_connection_ids ids_of(uint8_t kind) {
  porous_connection_ids ids;
  memset(&ids, 0, sizeof ids);
  ids.size = sizeof ids;
  ids.kind = kind;
  return ids;
}

static porous_config preset(uint32_t number) {
  porous_config config;
  IS(porous_config_init(&config, sizeof config, number), POROUS_OK);
  return config;
}

/* A host without a socket; no two have the same number. */
static porous_host *core_host(const porous_config *config, uint32_t number) {
  uint8_t seed[32];
  porous_host *host = NULL;
  memset(seed, 7, sizeof seed);
  memcpy(seed, &number, sizeof number);
  IS(porous_core_new(config, seed, &host), POROUS_OK);
  HOLDS(host != NULL);
  return host;
}

/* A datagram under way. */
typedef struct datagram {
  uint32_t from;
  uint32_t to;
  uint32_t len;
  uint8_t bytes[1200];
} datagram;

/* Hosts, and the datagrams between them. Host n has the address own_address(n), unless it has moved. */
typedef struct network {
  porous_host **hosts;
  uint32_t count;
  /* In percent. */
  uint32_t loss;
  uint32_t chance;
  uint64_t now;
  datagram *under_way;
  uint32_t used;
  uint32_t room;
  /* The host with this number sends from the address of the number moved_to, and gets what goes there. */
  uint32_t moved;
  uint32_t moved_to;
} network;

static void network_new(network *net, porous_host **hosts, uint32_t count, uint32_t loss) {
  memset(net, 0, sizeof *net);
  net->hosts = hosts;
  net->count = count;
  net->loss = loss;
  net->chance = 1;
  net->room = 16384;
  net->under_way = (datagram *)malloc(net->room * sizeof(datagram));
  net->moved = UINT32_MAX;
  net->moved_to = UINT32_MAX;
  HOLDS(net->under_way != NULL);
}

static void network_free(network *net) {
  uint32_t i;
  for (i = 0; i < net->count; i++) {
    IS(porous_host_free(net->hosts[i]), POROUS_OK);
  }
  free(net->under_way);
}

static void network_collect(network *net, uint32_t number) {
  porous_transmit transmit;
  uint8_t buffer[1200];
  while (porous_core_output(net->hosts[number], &transmit, buffer, sizeof buffer) == 1) {
    datagram *next;
    if (draw(&net->chance) % 100 < net->loss) {
      continue;
    }
    HOLDS(net->used < net->room);
    next = &net->under_way[net->used++];
    next->from = number == net->moved ? net->moved_to : number;
    memcpy(&next->to, transmit.to.bytes, sizeof next->to);
    next->len = (uint32_t)transmit.len;
    memcpy(next->bytes, buffer, next->len);
  }
}

/* Delivers what is under way, lets 5 ms pass, and collects what is sent. */
static void network_turn(network *net) {
  uint32_t i;
  net->now += 5000;
  for (i = 0; i < net->count; i++) {
    IS(porous_core_time(net->hosts[i], net->now), POROUS_OK);
  }
  for (i = 0; i < net->used; i++) {
    const datagram *next = &net->under_way[i];
    porous_address from = own_address(next->from);
    uint32_t to = next->to == net->moved_to ? net->moved : next->to;
    if (to < net->count && next->to != net->moved) {
      HOLDS(porous_core_input(net->hosts[to], &from, POROUS_ECN_NOT_ECT, next->bytes, next->len) >= 0);
    }
  }
  net->used = 0;
  for (i = 0; i < net->count; i++) {
    IS(porous_core_timeout(net->hosts[i]), POROUS_OK);
    network_collect(net, i);
  }
}

/* Takes turns until there is an event of this type at this host, and returns it. Others are skipped. */
static porous_event network_wait(network *net, uint32_t number, uint32_t type) {
  porous_event event;
  uint32_t turns;
  memset(&event, 0, sizeof event);
  event.size = sizeof event;
  for (turns = 0; turns < 20000; turns++) {
    while (porous_poll_event(net->hosts[number], &event) == 1) {
      if (event.type == type) {
        return event;
      }
    }
    network_turn(net);
  }
  fprintf(stderr, "no event %u at host %u\n", (unsigned)type, (unsigned)number);
  exit(1);
}

#endif
