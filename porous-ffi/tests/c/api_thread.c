/* Hosts in threads of their own: each function and each error. */
#include "check.h"

static porous_output sized_output(void) {
  porous_output output;
  memset(&output, 0, sizeof output);
  output.size = sizeof output;
  return output;
}

static porous_thread *bound(uint32_t number) {
  porous_config config = preset(number);
  porous_thread *thread = NULL;
  config.suites[0] = POROUS_SUITE_CHACHA_POLY;
  config.send_budget = 20000;
  IS(porous_thread_bind(&config, "127.0.0.1:0", &thread), POROUS_OK);
  return thread;
}

/* Waits for an output of this type, and, if it is an event, of that type. Others are skipped. */
static porous_output told(porous_thread *thread, uint32_t type, uint32_t event) {
  porous_output output = sized_output();
  uint64_t tries;
  for (tries = 0; tries < 4000000000u; tries++) {
    if (porous_thread_poll(thread, &output) == 1) {
      if (output.type == type && output.event.type == event) {
        return output;
      }
      porous_packet_free(output.packet);
    }
  }
  fprintf(stderr, "no output %u\n", (unsigned)type);
  exit(1);
}

static void making(void) {
  porous_config config = preset(POROUS_PRESET_DEFAULT);
  porous_thread *thread = NULL;
  porous_address address;
  porous_host_stats stats;
  char text[64];
  memset(&stats, 0, sizeof stats);
  stats.size = sizeof stats;
  IS(porous_thread_bind(NULL, "127.0.0.1:0", &thread), POROUS_ERR_NULL);
  IS(porous_thread_bind(&config, NULL, &thread), POROUS_ERR_NULL);
  IS(porous_thread_bind(&config, "127.0.0.1:0", NULL), POROUS_ERR_NULL);
  IS(porous_thread_bind(&config, "?", &thread), POROUS_ERR_ADDRESS);
  IS(porous_thread_adopt(&config, -1, &thread), POROUS_ERR_VALUE);
  IS(porous_thread_adopt(NULL, -1, &thread), POROUS_ERR_NULL);
  IS(porous_thread_adopt(&config, -1, NULL), POROUS_ERR_NULL);
  HOLDS(thread == NULL);
  thread = bound(POROUS_PRESET_DEFAULT);
  IS(porous_thread_address(thread, &address), POROUS_OK);
  IS(porous_thread_address(thread, NULL), POROUS_ERR_NULL);
  HOLDS(porous_address_format(&address, text, sizeof text) > 0);
  IS(porous_thread_poll(thread, NULL), POROUS_ERR_NULL);
  IS(porous_thread_stats(thread, &stats), POROUS_OK);
  IS(porous_thread_close(thread, 0, 0), POROUS_OK);
  IS(porous_thread_close(thread, 0, 0), POROUS_ERR_THREAD_ENDED);
  IS(porous_thread_listen(thread, POROUS_LISTEN_OPEN), POROUS_ERR_THREAD_ENDED);
  IS(porous_thread_free(thread), POROUS_OK);
  IS(porous_thread_free(NULL), POROUS_OK);
}

/* A server that asks, and a client that comes with a sealed greeting. */
static void conversation(void) {
  porous_thread *server = bound(POROUS_PRESET_DEFAULT), *client = bound(POROUS_PRESET_CLIENT);
  porous_credentials with;
  porous_security security;
  porous_secured secured;
  porous_send_options options;
  porous_peer_stats peer_stats;
  porous_host_stats host_stats;
  porous_address to;
  porous_output output;
  porous_blob *blob;
  porous_peer peer, guest;
  char bytes[255];
  memset(&with, 0, sizeof with);
  memset(&security, 0, sizeof security);
  memset(&secured, 0, sizeof secured);
  memset(&peer_stats, 0, sizeof peer_stats);
  memset(&host_stats, 0, sizeof host_stats);
  memset(bytes, 0, sizeof bytes);
  with.size = sizeof with;
  security.size = sizeof security;
  secured.size = sizeof secured;
  peer_stats.size = sizeof peer_stats;
  host_stats.size = sizeof host_stats;
  with.greeting = "name=Ada";
  with.greeting_len = 8;
  IS(porous_send_options_init(&options, sizeof options, POROUS_RELIABLE), POROUS_OK);
  IS(porous_thread_address(server, &to), POROUS_OK);
  IS(porous_thread_set_security(server, &security), POROUS_OK);
  IS(porous_thread_set_security(server, NULL), POROUS_ERR_NULL);
  IS(porous_thread_listen(server, 4), POROUS_ERR_VALUE);
  IS(porous_thread_listen(server, POROUS_LISTEN_ASK), POROUS_OK);
  IS(porous_thread_connect_sealed(client, &to, 1, NULL), POROUS_ERR_NULL);
  IS(porous_thread_connect_sealed(client, &to, 1, &with), POROUS_OK);
  output = told(client, POROUS_OUTPUT_CONNECTING, 0);
  peer = output.peer;
  HOLDS(memcmp(&output.address, &to, sizeof to) == 0);
  IS(porous_thread_send(client, peer, 0, "early", 5, &options), POROUS_ERR_NOT_CONNECTED);

  guest = told(server, POROUS_OUTPUT_EVENT, POROUS_EVENT_REQUEST).peer;
  IS(porous_thread_greeting(server, guest, bytes, sizeof bytes), 8);
  IS(porous_thread_greeting(server, guest, bytes, 7), POROUS_ERR_SMALL);
  IS(porous_thread_secured(server, guest, &secured), 1);
  IS(porous_thread_secured(server, guest, NULL), POROUS_ERR_NULL);
  /* A number that names nobody, not even one that is gone. */
  IS(porous_thread_greeting(server, 12345, bytes, sizeof bytes), 0);
  IS(porous_thread_secured(server, 12345, &secured), 0);
  IS(porous_thread_accept(server, guest), POROUS_OK);
  told(client, POROUS_OUTPUT_EVENT, POROUS_EVENT_CONNECTED);
  told(server, POROUS_OUTPUT_EVENT, POROUS_EVENT_CONNECTED);
  IS(porous_thread_refuse(server, guest, bytes, 65), POROUS_ERR_TOO_LONG);
  IS(porous_thread_refuse(server, guest, "no", 2), POROUS_OK);
  IS(told(server, POROUS_OUTPUT_NOT_ANSWERED, 0).status, POROUS_ERR_NOT_ASKED);

  IS(porous_thread_send(client, peer, 0, NULL, 1, &options), POROUS_ERR_NULL);
  IS(porous_thread_send(client, peer, 0, "hello", 5, NULL), POROUS_ERR_NULL);
  IS(porous_thread_send(client, peer, 9, "hello", 5, &options), POROUS_ERR_UNKNOWN_CHANNEL);
  options.has_receipt = 1;
  options.receipt = 5;
  IS(porous_thread_send(client, peer, 0, "hello", 5, &options), POROUS_OK);
  options.has_receipt = 0;
  IS(porous_blob_copy("again", 5, &blob), POROUS_OK);
  IS(porous_thread_send_blob(client, peer, 0, NULL, &options), POROUS_ERR_NULL);
  IS(porous_thread_send_blob(client, peer, 0, blob, &options), POROUS_OK);
  porous_blob_free(blob);
  output = told(server, POROUS_OUTPUT_PACKET, 0);
  HOLDS(output.peer == guest && output.what.len == 5 && output.what.mode == POROUS_RELIABLE);
  HOLDS(memcmp(porous_packet_data(output.packet, NULL), "hello", 5) == 0);
  IS(porous_thread_send_packet(server, guest, 0, output.packet), POROUS_ERR_VALUE);
  IS(porous_thread_send_packet(server, guest, 0, NULL), POROUS_ERR_NULL);
  porous_packet_free(output.packet);
  output = told(server, POROUS_OUTPUT_PACKET, 0);
  HOLDS(memcmp(porous_packet_data(output.packet, NULL), "again", 5) == 0);
  porous_packet_free(output.packet);
  IS(told(client, POROUS_OUTPUT_EVENT, POROUS_EVENT_RECEIPT).event.outcome, POROUS_OUTCOME_DELIVERED);

  IS(porous_thread_ask_stats(server), POROUS_OK);
  told(server, POROUS_OUTPUT_STATS, 0);
  IS(porous_thread_stats(server, &host_stats), POROUS_OK);
  HOLDS(host_stats.connected == 1);
  IS(porous_thread_stats(server, NULL), POROUS_ERR_NULL);
  IS(porous_thread_ask_peer_stats(client, peer), POROUS_OK);
  IS(told(client, POROUS_OUTPUT_PEER_STATS, 0).is_known, 1);
  IS(porous_thread_peer_stats(client, &peer_stats), POROUS_OK);
  HOLDS(peer_stats.packets_sent.reliable == 2);
  IS(porous_thread_peer_stats(client, NULL), POROUS_ERR_NULL);
  IS(porous_thread_ask_send_progress(client, peer, 0, 5), POROUS_OK);
  IS(told(client, POROUS_OUTPUT_SEND_PROGRESS, 0).is_known, 0);
  IS(porous_thread_ask_receive_progress(client, peer, 0), POROUS_OK);
  IS(told(client, POROUS_OUTPUT_RECEIVE_PROGRESS, 0).is_known, 0);
  IS(porous_thread_cancel(client, peer, 0, 5), POROUS_OK);
  IS(porous_thread_set_send_rate(client, peer, 0), POROUS_OK);
  IS(porous_thread_set_receive_rate(client, peer, 0), POROUS_OK);
  IS(porous_thread_set_channel_rate(client, peer, 0, 0), POROUS_OK);
  IS(porous_thread_set_host_send_rate(client, 0), POROUS_OK);
  IS(porous_thread_ask_peer_stats(client, 0), POROUS_ERR_UNKNOWN_PEER);
  IS(porous_thread_disconnect(client, peer, 9, 1000000), POROUS_OK);
  IS((int64_t)told(server, POROUS_OUTPUT_EVENT, POROUS_EVENT_DISCONNECTED).event.code, 9);
  IS(porous_thread_close(client, 0, 1000000), POROUS_OK);
  IS(porous_thread_free(client), POROUS_OK);
  IS(porous_thread_free(server), POROUS_OK);
}

/* Packets that find no room come back in their order, and are sent again. */
static void coming_back(void) {
  porous_thread *server = bound(POROUS_PRESET_DEFAULT), *client = bound(POROUS_PRESET_DEFAULT);
  porous_security security;
  porous_send_options options;
  porous_address to;
  porous_peer peer;
  porous_output output = sized_output();
  porous_packet *back[64];
  uint32_t sent = 0, came_back = 0, arrived = 0, i;
  uint8_t packet[1000], is_there[64] = {0};
  memset(packet, 0, sizeof packet);
  memset(&security, 0, sizeof security);
  security.size = sizeof security;
  security.allow_plain = 1;
  IS(porous_thread_address(server, &to), POROUS_OK);
  IS(porous_thread_set_security(server, &security), POROUS_OK);
  IS(porous_thread_listen(server, POROUS_LISTEN_OPEN), POROUS_OK);
  IS(porous_thread_connect(client, NULL, 1, NULL, 0), POROUS_ERR_NULL);
  IS(porous_thread_connect(client, &to, 1, NULL, 0), POROUS_OK);
  peer = told(client, POROUS_OUTPUT_EVENT, POROUS_EVENT_CONNECTED).peer;
  IS(porous_send_options_init(&options, sizeof options, POROUS_RELIABLE), POROUS_OK);
  for (sent = 0; sent < 64; sent++) {
    packet[0] = (uint8_t)sent;
    if (porous_thread_send(client, peer, 0, packet, sizeof packet, &options) != POROUS_OK) {
      break;
    }
  }
  /* What has come back is sent again when there is room. */
  while (arrived < sent) {
    while (porous_thread_poll(client, &output) == 1) {
      if (output.type == POROUS_OUTPUT_UNSENT) {
        HOLDS(output.status == POROUS_ERR_FULL && output.what.len == sizeof packet);
        back[came_back++] = output.packet;
      }
      if (output.type == POROUS_OUTPUT_EVENT && output.event.type == POROUS_EVENT_WRITABLE) {
        uint32_t again = came_back;
        came_back = 0;
        for (i = 0; i < again; i++) {
          porous_status status = porous_thread_send_packet(client, peer, 0, back[i]);
          if (status != POROUS_OK) {
            back[came_back++] = back[i];
          } else {
            porous_packet_free(back[i]);
          }
        }
      }
    }
    while (porous_thread_poll(server, &output) == 1) {
      if (output.type == POROUS_OUTPUT_PACKET) {
        const uint8_t *data = (const uint8_t *)porous_packet_data(output.packet, NULL);
        /* Those that came back are behind later ones that had room. */
        HOLDS(data[0] < 64 && !is_there[data[0]]);
        is_there[data[0]] = 1;
        arrived++;
        porous_packet_free(output.packet);
      }
    }
  }
  IS(porous_thread_free(client), POROUS_OK);
  IS(porous_thread_free(server), POROUS_OK);
}

static void refusals(void) {
  porous_thread *client = bound(POROUS_PRESET_CLIENT);
  porous_address nobody;
  IS(porous_thread_listen(client, POROUS_LISTEN_OPEN), POROUS_OK);
  IS(told(client, POROUS_OUTPUT_NOT_LISTENING, 0).status, POROUS_ERR_CANNOT_LISTEN);
  IS(porous_address_parse("127.0.0.1:0", &nobody), POROUS_OK);
  IS(porous_thread_connect(client, &nobody, 1, NULL, 0), POROUS_OK);
  IS(told(client, POROUS_OUTPUT_NOT_CONNECTING, 0).status, POROUS_ERR_ADDRESS_PORT_ZERO);
  nobody = own_address(1);
  IS(porous_thread_connect(client, &nobody, 1, NULL, 0), POROUS_ERR_ADDRESS);
  IS(porous_thread_free(client), POROUS_OK);
}

/* What is set before the connections that it concerns. */
static void settings(void) {
  porous_thread *thread = bound(POROUS_PRESET_DEFAULT);
  porous_connection_ids ids = ids_of(POROUS_IDS_SHARDED);
  porous_address proxy, nowhere = own_address(1);
  porous_output output;
  uint8_t token[33];
  memset(token, 9, sizeof token);
  IS(porous_address_parse("127.0.0.1:9", &proxy), POROUS_OK);
  IS(porous_thread_set_suffix(thread, NULL, token, 1), POROUS_ERR_NULL);
  IS(porous_thread_set_suffix(thread, &proxy, NULL, 1), POROUS_ERR_NULL);
  IS(porous_thread_set_suffix(thread, &nowhere, token, 1), POROUS_ERR_ADDRESS);
  IS(porous_thread_set_suffix(thread, &proxy, token, 32), POROUS_OK);
  IS(porous_thread_set_suffix(thread, &proxy, token, 33), POROUS_OK);
  output = told(thread, POROUS_OUTPUT_NOT_SUFFIXED, 0);
  HOLDS(output.status == POROUS_ERR_TOO_LONG && memcmp(&output.address, &proxy, sizeof proxy) == 0);
  IS(porous_thread_connect(thread, &proxy, 1, NULL, 0), POROUS_OK);
  IS(porous_thread_set_suffix(thread, &proxy, NULL, 0), POROUS_OK);
  IS(told(thread, POROUS_OUTPUT_NOT_SUFFIXED, 0).status, POROUS_ERR_ALREADY_CONNECTED);

  IS(porous_thread_set_connection_ids(thread, NULL), POROUS_ERR_NULL);
  IS(porous_thread_set_connection_ids(thread, &ids), POROUS_OK);
  IS(told(thread, POROUS_OUTPUT_IDS_UNCHANGED, 0).status, POROUS_ERR_IDS_SHARD_BITS);
  ids.bits = 1;
  IS(porous_thread_set_connection_ids(thread, &ids), POROUS_OK);
  ids.kind = POROUS_IDS_QUIC_LB;
  IS(porous_thread_set_connection_ids(thread, &ids), POROUS_ERR_IDS_SERVER_ID);
  ids.server_id_len = 1;
  ids.rotation = 7;
  IS(porous_thread_set_connection_ids(thread, &ids), POROUS_ERR_IDS_ROTATION);
  ids.rotation = 0;
  IS(porous_thread_set_connection_ids(thread, &ids), POROUS_OK);
  IS(told(thread, POROUS_OUTPUT_IDS_UNCHANGED, 0).status, POROUS_ERR_IDS_TOO_SHORT);
  IS(porous_thread_free(thread), POROUS_OK);
}

/* A server that is told to stop delivers what it has sent, and lets nobody in. */
static void draining(void) {
  porous_thread *server = bound(POROUS_PRESET_DEFAULT), *client = bound(POROUS_PRESET_CLIENT);
  porous_security security;
  porous_send_options options;
  porous_address to;
  porous_output output;
  porous_peer guest;
  memset(&security, 0, sizeof security);
  security.size = sizeof security;
  security.allow_plain = 1;
  IS(porous_send_options_init(&options, sizeof options, POROUS_RELIABLE), POROUS_OK);
  IS(porous_thread_address(server, &to), POROUS_OK);
  IS(porous_thread_set_security(server, &security), POROUS_OK);
  IS(porous_thread_listen(server, POROUS_LISTEN_OPEN), POROUS_OK);
  IS(porous_thread_connect(client, &to, 1, NULL, 0), POROUS_OK);
  told(client, POROUS_OUTPUT_EVENT, POROUS_EVENT_CONNECTED);
  guest = told(server, POROUS_OUTPUT_EVENT, POROUS_EVENT_CONNECTED).peer;
  IS(porous_thread_send(server, guest, 0, "so long", 7, &options), POROUS_OK);
  IS(porous_thread_drain(server, 5, 30000000), POROUS_OK);
  IS(porous_thread_send(server, guest, 0, "late", 4, &options), POROUS_ERR_DISCONNECTING);
  output = told(client, POROUS_OUTPUT_PACKET, 0);
  HOLDS(output.what.len == 7);
  porous_packet_free(output.packet);
  output = told(client, POROUS_OUTPUT_EVENT, POROUS_EVENT_DISCONNECTED);
  HOLDS(output.event.reason == POROUS_REASON_BY_PEER && output.event.code == 5);
  IS((int64_t)told(server, POROUS_OUTPUT_EVENT, POROUS_EVENT_DISCONNECTED).peer, (int64_t)guest);
  IS(porous_thread_connect(client, &to, 1, NULL, 0), POROUS_OK);
  output = told(client, POROUS_OUTPUT_EVENT, POROUS_EVENT_DISCONNECTED);
  HOLDS(output.event.reason == POROUS_REASON_REFUSED_FULL);
  IS(porous_thread_close(server, 0, 0), POROUS_OK);
  IS(porous_thread_drain(server, 5, 0), POROUS_ERR_THREAD_ENDED);
  IS(porous_thread_free(client), POROUS_OK);
  IS(porous_thread_free(server), POROUS_OK);
}

static void nobody(void) {
  IS(porous_thread_poll(NULL, NULL), POROUS_ERR_NULL);
  IS(porous_thread_address(NULL, NULL), POROUS_ERR_NULL);
  IS(porous_thread_stats(NULL, NULL), POROUS_ERR_NULL);
  IS(porous_thread_peer_stats(NULL, NULL), POROUS_ERR_NULL);
  IS(porous_thread_close(NULL, 0, 0), POROUS_ERR_NULL);
  IS(porous_thread_listen(NULL, 0), POROUS_ERR_NULL);
  IS(porous_thread_connect(NULL, NULL, 0, NULL, 0), POROUS_ERR_NULL);
  IS(porous_thread_connect_sealed(NULL, NULL, 0, NULL), POROUS_ERR_NULL);
  IS(porous_thread_set_security(NULL, NULL), POROUS_ERR_NULL);
  IS(porous_thread_accept(NULL, 1), POROUS_ERR_NULL);
  IS(porous_thread_refuse(NULL, 1, NULL, 0), POROUS_ERR_NULL);
  IS(porous_thread_send(NULL, 1, 0, NULL, 0, NULL), POROUS_ERR_NULL);
  IS(porous_thread_send_blob(NULL, 1, 0, NULL, NULL), POROUS_ERR_NULL);
  IS(porous_thread_send_packet(NULL, 1, 0, NULL), POROUS_ERR_NULL);
  IS(porous_thread_cancel(NULL, 1, 0, 0), POROUS_ERR_NULL);
  IS(porous_thread_disconnect(NULL, 1, 0, 0), POROUS_ERR_NULL);
  IS(porous_thread_drain(NULL, 0, 0), POROUS_ERR_NULL);
  IS(porous_thread_set_suffix(NULL, NULL, NULL, 0), POROUS_ERR_NULL);
  IS(porous_thread_set_connection_ids(NULL, NULL), POROUS_ERR_NULL);
  IS(porous_thread_ask_stats(NULL), POROUS_ERR_NULL);
  IS(porous_thread_ask_peer_stats(NULL, 1), POROUS_ERR_NULL);
  IS(porous_thread_ask_send_progress(NULL, 1, 0, 0), POROUS_ERR_NULL);
  IS(porous_thread_ask_receive_progress(NULL, 1, 0), POROUS_ERR_NULL);
  IS(porous_thread_set_send_rate(NULL, 1, 0), POROUS_ERR_NULL);
  IS(porous_thread_set_receive_rate(NULL, 1, 0), POROUS_ERR_NULL);
  IS(porous_thread_set_channel_rate(NULL, 1, 0, 0), POROUS_ERR_NULL);
  IS(porous_thread_set_host_send_rate(NULL, 0), POROUS_ERR_NULL);
  IS(porous_thread_greeting(NULL, 1, NULL, 0), POROUS_ERR_NULL);
  IS(porous_thread_secured(NULL, 1, NULL), POROUS_ERR_NULL);
}

int main(void) {
  making();
  conversation();
  coming_back();
  refusals();
  settings();
  draining();
  nobody();
  return 0;
}
