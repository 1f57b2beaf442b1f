/* Each function of hosts, on hosts without sockets, and each error. */
#include "check.h"

#include <stddef.h>

static porous_host *pair[2];

/* A server and a client, which are connected; returns the names that they have for each other. */
static void connected(network *net, porous_config server, porous_config client, porous_peer names[2]) {
  static uint32_t number = 100;
  porous_address to = own_address(0);
  pair[0] = core_host(&server, number++);
  pair[1] = core_host(&client, number++);
  network_new(net, pair, 2, 0);
  IS(porous_listen(pair[0], POROUS_LISTEN_OPEN), POROUS_OK);
  IS(porous_connect(pair[1], &to, &names[1]), POROUS_OK);
  names[0] = network_wait(net, 0, POROUS_EVENT_CONNECTED).peer;
  IS((int64_t)network_wait(net, 1, POROUS_EVENT_CONNECTED).peer, (int64_t)names[1]);
}

static porous_event sized_event(void) {
  porous_event event;
  memset(&event, 0, sizeof event);
  event.size = sizeof event;
  return event;
}

static void making(void) {
  porous_config config = preset(POROUS_PRESET_DEFAULT), client = preset(POROUS_PRESET_CLIENT);
  porous_host *host = NULL;
  uint8_t seed[32];
  memset(seed, 0, sizeof seed);
  IS(porous_core_new(&config, seed, &host), POROUS_ERR_VALUE);
  seed[31] = 1;
  IS(porous_core_new(NULL, seed, &host), POROUS_ERR_NULL);
  IS(porous_core_new(&config, NULL, &host), POROUS_ERR_NULL);
  IS(porous_core_new(&config, seed, NULL), POROUS_ERR_NULL);
  config.frame_window = 1;
  IS(porous_core_new(&config, seed, &host), POROUS_ERR_CONFIG_WINDOW);
  HOLDS(host == NULL);
  IS(porous_host_free(NULL), POROUS_OK);
  host = core_host(&client, 1);
  IS(porous_listen(host, POROUS_LISTEN_OPEN), POROUS_ERR_CANNOT_LISTEN);
  IS(porous_listen(host, 4), POROUS_ERR_VALUE);
  IS(porous_udp_step(host), POROUS_ERR_KIND);
  IS(porous_udp_transmit(host), POROUS_ERR_KIND);
  IS(porous_udp_wait(host, 0), POROUS_ERR_KIND);
  IS(porous_udp_close(host, 0, 0), POROUS_ERR_KIND);
  IS(porous_udp_address(host, NULL), POROUS_ERR_KIND);
  IS(porous_udp_socket(host, NULL), POROUS_ERR_KIND);
  IS(porous_udp_deadline(host, NULL), POROUS_ERR_KIND);
  IS(porous_udp_is_blocked(host), POROUS_ERR_KIND);
  IS(porous_udp_set_time_limit(host, 0), POROUS_ERR_KIND);
  IS(porous_udp_set_suffix(host, NULL, NULL, 0), POROUS_ERR_KIND);
  IS(porous_host_free(host), POROUS_OK);
}

static void input_and_output(void) {
  porous_config config = preset(POROUS_PRESET_DEFAULT);
  porous_host *host = core_host(&config, 1);
  porous_address address = own_address(1), other = own_address(2);
  porous_transmit transmit;
  uint8_t buffer[1200];
  uint64_t number = 0;
  porous_peer peer;
  porous_event event = sized_event();
  IS(porous_core_buffer_size(host, &number), POROUS_OK);
  HOLDS(number == sizeof buffer);
  IS(porous_core_buffer_size(host, NULL), POROUS_ERR_NULL);
  IS(porous_core_deadline(host, &number), POROUS_OK);
  HOLDS(number == UINT64_MAX);
  IS(porous_core_deadline(host, NULL), POROUS_ERR_NULL);
  IS(porous_core_time(host, UINT64_MAX), POROUS_OK);
  IS(porous_core_time(host, 5), POROUS_OK);
  IS(porous_core_timeout(host), POROUS_OK);

  IS(porous_core_input(host, &address, POROUS_ECN_CE, "garbage", 7), 1);
  IS(porous_core_input(host, &address, 0, NULL, 0), 1);
  IS(porous_core_input(host, &address, 4, "garbage", 7), POROUS_ERR_VALUE);
  IS(porous_core_input(host, NULL, 0, "garbage", 7), POROUS_ERR_NULL);
  IS(porous_core_input(host, &address, 0, NULL, 7), POROUS_ERR_NULL);
  IS(porous_core_input(host, &address, 0, "garbage", SIZE_MAX), POROUS_ERR_VALUE);
  address.bytes[4] = 1;
  IS(porous_core_input(host, &address, 0, "garbage", 7), POROUS_ERR_ADDRESS);
  address = own_address(1);
  address.kind = 3;
  IS(porous_core_input(host, &address, 0, "garbage", 7), POROUS_ERR_ADDRESS);

  address = own_address(1);
  IS(porous_core_output(host, &transmit, buffer, sizeof buffer), 0);
  IS(porous_connect(host, &address, &peer), POROUS_OK);
  IS(porous_core_output(host, &transmit, buffer, sizeof buffer - 1), POROUS_ERR_SMALL);
  IS(porous_core_output(host, &transmit, NULL, sizeof buffer), POROUS_ERR_NULL);
  IS(porous_core_output(host, NULL, buffer, sizeof buffer), POROUS_ERR_NULL);
  IS(porous_core_output(host, &transmit, buffer, sizeof buffer), 1);
  HOLDS(transmit.len == 1200 && memcmp(&transmit.to, &address, sizeof address) == 0);
  IS(porous_core_output(host, &transmit, buffer, sizeof buffer), 0);

  IS(porous_core_port_closed(host, &other), POROUS_OK);
  IS(porous_poll_event(host, &event), 0);
  IS(porous_core_port_closed(host, NULL), POROUS_OK);
  IS(porous_poll_event(host, &event), 1);
  HOLDS(event.type == POROUS_EVENT_PORT_CLOSED && event.peer == peer);
  IS(porous_core_unreachable(host, NULL), POROUS_ERR_NULL);
  IS(porous_core_unreachable(host, &address), POROUS_OK);
  IS(porous_poll_event(host, &event), 1);
  HOLDS(event.type == POROUS_EVENT_DISCONNECTED && event.reason == POROUS_REASON_UNREACHABLE);
  IS(porous_core_unix_time(host, 1800000000), POROUS_OK);
  IS(porous_host_free(host), POROUS_OK);
}

static void connecting(void) {
  porous_config config = preset(POROUS_PRESET_DEFAULT);
  porous_host *host = core_host(&config, 1);
  porous_address to[9];
  porous_peer peer = 0, peers[2];
  uint8_t greeting[256];
  porous_status status = POROUS_OK;
  uint32_t i;
  memset(greeting, 1, sizeof greeting);
  for (i = 0; i < 9; i++) {
    to[i] = own_address(i);
  }
  IS(porous_connect(host, NULL, &peer), POROUS_ERR_NULL);
  IS(porous_connect(host, to, NULL), POROUS_ERR_NULL);
  IS(porous_connect_any(host, NULL, 0, NULL, 0, &peer), POROUS_ERR_NO_ADDRESS);
  IS(porous_connect_any(host, to, 9, NULL, 0, &peer), POROUS_ERR_TOO_MANY_ADDRESSES);
  IS(porous_connect_any(host, to, SIZE_MAX, NULL, 0, &peer), POROUS_ERR_TOO_MANY_ADDRESSES);
  IS(porous_connect_any(host, NULL, 1, NULL, 0, &peer), POROUS_ERR_NULL);
  IS(porous_connect_any(host, to, 1, NULL, 1, &peer), POROUS_ERR_NULL);
  IS(porous_connect_any(host, to, 1, greeting, 1, NULL), POROUS_ERR_NULL);
  IS(porous_connect_any(host, to, 1, greeting, 256, &peer), POROUS_ERR_TOO_LONG);
  IS(porous_connect_any(host, to, 8, greeting, 255, &peer), POROUS_OK);
  HOLDS(peer != 0);
  IS(porous_connect(host, &to[3], &peers[0]), POROUS_ERR_ALREADY_CONNECTED);
  IS(porous_connect(host, &to[8], &peers[0]), POROUS_OK);
  IS(porous_peers(host, NULL, 0), 2);
  IS(porous_peers(host, peers, 1), 2);
  IS(porous_peers(host, NULL, 1), POROUS_ERR_NULL);
  IS(porous_is_empty(host), 0);
  IS(porous_disconnect_all(host, 0, 0), POROUS_OK);
  IS(porous_is_empty(host), 1);
  IS(porous_host_free(host), POROUS_OK);

  config.connection_id_len = 1;
  config.max_peers = 10;
  host = core_host(&config, 2);
  for (i = 0; status == POROUS_OK; i++) {
    to[0] = own_address(1000 + i);
    status = porous_connect(host, &to[0], &peer);
    HOLDS(i < 1000);
  }
  IS(status, POROUS_ERR_OUT_OF_CONNECTION_IDS);
  IS(porous_host_free(host), POROUS_OK);
}

static void asking(void) {
  porous_config config = preset(POROUS_PRESET_DEFAULT);
  porous_address server = own_address(0), address;
  porous_peer peer;
  porous_event event;
  char greeting[255];
  network net;
  pair[0] = core_host(&config, 1);
  pair[1] = core_host(&config, 2);
  network_new(&net, pair, 2, 0);
  IS(porous_listen(pair[0], POROUS_LISTEN_ASK), POROUS_OK);
  IS(porous_connect_any(pair[1], &server, 1, "name=Ada", 8, &peer), POROUS_OK);
  event = network_wait(&net, 0, POROUS_EVENT_REQUEST);
  IS(porous_peer_greeting(pair[0], event.peer, greeting, sizeof greeting), 8);
  HOLDS(memcmp(greeting, "name=Ada", 8) == 0);
  IS(porous_peer_greeting(pair[0], event.peer, greeting, 7), POROUS_ERR_SMALL);
  IS(porous_peer_greeting(pair[0], event.peer, NULL, 8), POROUS_ERR_NULL);
  IS(porous_peer_greeting(pair[0], 1, greeting, sizeof greeting), POROUS_ERR_UNKNOWN_PEER);
  IS(porous_refuse(pair[0], event.peer, greeting, 65), POROUS_ERR_TOO_LONG);
  IS(porous_refuse(pair[0], event.peer, NULL, 1), POROUS_ERR_NULL);
  IS(porous_refuse(pair[0], event.peer, "too late", 8), POROUS_OK);
  IS(porous_refuse(pair[0], event.peer, "too late", 8), POROUS_ERR_UNKNOWN_PEER);
  event = network_wait(&net, 1, POROUS_EVENT_DISCONNECTED);
  HOLDS(event.reason == POROUS_REASON_REFUSED_APPLICATION && event.data_len == 8);
  HOLDS(memcmp(event.data, "too late", 8) == 0);

  IS(porous_connect(pair[1], &server, &peer), POROUS_OK);
  event = network_wait(&net, 0, POROUS_EVENT_REQUEST);
  address = own_address(1);
  HOLDS(memcmp(&event.address, &address, sizeof address) == 0);
  IS(porous_accept(pair[0], event.peer), POROUS_OK);
  IS(porous_accept(pair[0], event.peer), POROUS_ERR_NOT_ASKED);
  IS(porous_accept(pair[0], 0), POROUS_ERR_UNKNOWN_PEER);
  IS(porous_accept(pair[0], UINT64_MAX), POROUS_ERR_UNKNOWN_PEER);
  network_wait(&net, 1, POROUS_EVENT_CONNECTED);
  IS(porous_peer_greeting(pair[0], event.peer, NULL, 0), 0);

  /* A server that is about to stop. */
  IS(porous_listen(pair[0], POROUS_LISTEN_FULL), POROUS_OK);
  IS(porous_disconnect(pair[1], peer, 3, 0), POROUS_OK);
  event = network_wait(&net, 0, POROUS_EVENT_DISCONNECTED);
  HOLDS(event.reason == POROUS_REASON_BY_PEER && event.code == 3);
  IS(porous_connect(pair[1], &server, &peer), POROUS_OK);
  do {
    event = network_wait(&net, 1, POROUS_EVENT_DISCONNECTED);
  } while (event.peer != peer);
  HOLDS(event.reason == POROUS_REASON_REFUSED_FULL);
  network_free(&net);
}

static void incompatible(void) {
  porous_config config = preset(POROUS_PRESET_DEFAULT);
  porous_address server = own_address(0);
  porous_peer peer;
  porous_event event;
  network net;
  config.application_id = 11;
  pair[0] = core_host(&config, 1);
  config.application_id = 12;
  pair[1] = core_host(&config, 2);
  network_new(&net, pair, 2, 0);
  IS(porous_listen(pair[0], POROUS_LISTEN_OPEN), POROUS_OK);
  IS(porous_connect(pair[1], &server, &peer), POROUS_OK);
  event = network_wait(&net, 1, POROUS_EVENT_DISCONNECTED);
  HOLDS(event.reason == POROUS_REASON_REFUSED_INCOMPATIBLE && event.application_id == 11);
  network_free(&net);
}

/* What is wrong with sends, told before anything is sent. */
static void bad_sends(porous_host *host, porous_peer peer) {
  porous_send_options options;
  porous_blob *blob;
  static uint8_t large[2000];
  IS(porous_blob_copy("hello", 5, &blob), POROUS_OK);
  IS(porous_send_options_init(&options, sizeof options, POROUS_RELIABLE), POROUS_OK);
  IS(porous_send(host, 0, 0, POROUS_RELIABLE, "hello", 5), POROUS_ERR_UNKNOWN_PEER);
  IS(porous_send(host, peer, 1, POROUS_RELIABLE, "hello", 5), POROUS_ERR_UNKNOWN_CHANNEL);
  IS(porous_send(host, peer, 0, 3, "hello", 5), POROUS_ERR_VALUE);
  IS(porous_send(host, peer, 0, POROUS_RELIABLE, NULL, 5), POROUS_ERR_NULL);
  IS(porous_send(host, peer, 0, POROUS_RELIABLE, "hello", SIZE_MAX), POROUS_ERR_VALUE);
  IS(porous_send(host, peer, 0, POROUS_RELIABLE, large, sizeof large), POROUS_ERR_TOO_LARGE);
  IS(porous_send_with(host, peer, 0, "hello", 5, NULL), POROUS_ERR_NULL);
  IS(porous_send_with(host, peer, 0, NULL, 5, &options), POROUS_ERR_NULL);
  IS(porous_send_blob(host, peer, 0, NULL, &options), POROUS_ERR_NULL);
  IS(porous_send_blob(host, peer, 0, blob, NULL), POROUS_ERR_NULL);
  IS(porous_send_blob(host, peer, 9, blob, &options), POROUS_ERR_UNKNOWN_CHANNEL);
  options.mode = 3;
  IS(porous_send_with(host, peer, 0, "hello", 5, &options), POROUS_ERR_VALUE);
  options.mode = 0;
  options.redundancy = 4;
  IS(porous_send_with(host, peer, 0, "hello", 5, &options), POROUS_ERR_VALUE);
  options.redundancy = 0;
  options.has_key = 2;
  IS(porous_send_with(host, peer, 0, "hello", 5, &options), POROUS_ERR_VALUE);
  options.has_key = 0;
  options.has_receipt = 2;
  IS(porous_send_with(host, peer, 0, "hello", 5, &options), POROUS_ERR_VALUE);
  options.size = 0;
  IS(porous_send_with(host, peer, 0, "hello", 5, &options), POROUS_ERR_VERSION);
  porous_blob_free(blob);
}

static void sending(void) {
  porous_config config = preset(POROUS_PRESET_DEFAULT);
  porous_send_options options;
  porous_peer names[2], readable[1];
  porous_received what;
  porous_packet *packet = NULL;
  porous_progress progress;
  porous_event event;
  char buffer[64];
  size_t len;
  network net;
  memset(&progress, 0, sizeof progress);
  progress.size = sizeof progress;
  config.max_packet = 1000;
  config.send_budget = 4000;
  connected(&net, config, config, names);
  bad_sends(pair[1], names[1]);

  IS(porous_send(pair[1], names[1], 0, POROUS_RELIABLE, "first", 5), POROUS_OK);
  IS(porous_send(pair[1], names[1], 0, POROUS_UNRELIABLE, NULL, 0), POROUS_OK);
  IS(porous_send_options_init(&options, sizeof options, POROUS_PASSIVE), POROUS_OK);
  options.redundancy = 3;
  options.ttl_us = 1000000;
  options.has_receipt = options.has_key = 1;
  options.receipt = 77;
  options.key = 5;
  IS(porous_send_with(pair[1], names[1], 0, "third", 5, &options), POROUS_OK);
  IS(porous_send_progress(pair[1], names[1], 0, 77, &progress), 1);
  HOLDS(progress.len == 5 && progress.arrived == 0);
  IS(porous_send_progress(pair[1], names[1], 0, 78, &progress), 0);
  IS(porous_send_progress(pair[1], 1, 0, 77, &progress), POROUS_ERR_UNKNOWN_PEER);
  IS(porous_send_progress(pair[1], names[1], 0, 77, NULL), POROUS_ERR_NULL);
  IS(porous_receive_progress(pair[1], names[1], 0, &progress), 0);
  IS(porous_receive_progress(pair[1], names[1], 0, NULL), POROUS_ERR_NULL);
  IS(porous_receive_progress(pair[1], 1, 0, &progress), POROUS_ERR_UNKNOWN_PEER);

  network_wait(&net, 0, POROUS_EVENT_READABLE);
  IS(porous_readable(pair[0], readable, 1), 1);
  HOLDS(readable[0] == names[0]);
  IS(porous_receive(pair[0], names[0], NULL, buffer, sizeof buffer), POROUS_ERR_NULL);
  IS(porous_receive(pair[0], names[0], &what, buffer, 4), POROUS_ERR_SMALL);
  HOLDS(what.len == 5 && what.channel == 0 && what.mode == POROUS_RELIABLE);
  IS(porous_receive(pair[0], names[0], &what, NULL, 5), POROUS_ERR_NULL);
  IS(porous_readable(pair[0], NULL, 0), 1);
  IS(porous_readable(pair[0], NULL, 1), POROUS_ERR_NULL);
  IS(porous_receive(pair[0], names[0], &what, buffer, 5), 1);
  HOLDS(memcmp(buffer, "first", 5) == 0);
  IS(porous_receive(pair[0], names[0], &what, NULL, 0), 1);
  HOLDS(what.len == 0 && what.mode == POROUS_UNRELIABLE);
  IS(porous_receive_packet(pair[0], names[0], NULL, &packet), POROUS_ERR_NULL);
  IS(porous_receive_packet(pair[0], names[0], &what, NULL), POROUS_ERR_NULL);
  IS(porous_receive(pair[0], names[0], &what, buffer, 0), POROUS_ERR_SMALL);
  IS(porous_receive_packet(pair[0], names[0], &what, &packet), 1);
  HOLDS(memcmp(porous_packet_data(packet, &len), "third", 5) == 0 && len == 5);
  IS(porous_receive(pair[0], names[0], &what, buffer, sizeof buffer), 0);
  IS(porous_receive(pair[0], 0, &what, buffer, sizeof buffer), 0);
  IS(porous_receive_packet(pair[0], names[0], &what, &packet), 0);
  event = network_wait(&net, 1, POROUS_EVENT_RECEIPT);
  HOLDS(event.token == 77 && event.outcome == POROUS_OUTCOME_DELIVERED);

  IS(porous_send_with(pair[1], names[1], 0, "fourth", 6, &options), POROUS_OK);
  IS(porous_cancel(pair[1], names[1], 0, 77), 1);
  IS(porous_cancel(pair[1], names[1], 0, 77), 0);
  IS(porous_cancel(pair[1], 7, 0, 77), POROUS_ERR_UNKNOWN_PEER);
  HOLDS(network_wait(&net, 1, POROUS_EVENT_RECEIPT).outcome == POROUS_OUTCOME_CANCELLED);
  while (porous_send(pair[1], names[1], 0, POROUS_RELIABLE, buffer, sizeof buffer) == POROUS_OK) {
  }
  IS(porous_send(pair[1], names[1], 0, POROUS_RELIABLE, buffer, sizeof buffer), POROUS_ERR_FULL);
  network_wait(&net, 1, POROUS_EVENT_WRITABLE);
  IS(porous_disconnect(pair[1], names[1], 9, 1000000), POROUS_OK);
  IS(porous_send(pair[1], names[1], 0, POROUS_RELIABLE, "late", 4), POROUS_ERR_DISCONNECTING);
  event = network_wait(&net, 0, POROUS_EVENT_DISCONNECTED);
  HOLDS(event.reason == POROUS_REASON_BY_PEER && event.code == 9);
  /* Packets outlive their hosts. */
  network_free(&net);
  HOLDS(memcmp(porous_packet_data(packet, NULL), "third", 5) == 0);
  porous_packet_free(packet);
}

static void telling(void) {
  porous_config config = preset(POROUS_PRESET_DEFAULT);
  porous_peer names[2];
  porous_peer_stats peer;
  porous_channel_stats channel;
  porous_host_stats host;
  porous_address address, server = own_address(0);
  porous_event event = sized_event();
  network net;
  memset(&peer, 0, sizeof peer);
  memset(&channel, 0, sizeof channel);
  memset(&host, 0, sizeof host);
  peer.size = sizeof peer;
  channel.size = sizeof channel;
  host.size = sizeof host;
  config.timeout_us = 7000000;
  connected(&net, config, config, names);
  IS(porous_peer_info(pair[1], names[1], &peer), POROUS_OK);
  HOLDS(peer.state == POROUS_STATE_CONNECTED && peer.channels == 1 && peer.max_packet == 1 << 20);
  HOLDS(peer.remote_timeout_us == 7000000 && peer.size == sizeof peer && peer.path_mtu == 1200);
  IS(porous_peer_info(pair[1], 1, &peer), POROUS_ERR_UNKNOWN_PEER);
  IS(porous_peer_info(pair[1], names[1], NULL), POROUS_ERR_NULL);
  peer.size--;
  IS(porous_peer_info(pair[1], names[1], &peer), POROUS_ERR_VERSION);
  IS(porous_channel_info(pair[1], names[1], 0, &channel), POROUS_OK);
  IS(porous_channel_info(pair[1], names[1], 1, &channel), POROUS_ERR_UNKNOWN_CHANNEL);
  IS(porous_channel_info(pair[1], 1, 0, &channel), POROUS_ERR_UNKNOWN_PEER);
  IS(porous_channel_info(pair[1], names[1], 0, NULL), POROUS_ERR_NULL);
  IS(porous_core_input(pair[0], &server, 0, "?", 1), 1);
  IS(porous_host_info(pair[0], &host), POROUS_OK);
  HOLDS(host.connected == 1 && host.ignored[1] == 1 && host.ignored[0] == 0);
  IS(porous_host_info(pair[0], NULL), POROUS_ERR_NULL);
  host.size = 4;
  IS(porous_host_info(pair[0], &host), POROUS_ERR_VERSION);
  IS(porous_peer_state(pair[1], names[1]), POROUS_STATE_CONNECTED);
  IS(porous_peer_state(pair[1], 1), 0);
  IS(porous_peer_address(pair[1], names[1], &address), POROUS_OK);
  HOLDS(memcmp(&address, &server, sizeof address) == 0);
  IS(porous_peer_address(pair[1], names[1], NULL), POROUS_ERR_NULL);
  IS(porous_peer_address(pair[1], 1, &address), POROUS_ERR_UNKNOWN_PEER);
  IS(porous_poll_event(pair[1], NULL), POROUS_ERR_NULL);
  event.size = sizeof event - 1;
  IS(porous_poll_event(pair[1], &event), POROUS_ERR_VERSION);

  IS(porous_set_send_rate(pair[1], names[1], 1000), POROUS_OK);
  IS(porous_set_send_rate(pair[1], 1, 1000), POROUS_ERR_UNKNOWN_PEER);
  IS(porous_set_receive_rate(pair[1], names[1], 0), POROUS_OK);
  IS(porous_set_receive_rate(pair[1], 1, 0), POROUS_ERR_UNKNOWN_PEER);
  IS(porous_set_channel_rate(pair[1], names[1], 0, 1000), POROUS_OK);
  IS(porous_set_channel_rate(pair[1], names[1], 1, 1000), POROUS_ERR_UNKNOWN_CHANNEL);
  IS(porous_set_host_send_rate(pair[1], 0), POROUS_OK);
  network_free(&net);
}

static void roaming(void) {
  porous_config config = preset(POROUS_PRESET_DEFAULT);
  porous_address before = own_address(1), after = own_address(50);
  porous_peer names[2];
  porous_event event;
  network net;
  config.roaming = POROUS_ON;
  connected(&net, config, preset(POROUS_PRESET_CLIENT), names);
  net.moved = 1;
  net.moved_to = 50;
  IS(porous_send(pair[1], names[1], 0, POROUS_RELIABLE, "moved", 5), POROUS_OK);
  event = network_wait(&net, 0, POROUS_EVENT_MOVED);
  HOLDS(memcmp(&event.from, &before, sizeof before) == 0 && event.peer == names[0]);
  HOLDS(memcmp(&event.address, &after, sizeof after) == 0);
  network_free(&net);
}

/* What a callback of a blob has seen, and the host that it calls. */
static porous_host *called_back;
static int was_busy;

static void call_back(void *user) {
  porous_event event = sized_event();
  *(int *)user += 1;
  was_busy = porous_poll_event(called_back, &event) == POROUS_ERR_BUSY &&
             porous_host_free(called_back) == POROUS_ERR_BUSY && porous_is_empty(called_back) == POROUS_ERR_BUSY;
}

static void busy(void) {
  porous_config config = preset(POROUS_PRESET_DEFAULT);
  porous_send_options options;
  porous_peer names[2];
  porous_blob *blob;
  int released = 0;
  network net;
  connected(&net, config, config, names);
  IS(porous_send_options_init(&options, sizeof options, POROUS_RELIABLE), POROUS_OK);
  IS(porous_blob_wrap("shared", 6, call_back, &released, &blob), POROUS_OK);
  IS(porous_send_blob(pair[1], names[1], 0, blob, &options), POROUS_OK);
  porous_blob_free(blob);
  HOLDS(released == 0);
  called_back = pair[1];
  network_wait(&net, 0, POROUS_EVENT_READABLE);
  while (released == 0) {
    network_turn(&net);
  }
  HOLDS(was_busy && released == 1);
  IS(porous_is_empty(pair[1]), 0);
  network_free(&net);
}

/* A server that is told to stop has a peer, which it has sent something, and a host that asks. */
static void draining(void) {
  porous_config config = preset(POROUS_PRESET_DEFAULT);
  porous_address server = own_address(0);
  porous_peer names[2], peer;
  porous_event event;
  porous_received what;
  char buffer[8];
  porous_host *hosts[3];
  network net;
  hosts[0] = core_host(&config, 1);
  hosts[1] = core_host(&config, 2);
  hosts[2] = core_host(&config, 3);
  network_new(&net, hosts, 3, 0);
  IS(porous_listen(hosts[0], POROUS_LISTEN_ASK), POROUS_OK);
  IS(porous_connect(hosts[1], &server, &names[1]), POROUS_OK);
  names[0] = network_wait(&net, 0, POROUS_EVENT_REQUEST).peer;
  IS(porous_accept(hosts[0], names[0]), POROUS_OK);
  network_wait(&net, 1, POROUS_EVENT_CONNECTED);
  IS(porous_connect(hosts[2], &server, &peer), POROUS_OK);
  network_wait(&net, 0, POROUS_EVENT_REQUEST);
  IS(porous_send(hosts[0], names[0], 0, POROUS_RELIABLE, "so long", 7), POROUS_OK);

  IS(porous_drain(hosts[0], 5, 30000000), POROUS_OK);
  IS(porous_drain(hosts[0], 6, 60000000), POROUS_OK);
  IS(porous_send(hosts[0], names[0], 0, POROUS_RELIABLE, "late", 4), POROUS_ERR_DISCONNECTING);
  IS(porous_is_empty(hosts[0]), 0);
  HOLDS(network_wait(&net, 2, POROUS_EVENT_DISCONNECTED).reason == POROUS_REASON_REFUSED_FULL);
  event = network_wait(&net, 1, POROUS_EVENT_DISCONNECTED);
  HOLDS(event.reason == POROUS_REASON_BY_PEER && event.code == 5);
  IS(porous_receive(hosts[1], names[1], &what, buffer, sizeof buffer), 1);
  HOLDS(what.len == 7 && memcmp(buffer, "so long", 7) == 0);
  while (porous_is_empty(hosts[0]) == 0) {
    network_turn(&net);
  }
  IS(porous_connect(hosts[2], &server, &peer), POROUS_OK);
  HOLDS(network_wait(&net, 2, POROUS_EVENT_DISCONNECTED).reason == POROUS_REASON_REFUSED_FULL);
  network_free(&net);
}

/* What is wrong with connection ids, told before anything changes. */
static void bad_ids(void) {
  porous_config config = preset(POROUS_PRESET_DEFAULT);
  porous_connection_ids random = ids_of(POROUS_IDS_RANDOM), ids = ids_of(POROUS_IDS_SHARDED);
  porous_host *host;
  config.connection_id_len = 12;
  host = core_host(&config, 1);
  IS(porous_set_connection_ids(host, NULL), POROUS_ERR_NULL);
  IS(porous_set_connection_ids(host, &random), POROUS_OK);
  random.size--;
  IS(porous_set_connection_ids(host, &random), POROUS_ERR_VERSION);
  random = ids_of(3);
  IS(porous_set_connection_ids(host, &random), POROUS_ERR_VALUE);
  random = ids_of(POROUS_IDS_RANDOM);
  random.reserved[6] = 1;
  IS(porous_set_connection_ids(host, &random), POROUS_ERR_VALUE);
  random = ids_of(POROUS_IDS_RANDOM);
  IS(porous_set_connection_ids(host, &ids), POROUS_ERR_IDS_SHARD_BITS);
  ids.bits = 9;
  IS(porous_set_connection_ids(host, &ids), POROUS_ERR_IDS_SHARD_BITS);
  ids.bits = 2;
  ids.shard = 4;
  IS(porous_set_connection_ids(host, &ids), POROUS_ERR_IDS_SHARD);
  ids.kind = POROUS_IDS_QUIC_LB;
  IS(porous_set_connection_ids(host, &ids), POROUS_ERR_IDS_SERVER_ID);
  ids.server_id_len = 16;
  IS(porous_set_connection_ids(host, &ids), POROUS_ERR_IDS_SERVER_ID);
  ids.server_id_len = 8;
  IS(porous_set_connection_ids(host, &ids), POROUS_ERR_IDS_TOO_SHORT);
  ids.server_id_len = 7;
  ids.rotation = 7;
  IS(porous_set_connection_ids(host, &ids), POROUS_ERR_IDS_ROTATION);
  ids.rotation = 6;
  ids.has_key = 2;
  IS(porous_set_connection_ids(host, &ids), POROUS_ERR_VALUE);
  ids.has_key = 1;
  IS(porous_set_connection_ids(host, &ids), POROUS_OK);
  IS(porous_host_free(host), POROUS_OK);
  config.connection_id_len = POROUS_NO_CONNECTION_IDS;
  host = core_host(&config, 1);
  IS(porous_set_connection_ids(host, &ids), POROUS_ERR_IDS_NO_BYTES);
  IS(porous_set_connection_ids(host, &random), POROUS_OK);
  IS(porous_host_free(host), POROUS_OK);
}

/* The next datagram to a host that has an id: the upper bits of such a one are 01, and the id is behind that byte. */
static const datagram *short_form_to(network *net, uint32_t to) {
  uint32_t turns, i;
  for (turns = 0; turns < 100; turns++) {
    for (i = 0; i < net->used; i++) {
      if (net->under_way[i].to == to && net->under_way[i].bytes[0] >> 6 == 1) {
        return &net->under_way[i];
      }
    }
    network_turn(net);
  }
  fprintf(stderr, "no short form to host %u\n", (unsigned)to);
  exit(1);
}

/* The id that a host makes so for its first peer, as it stands in a datagram to the host. */
static void made_id(porous_connection_ids ids, uint8_t id[12]) {
  porous_config config = preset(POROUS_PRESET_DEFAULT);
  porous_address server = own_address(0);
  porous_peer peer;
  network net;
  config.connection_id_len = 12;
  pair[0] = core_host(&config, 1);
  pair[1] = core_host(&config, 2);
  network_new(&net, pair, 2, 0);
  IS(porous_set_connection_ids(pair[0], &ids), POROUS_OK);
  IS(porous_listen(pair[0], POROUS_LISTEN_OPEN), POROUS_OK);
  IS(porous_connect(pair[1], &server, &peer), POROUS_OK);
  network_wait(&net, 1, POROUS_EVENT_CONNECTED);
  IS(porous_send(pair[1], peer, 0, POROUS_RELIABLE, "hello", 5), POROUS_OK);
  memcpy(id, &short_form_to(&net, 0)->bytes[1], 12);
  network_free(&net);
}

static void naming(void) {
  porous_connection_ids ids = ids_of(POROUS_IDS_SHARDED);
  uint8_t plain[12], first[12], second[12];
  ids.shard = 0xA5;
  ids.bits = 8;
  made_id(ids, plain);
  HOLDS(plain[0] == 0xA5);
  ids = ids_of(POROUS_IDS_QUIC_LB);
  ids.rotation = 2;
  memcpy(ids.server_id, "srv", 3);
  ids.server_id_len = 3;
  made_id(ids, plain);
  HOLDS(plain[0] == (2 << 5 | 11) && memcmp(&plain[1], "srv", 3) == 0);
  ids.has_key = 1;
  made_id(ids, first);
  HOLDS(first[0] == plain[0] && memcmp(&first[1], &plain[1], 11) != 0);
  made_id(ids, second);
  HOLDS(memcmp(first, second, 12) == 0);
  ids.key[15] = 1;
  made_id(ids, second);
  HOLDS(memcmp(first, second, 12) != 0);
}

/* A server to which more comes for more than a second than it takes in. */
static void overloaded(void) {
  porous_config config = preset(POROUS_PRESET_DEFAULT);
  porous_address server = own_address(0);
  porous_host_stats stats;
  porous_event event;
  porous_peer peer;
  network net;
  uint32_t turns;
  memset(&stats, 0, sizeof stats);
  stats.size = sizeof stats;
  pair[0] = core_host(&config, 1);
  pair[1] = core_host(&config, 2);
  network_new(&net, pair, 2, 0);
  IS(porous_listen(pair[0], POROUS_LISTEN_OPEN), POROUS_OK);
  IS(porous_core_backlog(pair[0], 2), POROUS_ERR_VALUE);
  for (turns = 0; turns < 220; turns++) {
    network_turn(&net);
    IS(porous_core_backlog(pair[0], 1), POROUS_OK);
  }
  IS(porous_connect(pair[1], &server, &peer), POROUS_OK);
  event = network_wait(&net, 1, POROUS_EVENT_DISCONNECTED);
  HOLDS(event.reason == POROUS_REASON_REFUSED_FULL);
  IS(porous_host_info(pair[0], &stats), POROUS_OK);
  HOLDS(stats.overloaded == 1);
  IS(porous_core_backlog(pair[0], 0), POROUS_OK);
  IS(porous_connect(pair[1], &server, &peer), POROUS_OK);
  network_wait(&net, 0, POROUS_EVENT_CONNECTED);
  /* A program that was compiled before there was the count. */
  stats.overloaded = 77;
  stats.size = offsetof(porous_host_stats, overloaded);
  IS(porous_host_info(pair[0], &stats), POROUS_OK);
  HOLDS(stats.overloaded == 77 && stats.connected == 1);
  network_free(&net);
}

/* Each function with a host takes NULL for it. */
static void nobody(void) {
  IS(porous_listen(NULL, 0), POROUS_ERR_NULL);
  IS(porous_connect(NULL, NULL, NULL), POROUS_ERR_NULL);
  IS(porous_connect_any(NULL, NULL, 0, NULL, 0, NULL), POROUS_ERR_NULL);
  IS(porous_accept(NULL, 1), POROUS_ERR_NULL);
  IS(porous_refuse(NULL, 1, NULL, 0), POROUS_ERR_NULL);
  IS(porous_disconnect(NULL, 1, 0, 0), POROUS_ERR_NULL);
  IS(porous_disconnect_all(NULL, 0, 0), POROUS_ERR_NULL);
  IS(porous_drain(NULL, 0, 0), POROUS_ERR_NULL);
  IS(porous_is_empty(NULL), POROUS_ERR_NULL);
  IS(porous_peers(NULL, NULL, 0), POROUS_ERR_NULL);
  IS(porous_peer_address(NULL, 1, NULL), POROUS_ERR_NULL);
  IS(porous_peer_greeting(NULL, 1, NULL, 0), POROUS_ERR_NULL);
  IS(porous_poll_event(NULL, NULL), POROUS_ERR_NULL);
  IS(porous_send(NULL, 1, 0, 0, NULL, 0), POROUS_ERR_NULL);
  IS(porous_send_with(NULL, 1, 0, NULL, 0, NULL), POROUS_ERR_NULL);
  IS(porous_send_blob(NULL, 1, 0, NULL, NULL), POROUS_ERR_NULL);
  IS(porous_cancel(NULL, 1, 0, 0), POROUS_ERR_NULL);
  IS(porous_set_send_rate(NULL, 1, 0), POROUS_ERR_NULL);
  IS(porous_set_receive_rate(NULL, 1, 0), POROUS_ERR_NULL);
  IS(porous_set_channel_rate(NULL, 1, 0, 0), POROUS_ERR_NULL);
  IS(porous_set_host_send_rate(NULL, 0), POROUS_ERR_NULL);
  IS(porous_receive(NULL, 1, NULL, NULL, 0), POROUS_ERR_NULL);
  IS(porous_receive_packet(NULL, 1, NULL, NULL), POROUS_ERR_NULL);
  IS(porous_readable(NULL, NULL, 0), POROUS_ERR_NULL);
  IS(porous_peer_info(NULL, 1, NULL), POROUS_ERR_NULL);
  IS(porous_channel_info(NULL, 1, 0, NULL), POROUS_ERR_NULL);
  IS(porous_host_info(NULL, NULL), POROUS_ERR_NULL);
  IS(porous_send_progress(NULL, 1, 0, 0, NULL), POROUS_ERR_NULL);
  IS(porous_receive_progress(NULL, 1, 0, NULL), POROUS_ERR_NULL);
  IS(porous_peer_state(NULL, 1), POROUS_ERR_NULL);
  IS(porous_core_time(NULL, 0), POROUS_ERR_NULL);
  IS(porous_core_input(NULL, NULL, 0, NULL, 0), POROUS_ERR_NULL);
  IS(porous_core_output(NULL, NULL, NULL, 0), POROUS_ERR_NULL);
  IS(porous_core_timeout(NULL), POROUS_ERR_NULL);
  IS(porous_core_deadline(NULL, NULL), POROUS_ERR_NULL);
  IS(porous_core_buffer_size(NULL, NULL), POROUS_ERR_NULL);
  IS(porous_core_unreachable(NULL, NULL), POROUS_ERR_NULL);
  IS(porous_core_port_closed(NULL, NULL), POROUS_ERR_NULL);
  IS(porous_core_backlog(NULL, 0), POROUS_ERR_NULL);
  IS(porous_set_connection_ids(NULL, NULL), POROUS_ERR_NULL);
  IS(porous_core_unix_time(NULL, 0), POROUS_ERR_NULL);
}

int main(void) {
  making();
  input_and_output();
  connecting();
  asking();
  incompatible();
  sending();
  telling();
  roaming();
  busy();
  draining();
  bad_ids();
  naming();
  overloaded();
  nobody();
  return 0;
}
