/* 64 clients and a server in one process, without sockets over a network that loses a tenth, and on sockets: each
 * packet comes back, and is compared byte by byte. */
#include "check.h"

enum { CLIENTS = 64, HOSTS = CLIENTS + 1, CHANNELS = 3 };

/* Fills a packet that follows from its sender, its channel, and the number of those before it. Returns its length. */
static size_t make_packet(uint8_t *packet, uint32_t client, uint8_t channel, uint32_t number) {
  uint32_t state = 1 + client + 1000 * channel + 10000 * number;
  size_t len = 1 + draw(&state) % (number % 8 == 0 ? 3000 : 200);
  size_t i;
  for (i = 0; i < len; i++) {
    packet[i] = (uint8_t)draw(&state);
  }
  return len;
}

/* What a client has sent and got back. */
typedef struct talk {
  porous_peer server;
  uint32_t sent[CHANNELS];
  uint32_t back[CHANNELS];
} talk;

static porous_config configuration(uint32_t number, porous_channel *channels) {
  porous_config config = preset(number);
  memset(channels, 0, CHANNELS * sizeof *channels);
  channels[1].priority = 1;
  channels[2].weight = 2;
  config.channels = channels;
  config.channel_count = CHANNELS;
  config.application_id = 42;
  config.max_peers_per_source = HOSTS;
  /* Under valgrind on a busy machine a turn of all hosts takes seconds: silence and goodbyes are given minutes. */
  config.connect_timeout_us = 300000000;
  config.timeout_us = 300000000;
  config.disconnect_timeout_us = 300000000;
  return config;
}

/* Sends what has room, up to `packets` on each channel. */
static void talk_send(talk *to, porous_host *host, uint32_t client, uint32_t packets) {
  uint8_t packet[3000];
  uint8_t channel;
  for (channel = 0; channel < CHANNELS; channel++) {
    /* A few at a time, so that all clients send at the same time. */
    while (to->sent[channel] < packets && to->sent[channel] < to->back[channel] + 10) {
      size_t len = make_packet(packet, client, channel, to->sent[channel]);
      porous_status status = porous_send(host, to->server, channel, POROUS_RELIABLE, packet, len);
      if (status == POROUS_ERR_NOT_CONNECTED || status == POROUS_ERR_FULL) {
        break;
      }
      IS(status, POROUS_OK);
      to->sent[channel]++;
    }
  }
}

/* Compares what has come back with what was sent. */
static void talk_receive(talk *from, porous_host *host, uint32_t client) {
  porous_received what;
  uint8_t packet[3000], wanted[3000];
  while (porous_receive(host, from->server, &what, packet, sizeof packet) == 1) {
    size_t len;
    HOLDS(what.channel < CHANNELS);
    len = make_packet(wanted, client, what.channel, from->back[what.channel]);
    HOLDS(what.len == len && memcmp(packet, wanted, len) == 0);
    from->back[what.channel]++;
  }
}

static int talk_is_done(const talk *of, uint32_t packets) {
  uint8_t channel;
  for (channel = 0; channel < CHANNELS; channel++) {
    if (of->back[channel] < packets) {
      return 0;
    }
  }
  return 1;
}

/* Says back what has come: without a copy, by a packet and a blob. Returns how many peers have left. */
static uint32_t serve(porous_host *server) {
  porous_event event;
  uint32_t left = 0;
  memset(&event, 0, sizeof event);
  event.size = sizeof event;
  while (porous_poll_event(server, &event) == 1) {
    porous_received what;
    porous_packet *packet;
    HOLDS(event.type != POROUS_EVENT_DISCONNECTED || event.reason == POROUS_REASON_BY_PEER);
    left += event.type == POROUS_EVENT_DISCONNECTED;
    while (event.type == POROUS_EVENT_READABLE &&
           porous_receive_packet(server, event.peer, &what, &packet) == 1) {
      porous_send_options options;
      porous_blob *blob;
      size_t len;
      const void *data = porous_packet_data(packet, &len);
      IS(porous_send_options_init(&options, sizeof options, POROUS_RELIABLE), POROUS_OK);
      IS(porous_blob_copy(data, len, &blob), POROUS_OK);
      IS(porous_send_blob(server, event.peer, what.channel, blob, &options), POROUS_OK);
      porous_blob_free(blob);
      porous_packet_free(packet);
    }
  }
  return left;
}

/* One step of all clients. Returns how many are done. */
static uint32_t clients_turn(porous_host **hosts, talk *talks, uint32_t packets) {
  uint32_t i, done = 0;
  for (i = 0; i < CLIENTS; i++) {
    porous_event event;
    memset(&event, 0, sizeof event);
    event.size = sizeof event;
    while (porous_poll_event(hosts[i + 1], &event) == 1) {
      HOLDS(event.type != POROUS_EVENT_DISCONNECTED || event.reason == POROUS_REASON_BY_US);
    }
    talk_receive(&talks[i], hosts[i + 1], i);
    talk_send(&talks[i], hosts[i + 1], i, packets);
    done += (uint32_t)talk_is_done(&talks[i], packets);
  }
  return done;
}

static void without_sockets(uint32_t packets) {
  static porous_host *hosts[HOSTS];
  static talk talks[CLIENTS];
  porous_channel channels[CHANNELS];
  porous_config config = configuration(POROUS_PRESET_DEFAULT, channels);
  porous_address server = own_address(0);
  uint32_t i, turns = 0, left = 0;
  network net;
  hosts[0] = core_host(&config, 0);
  IS(porous_listen(hosts[0], POROUS_LISTEN_OPEN), POROUS_OK);
  config = configuration(POROUS_PRESET_CLIENT, channels);
  for (i = 0; i < CLIENTS; i++) {
    hosts[i + 1] = core_host(&config, i + 1);
    IS(porous_connect(hosts[i + 1], &server, &talks[i].server), POROUS_OK);
  }
  network_new(&net, hosts, HOSTS, 10);
  while (clients_turn(hosts, talks, packets) < CLIENTS) {
    network_turn(&net);
    serve(hosts[0]);
    HOLDS(++turns < 20000);
  }
  for (i = 0; i < CLIENTS; i++) {
    IS(porous_disconnect_all(hosts[i + 1], i, 1000000), POROUS_OK);
  }
  while (left < CLIENTS) {
    network_turn(&net);
    clients_turn(hosts, talks, packets);
    left += serve(hosts[0]);
    HOLDS(++turns < 40000);
  }
  IS(porous_is_empty(hosts[0]), 1);
  printf("without sockets: %u packets of %u clients came back\n", (unsigned)(packets * CHANNELS), CLIENTS);
  network_free(&net);
}

static void on_sockets(uint32_t packets) {
  static porous_host *hosts[HOSTS];
  static talk talks[CLIENTS];
  porous_channel channels[CHANNELS];
  porous_config config = configuration(POROUS_PRESET_DEFAULT, channels);
  porous_address server;
  uint32_t i, rounds = 0;
  IS(porous_udp_bind(&config, "127.0.0.1:0", &hosts[0]), POROUS_OK);
  IS(porous_udp_address(hosts[0], &server), POROUS_OK);
  IS(porous_listen(hosts[0], POROUS_LISTEN_OPEN), POROUS_OK);
  config = configuration(POROUS_PRESET_CLIENT, channels);
  for (i = 0; i < CLIENTS; i++) {
    IS(porous_udp_bind(&config, "127.0.0.1:0", &hosts[i + 1]), POROUS_OK);
    IS(porous_connect(hosts[i + 1], &server, &talks[i].server), POROUS_OK);
  }
  while (clients_turn(hosts, talks, packets) < CLIENTS) {
    for (i = 1; i < HOSTS; i++) {
      IS(porous_udp_step(hosts[i]), POROUS_OK);
    }
    IS(porous_udp_wait(hosts[0], 1000), POROUS_OK);
    serve(hosts[0]);
    IS(porous_udp_transmit(hosts[0]), POROUS_OK);
    HOLDS(++rounds < 200000);
  }
  for (i = 0; i < HOSTS; i++) {
    IS(porous_host_free(hosts[i]), POROUS_OK);
  }
  printf("on sockets: %u packets of %u clients came back\n", (unsigned)(packets * CHANNELS), CLIENTS);
}

int main(int argc, char **argv) {
  uint32_t packets = argc > 1 ? (uint32_t)atoi(argv[1]) : 100;
  without_sockets(packets);
  on_sockets(packets);
  return 0;
}
