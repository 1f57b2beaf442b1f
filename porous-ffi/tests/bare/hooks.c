/* A library with memory of the program's own: two hosts without sockets say hello over an array. Built with
 * POROUS_HOOKS, and for a library without the standard library of Rust with POROUS_WITHOUT_STD as well. */
#include "porous.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MUST(is_so)                                            \
  do {                                                         \
    if (!(is_so)) {                                            \
      fprintf(stderr, "line %d: %s\n", __LINE__, #is_so);      \
      exit(1);                                                 \
    }                                                          \
  } while (0)

typedef struct counts {
  size_t given, taken, blocks;
} counts;

static void *give(void *user, size_t size, size_t align) {
  counts *all = user;
  void *memory;
  MUST(align > 0 && (align & (align - 1)) == 0);
  size = (size + align - 1) / align * align;
  memory = aligned_alloc(align < sizeof(void *) ? sizeof(void *) : align, size < sizeof(void *) ? sizeof(void *) : size);
  all->given += size;
  all->blocks += 1;
  return memory;
}

static void take(void *user, void *memory, size_t size, size_t align) {
  counts *all = user;
  all->taken += (size + align - 1) / align * align;
  all->blocks -= 1;
  free(memory);
}

/* One datagram from each to the other, as long as there are any. */
static void carry(porous_host *from, porous_host *to, const porous_address *where, uint64_t now) {
  static unsigned char buffer[2048];
  porous_transmit transmit;
  MUST(porous_core_time(from, now) == 0 && porous_core_time(to, now) == 0);
  MUST(porous_core_timeout(from) == 0);
  while (porous_core_output(from, &transmit, buffer, sizeof buffer) == 1) {
    MUST(porous_core_input(to, where, POROUS_ECN_NOT_ECT, buffer, (size_t)transmit.len) >= 0);
  }
}

static porous_host *made(uint32_t preset, uint8_t first) {
  uint8_t seed[32] = {0};
  porous_config config;
  porous_host *host;
  seed[0] = first;
  MUST(porous_config_init(&config, sizeof config, preset) == 0);
  MUST(porous_core_new(&config, seed, &host) == 0);
  return host;
}

int main(void) {
  static const char text[] = "hello";
  porous_address places[2] = {{0}};
  porous_host *server, *client;
  porous_event event = {0};
  porous_connection_ids ids = {0};
  porous_peer peer;
  uint64_t bytes, peak, now;
  int is_there = 0, is_said = 0;
  counts all = {0, 0, 0};
  MUST(porous_check_abi(POROUS_ABI) == 0);
  MUST(porous_set_allocator(give, NULL, &all) == POROUS_ERR_NULL);
  MUST(porous_set_allocator(give, take, &all) == 0);
  MUST(porous_set_allocator(give, take, &all) == POROUS_ERR_BUSY);
  MUST(porous_memory(&bytes, &peak) == 0 && bytes == 0 && peak == 0);
  MUST(porous_memory(NULL, &peak) == POROUS_ERR_NULL);

  server = made(POROUS_PRESET_DEFAULT, 1);
  client = made(POROUS_PRESET_CLIENT, 2);
  places[0].kind = places[1].kind = POROUS_ADDRESS_OWN;
  places[0].len = places[1].len = 1;
  places[1].bytes[0] = 1;
  ids.size = sizeof ids;
  ids.kind = POROUS_IDS_QUIC_LB;
  ids.server_id_len = ids.has_key = 1;
#ifdef POROUS_WITHOUT_STD
  /* Built without the feature `quic-lb`. */
  MUST(porous_set_connection_ids(server, &ids) == POROUS_ERR_UNSUPPORTED);
#else
  MUST(porous_set_connection_ids(server, &ids) == POROUS_ERR_IDS_TOO_SHORT);
#endif
  MUST(porous_listen(server, POROUS_LISTEN_OPEN) == 0);
  MUST(porous_connect(client, &places[0], &peer) == 0);
  MUST(all.blocks > 0);
  event.size = sizeof event;
  for (now = 1000; !is_said && now < 10000000; now += 1000) {
    carry(client, server, &places[1], now);
    carry(server, client, &places[0], now);
    while (porous_poll_event(client, &event) == 1) {
      is_there = is_there || event.type == POROUS_EVENT_CONNECTED;
      if (event.type == POROUS_EVENT_CONNECTED) {
        MUST(porous_send(client, peer, 0, POROUS_RELIABLE, text, sizeof text) == 0);
      }
    }
    while (porous_poll_event(server, &event) == 1) {
      if (event.type == POROUS_EVENT_READABLE) {
        porous_received what;
        char packet[16];
        MUST(porous_receive(server, event.peer, &what, packet, sizeof packet) == 1);
        MUST(what.len == sizeof text && strcmp(packet, text) == 0);
        is_said = 1;
      }
    }
  }
  MUST(is_there && is_said);

  MUST(porous_memory(&bytes, &peak) == 0);
  MUST(bytes > 0 && bytes <= peak && peak < 1u << 20);
  MUST(porous_host_free(client) == 0 && porous_host_free(server) == 0);
  MUST(porous_memory(&bytes, &peak) == 0);
#ifdef POROUS_WITHOUT_STD
  MUST(bytes == 0 && all.blocks == 0 && all.given == all.taken);
#endif
  printf("hello, of %lu bytes at most\n", (unsigned long)peak);
  return 0;
}
