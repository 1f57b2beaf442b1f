/* Hosts on sockets. */
#include "check.h"

#include <unistd.h>

#include <netinet/in.h>
#include <sys/socket.h>

static porous_host *bound(const char *address) {
  porous_config config = preset(POROUS_PRESET_DEFAULT);
  porous_host *host;
  IS(porous_udp_bind(&config, address, &host), POROUS_OK);
  return host;
}

static void binding(void) {
  porous_config config = preset(POROUS_PRESET_DEFAULT);
  porous_host *host = NULL, *first = bound("127.0.0.1:0");
  porous_address address;
  char text[64], error[256];
  IS(porous_udp_bind(NULL, "127.0.0.1:0", &host), POROUS_ERR_NULL);
  IS(porous_udp_bind(&config, NULL, &host), POROUS_ERR_NULL);
  IS(porous_udp_bind(&config, "127.0.0.1:0", NULL), POROUS_ERR_NULL);
  IS(porous_udp_bind(&config, "127.0.0.1", &host), POROUS_ERR_ADDRESS);
  IS(porous_udp_bind(&config, "\xff:0", &host), POROUS_ERR_UTF8);
  config.max_datagram = 1;
  IS(porous_udp_bind(&config, "127.0.0.1:0", &host), POROUS_ERR_CONFIG_MAX_DATAGRAM);
  config = preset(POROUS_PRESET_DEFAULT);

  IS(porous_udp_address(first, &address), POROUS_OK);
  HOLDS(porous_address_format(&address, text, sizeof text) > 0);
  IS(porous_udp_bind(&config, "192.0.2.1:0", &host), POROUS_ERR_NOT_AVAILABLE);
  IS(porous_udp_bind(&config, text, &host), POROUS_ERR_IN_USE);
  HOLDS(host == NULL);
  HOLDS(porous_io_error_text(error, sizeof error) > 0 && strstr(error, text) != NULL);
  IS(porous_io_error_text(error, 3), POROUS_ERR_SMALL);
  IS(porous_host_free(first), POROUS_OK);
}

static void adopting(void) {
  porous_config config = preset(POROUS_PRESET_DEFAULT);
  porous_host *host = NULL;
  porous_address address;
  struct sockaddr_in here;
  ptrdiff_t number = -1;
  int descriptor = socket(AF_INET, SOCK_DGRAM, 0);
  memset(&here, 0, sizeof here);
  here.sin_family = AF_INET;
  here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  HOLDS(bind(descriptor, (struct sockaddr *)&here, sizeof here) == 0);
  IS(porous_udp_adopt(NULL, descriptor, &host), POROUS_ERR_NULL);
  IS(porous_udp_adopt(&config, descriptor, NULL), POROUS_ERR_NULL);
  IS(porous_udp_adopt(&config, -1, &host), POROUS_ERR_VALUE);
  IS(porous_udp_adopt(&config, PTRDIFF_MAX, &host), POROUS_ERR_VALUE);
  IS(porous_udp_adopt(&config, descriptor, &host), POROUS_OK);
  IS(porous_udp_socket(host, &number), POROUS_OK);
  HOLDS(number == descriptor);
  IS(porous_udp_socket(host, NULL), POROUS_ERR_NULL);
  IS(porous_udp_address(host, &address), POROUS_OK);
  HOLDS(address.kind == POROUS_ADDRESS_IPV4 && address.port != 0);
  IS(porous_host_free(host), POROUS_OK);
  /* The host has closed it. */
  HOLDS(close(descriptor) != 0);
}

static void turns(void) {
  porous_host *host = bound("127.0.0.1:0");
  uint64_t due = 0;
  porous_host_stats stats;
  memset(&stats, 0, sizeof stats);
  stats.size = sizeof stats;
  IS(porous_udp_step(host), POROUS_OK);
  IS(porous_udp_transmit(host), POROUS_OK);
  IS(porous_udp_wait(host, 0), POROUS_OK);
  IS(porous_udp_deadline(host, &due), POROUS_OK);
  HOLDS(due == UINT64_MAX);
  IS(porous_udp_deadline(host, NULL), POROUS_ERR_NULL);
  IS(porous_udp_is_blocked(host), 0);
  IS(porous_udp_set_time_limit(host, 1000), POROUS_OK);
  IS(porous_udp_set_time_limit(host, UINT64_MAX), POROUS_OK);
  IS(porous_udp_step(host), POROUS_OK);
  IS(porous_udp_address(host, NULL), POROUS_ERR_NULL);
  IS(porous_host_info(host, &stats), POROUS_OK);
  HOLDS(stats.send_lost == 0 && stats.datagrams_sent == 0);
  IS(porous_udp_close(host, 0, 0), POROUS_OK);
  IS(porous_host_free(host), POROUS_OK);
}

/* A proxy that knows its server by what stands behind the end of datagrams. */
static void suffixes(void) {
  porous_host *host = bound("127.0.0.1:0");
  porous_address proxy, nowhere = own_address(1);
  porous_peer peer;
  struct sockaddr_in here;
  socklen_t here_len = sizeof here;
  uint8_t token[33], datagram[2000];
  int descriptor = socket(AF_INET, SOCK_DGRAM, 0);
  memset(token, 9, sizeof token);
  memset(&here, 0, sizeof here);
  here.sin_family = AF_INET;
  here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  HOLDS(bind(descriptor, (struct sockaddr *)&here, sizeof here) == 0);
  HOLDS(getsockname(descriptor, (struct sockaddr *)&here, &here_len) == 0);
  IS(porous_address_parse("127.0.0.1:1", &proxy), POROUS_OK);
  proxy.port = ntohs(here.sin_port);
  IS(porous_udp_set_suffix(host, NULL, token, 1), POROUS_ERR_NULL);
  IS(porous_udp_set_suffix(host, &proxy, NULL, 1), POROUS_ERR_NULL);
  IS(porous_udp_set_suffix(host, &proxy, token, SIZE_MAX), POROUS_ERR_VALUE);
  IS(porous_udp_set_suffix(host, &nowhere, token, 1), POROUS_ERR_ADDRESS);
  IS(porous_udp_set_suffix(host, &proxy, token, 33), POROUS_ERR_TOO_LONG);
  IS(porous_udp_set_suffix(host, &proxy, token, 32), POROUS_OK);
  IS(porous_udp_set_suffix(host, &proxy, NULL, 0), POROUS_OK);
  IS(porous_udp_set_suffix(host, &proxy, "token", 5), POROUS_OK);
  IS(porous_connect(host, &proxy, &peer), POROUS_OK);
  IS(porous_udp_set_suffix(host, &proxy, token, 32), POROUS_ERR_ALREADY_CONNECTED);
  IS(porous_udp_step(host), POROUS_OK);
  HOLDS(recv(descriptor, datagram, sizeof datagram, 0) == 1205);
  HOLDS(memcmp(&datagram[1200], "token", 5) == 0);
  HOLDS(close(descriptor) == 0);
  IS(porous_host_free(host), POROUS_OK);
}

enum { SHARDS = 4 };

/* Each of them has the port, and a client is served by one of them. */
static void shared_port(porous_host *shards[SHARDS]) {
  porous_host *client = bound("127.0.0.1:0");
  porous_address address, other;
  porous_peer peer;
  uint32_t i, rounds = 0, peers = 0;
  IS(porous_udp_address(shards[0], &address), POROUS_OK);
  for (i = 0; i < SHARDS; i++) {
    IS(porous_udp_address(shards[i], &other), POROUS_OK);
    HOLDS(memcmp(&address, &other, sizeof address) == 0);
    IS(porous_listen(shards[i], POROUS_LISTEN_OPEN), POROUS_OK);
  }
  IS(porous_connect(client, &address, &peer), POROUS_OK);
  while (porous_peer_state(client, peer) != POROUS_STATE_CONNECTED) {
    IS(porous_udp_wait(client, 1000), POROUS_OK);
    for (i = 0; i < SHARDS; i++) {
      IS(porous_udp_step(shards[i]), POROUS_OK);
    }
    HOLDS(++rounds < 100000);
  }
  for (i = 0; i < SHARDS; i++) {
    peers += (uint32_t)porous_peers(shards[i], NULL, 0);
  }
  HOLDS(peers == 1);
  IS(porous_host_free(client), POROUS_OK);
}

static void sharing(void) {
  porous_config config = preset(POROUS_PRESET_DEFAULT);
  porous_host *shards[SHARDS] = {NULL}, *more[SHARDS] = {NULL};
  porous_address address;
  porous_status status;
  char text[64];
  uint32_t i;
  IS(porous_udp_bind_shards(NULL, "127.0.0.1:0", SHARDS, shards), POROUS_ERR_NULL);
  IS(porous_udp_bind_shards(&config, NULL, SHARDS, shards), POROUS_ERR_NULL);
  IS(porous_udp_bind_shards(&config, "127.0.0.1:0", SHARDS, NULL), POROUS_ERR_NULL);
  IS(porous_udp_bind_shards(&config, "127.0.0.1", SHARDS, shards), POROUS_ERR_ADDRESS);
  IS(porous_udp_bind_shards(&config, "127.0.0.1:0", 0, shards), POROUS_ERR_VALUE);
  IS(porous_udp_bind_shards(&config, "127.0.0.1:0", 3, shards), POROUS_ERR_VALUE);
  IS(porous_udp_bind_shards(&config, "127.0.0.1:0", 256, shards), POROUS_ERR_VALUE);
  IS(porous_udp_bind_shards(&config, "127.0.0.1:0", UINT32_MAX, shards), POROUS_ERR_VALUE);
  IS(porous_udp_bind_shards(&config, "127.0.0.1:0", 1, shards), POROUS_OK);
  IS(porous_host_free(shards[0]), POROUS_OK);
  shards[0] = NULL;
  status = porous_udp_bind_shards(&config, "127.0.0.1:0", SHARDS, shards);
#ifdef __linux__
  IS(status, POROUS_OK);
  shared_port(shards);
  IS(porous_udp_address(shards[0], &address), POROUS_OK);
  HOLDS(porous_address_format(&address, text, sizeof text) > 0);
  IS(porous_udp_bind_shards(&config, text, SHARDS, more), POROUS_ERR_IN_USE);
  IS(porous_udp_bind_shards(&config, "192.0.2.1:0", SHARDS, more), POROUS_ERR_NOT_AVAILABLE);
  config.connection_id_len = 1;
  IS(porous_udp_bind_shards(&config, "127.0.0.1:0", SHARDS, more), POROUS_ERR_IDS_TOO_SHORT);
  config.connection_id_len = POROUS_NO_CONNECTION_IDS;
  IS(porous_udp_bind_shards(&config, "127.0.0.1:0", SHARDS, more), POROUS_ERR_IDS_NO_BYTES);
#else
  IS(status, POROUS_ERR_UNSUPPORTED);
#endif
  for (i = 0; i < SHARDS; i++) {
    HOLDS(more[i] == NULL);
    IS(porous_host_free(shards[i]), POROUS_OK);
  }
}

static porous_status connect_to(porous_host *host, const char *text) {
  porous_address address;
  porous_peer peer;
  IS(porous_address_parse(text, &address), POROUS_OK);
  return porous_connect(host, &address, &peer);
}

static void addresses_of_nobody(void) {
  porous_host *host = bound("127.0.0.1:0");
  porous_address itself = own_address(1);
  porous_peer peer;
  IS(connect_to(host, "127.0.0.1:0"), POROUS_ERR_ADDRESS_PORT_ZERO);
  IS(connect_to(host, "0.0.0.0:1"), POROUS_ERR_ADDRESS_UNSPECIFIED);
  IS(connect_to(host, "255.255.255.255:1"), POROUS_ERR_ADDRESS_BROADCAST);
  IS(connect_to(host, "[::1]:1"), POROUS_ERR_ADDRESS_FAMILY);
  IS(porous_connect(host, &itself, &peer), POROUS_ERR_ADDRESS);
  IS(porous_udp_address(host, &itself), POROUS_OK);
  IS(porous_connect(host, &itself, &peer), POROUS_ERR_ADDRESS_ITSELF);
  IS(porous_host_free(host), POROUS_OK);
}

/* Two hosts on sockets, which are not those of porous_core_new. */
static void conversation(void) {
  porous_host *server = bound("127.0.0.1:0"), *client = bound("127.0.0.1:0");
  porous_address to;
  porous_peer peer;
  porous_event event;
  uint32_t rounds = 0;
  uint64_t number;
  porous_connection_ids ids = ids_of(POROUS_IDS_SHARDED);
  ids.bits = 1;
  memset(&event, 0, sizeof event);
  event.size = sizeof event;
  IS(porous_core_time(server, 1), POROUS_ERR_KIND);
  IS(porous_core_timeout(server), POROUS_ERR_KIND);
  IS(porous_core_deadline(server, &number), POROUS_ERR_KIND);
  IS(porous_core_buffer_size(server, &number), POROUS_ERR_KIND);
  IS(porous_core_output(server, NULL, NULL, 0), POROUS_ERR_KIND);
  IS(porous_core_input(server, NULL, 0, NULL, 0), POROUS_ERR_KIND);
  IS(porous_core_unreachable(server, NULL), POROUS_ERR_KIND);
  IS(porous_core_port_closed(server, NULL), POROUS_ERR_KIND);
  IS(porous_core_unix_time(server, 1), POROUS_ERR_KIND);
  IS(porous_core_backlog(server, 1), POROUS_ERR_KIND);
  IS(porous_set_connection_ids(server, &ids), POROUS_OK);
  ids.shard = 2;
  IS(porous_set_connection_ids(server, &ids), POROUS_ERR_IDS_SHARD);
  IS(porous_listen(server, POROUS_LISTEN_OPEN), POROUS_OK);
  IS(porous_udp_address(server, &to), POROUS_OK);
  IS(porous_connect(client, &to, &peer), POROUS_OK);
  while (porous_peer_state(client, peer) != POROUS_STATE_CONNECTED) {
    IS(porous_udp_wait(client, 1000), POROUS_OK);
    while (porous_poll_event(client, &event) == 1) {
    }
    IS(porous_udp_step(server), POROUS_OK);
    HOLDS(++rounds < 100000);
  }
  /* The server hears of it while the client waits for that. */
  IS(porous_disconnect(client, peer, 7, 0), POROUS_OK);
  while (porous_is_empty(client) == 0) {
    IS(porous_udp_wait(client, 1000), POROUS_OK);
    while (porous_poll_event(client, &event) == 1) {
    }
    IS(porous_udp_step(server), POROUS_OK);
    HOLDS(++rounds < 200000);
  }
  IS(porous_udp_close(client, 0, 1000), POROUS_OK);
  IS(porous_host_free(client), POROUS_OK);
  IS(porous_host_free(server), POROUS_OK);
}

static void nobody(void) {
  IS(porous_udp_step(NULL), POROUS_ERR_NULL);
  IS(porous_udp_transmit(NULL), POROUS_ERR_NULL);
  IS(porous_udp_wait(NULL, 0), POROUS_ERR_NULL);
  IS(porous_udp_close(NULL, 0, 0), POROUS_ERR_NULL);
  IS(porous_udp_address(NULL, NULL), POROUS_ERR_NULL);
  IS(porous_udp_socket(NULL, NULL), POROUS_ERR_NULL);
  IS(porous_udp_deadline(NULL, NULL), POROUS_ERR_NULL);
  IS(porous_udp_is_blocked(NULL), POROUS_ERR_NULL);
  IS(porous_udp_set_time_limit(NULL, 0), POROUS_ERR_NULL);
  IS(porous_udp_set_suffix(NULL, NULL, NULL, 0), POROUS_ERR_NULL);
}

int main(void) {
  binding();
  adopting();
  turns();
  suffixes();
  sharing();
  addresses_of_nobody();
  conversation();
  nobody();
  return 0;
}
