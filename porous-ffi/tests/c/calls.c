/* Calls in any order with any arguments that the header allows, and many that it does not: hosts without sockets that
 * talk to each other, memory of the exact sizes that are told, numbers out of range, and names of peers of others.
 *
 * usage: calls SEED COUNT
 *
 * Whatever is called, no call panics or is busy, every status has a text of its own, and at the end all memory is
 * back. What it prints follows from the seed: the same calls have the same answers. */
#include "check.h"

enum { HOSTS = 4, THINGS = 6, NAMES = 24, POOL = 64 };

typedef struct world {
  uint32_t chance;
  uint32_t answers; /* a hash of all that was answered */
  uint64_t now;
  porous_host *hosts[HOSTS];
  uint32_t made;
  porous_blob *blobs[THINGS];
  porous_packet *packets[THINGS];
  porous_ticket *tickets[THINGS];
  porous_peer names[NAMES];
  uint32_t owners[NAMES]; /* the host that has the peer of this name */
  uint32_t name_count;
  datagram pool[POOL];
  uint32_t pooled;
  uint32_t wrapped, released;
  uint32_t counts[2]; /* of calls that succeeded, and of those that did not */
} world;

static uint32_t below(world *of, uint32_t end) { return draw(&of->chance) % end; }

static int chance(world *of, uint32_t percent) { return below(of, 100) < percent; }

/* Any number, often a small one or one at an end. */
static uint64_t number(world *of) {
  switch (below(of, 8)) {
    case 0: return 0;
    case 1: return UINT64_MAX;
    case 2: return (uint64_t)draw(&of->chance) << 32 | draw(&of->chance);
    case 3: return draw(&of->chance);
    case 4: return 1ull << below(of, 64);
    default: return below(of, 300);
  }
}

static uint32_t small(world *of) { return chance(of, 80) ? below(of, 6) : (uint32_t)number(of); }

/* What a call has answered. */
static porous_status heard(world *of, porous_status status, const char *call) {
  const char *text = porous_status_text(status);
  if (status == POROUS_ERR_PANIC || status == POROUS_ERR_BUSY || text == NULL || strlen(text) < 3 ||
      (status < 0 && strcmp(text, porous_status_text(-1000)) == 0)) {
    fprintf(stderr, "%s answers %ld: %s\n", call, (long)status, text != NULL ? text : "no text");
    exit(1);
  }
  of->answers = (of->answers ^ (uint32_t)status) * 16777619u;
  of->counts[status < 0]++;
  return status;
}

#define CALL(of, call) heard((of), (call), #call)

/* Memory of exactly this size, so that a byte behind it is found. */
static void *memory(world *of, size_t size) {
  uint8_t *bytes = (uint8_t *)malloc(size > 0 ? size : 1);
  size_t i;
  HOLDS(bytes != NULL);
  for (i = 0; i < size; i++) {
    bytes[i] = (uint8_t)draw(&of->chance);
  }
  return bytes;
}

static size_t size(world *of) {
  return chance(of, 70) ? below(of, 80) : chance(of, 70) ? below(of, 3000) : below(of, 40000);
}

/* A length that no memory has: refused, whatever is behind the pointer. */
static size_t no_size(world *of) { return SIZE_MAX - below(of, 2) * (SIZE_MAX / 2); }

static porous_host *host(world *of) { return of->hosts[below(of, HOSTS)]; }

/* A peer, mostly of the host that it tells. */
static porous_peer peer_of(world *of, porous_host **at) {
  *at = host(of);
  if (of->name_count > 0 && chance(of, 95)) {
    uint32_t which = below(of, of->name_count);
    if (chance(of, 95)) {
      *at = of->hosts[of->owners[which]];
    }
    return of->names[which];
  }
  return number(of);
}

static void keep_name(world *of, uint32_t owner, porous_peer peer) {
  uint32_t which = of->name_count < NAMES ? of->name_count++ : below(of, NAMES);
  of->names[which] = peer;
  of->owners[which] = owner;
}

static void drop_name(world *of, porous_peer peer) {
  uint32_t i;
  for (i = 0; i < of->name_count; i++) {
    if (of->names[i] == peer) {
      of->name_count--;
      of->names[i] = of->names[of->name_count];
      of->owners[i] = of->owners[of->name_count];
      return;
    }
  }
}

static porous_address address(world *of) {
  porous_address it = own_address(below(of, HOSTS));
  if (chance(of, 5)) {
    uint8_t *bytes = (uint8_t *)&it;
    bytes[below(of, sizeof it)] = (uint8_t)draw(&of->chance);
  } else if (chance(of, 5)) {
    CALL(of, porous_address_parse(chance(of, 50) ? "192.0.2.7:9" : "[2001:db8::7]:9", &it));
  }
  return it;
}

/* Changes some fields of a struct behind its size and its first pointers, to anything. */
static void spoil(world *of, void *it, size_t begin, size_t end) {
  uint32_t changes = chance(of, 60) ? 0 : 1 + below(of, 3);
  for (; changes > 0; changes--) {
    ((uint8_t *)it)[begin + below(of, (uint32_t)(end - begin))] = (uint8_t)draw(&of->chance);
  }
}

static uint32_t spoiled_size(world *of, size_t true_size) {
  return chance(of, 97) ? (uint32_t)true_size : (uint32_t)(true_size - 1 - below(of, 40));
}

/* Makes a host in the place of one, which then is gone. */
static void make_host(world *of) {
  uint32_t place = below(of, HOSTS), seed_number = ++of->made;
  porous_channel channels[4];
  porous_config config;
  uint8_t seed[32];
  memset(channels, 0, sizeof channels);
  channels[1].unordered = 1;
  channels[2].priority = 1;
  channels[3].weight = (uint8_t)below(of, 256);
  memset(seed, 3, sizeof seed);
  memcpy(seed, &seed_number, sizeof seed_number);
  IS(porous_config_init(&config, sizeof config, POROUS_PRESET_DEFAULT), POROUS_OK);
  config.preset = (uint8_t)below(of, 4);
  config.max_peers = 1 + below(of, 8);
  config.max_packet = 20000;
  config.receive_budget = 40000;
  config.send_budget = 40000;
  config.channels = channels;
  config.channel_count = chance(of, 90) ? 1 + below(of, 4) : 0;
  config.timeout_us = 2000000;
  config.connection_id_len = (uint8_t)(chance(of, 50) ? 0 : 4 + below(of, 17));
  if (chance(of, 40)) {
    config.suites[0] = (uint8_t)(1 + below(of, 2));
  }
  if (chance(of, 30)) {
    spoil(of, &config, offsetof(porous_config, application_id), sizeof config);
  }
  config.size = spoiled_size(of, sizeof config);
  CALL(of, porous_config_check(&config));
  if (config.size != sizeof config) {
    return;
  }
  CALL(of, porous_host_free(of->hosts[place]));
  of->hosts[place] = NULL;
  if (CALL(of, porous_core_new(&config, seed, &of->hosts[place])) == POROUS_OK) {
    CALL(of, porous_core_time(of->hosts[place], of->now));
    CALL(of, porous_listen(of->hosts[place], POROUS_LISTEN_OPEN + below(of, 2)));
  }
}

/* Hands datagrams on: some are lost, some are damaged, some come twice, some come late. */
static void carry(world *of) {
  uint32_t from;
  of->now += below(of, 300) == 0 ? number(of) % 100000000 : below(of, 30000);
  for (from = 0; from < HOSTS; from++) {
    porous_host *it = of->hosts[from];
    uint64_t room = 0;
    porous_transmit transmit;
    uint8_t *buffer;
    if (it == NULL) {
      continue;
    }
    CALL(of, porous_core_time(it, of->now));
    CALL(of, porous_core_timeout(it));
    IS(porous_core_buffer_size(it, &room), POROUS_OK);
    buffer = (uint8_t *)memory(of, (size_t)room);
    while (CALL(of, porous_core_output(it, &transmit, buffer, (size_t)room)) == 1) {
      datagram *next = &of->pool[of->pooled < POOL ? of->pooled++ : below(of, POOL)];
      next->from = from;
      memcpy(&next->to, transmit.to.bytes, sizeof next->to);
      next->len = transmit.len < sizeof next->bytes ? (uint32_t)transmit.len : (uint32_t)sizeof next->bytes;
      memcpy(next->bytes, buffer, next->len);
    }
    free(buffer);
  }
  while (of->pooled > 0 && !chance(of, 4)) {
    uint32_t which = chance(of, 80) ? 0 : below(of, of->pooled);
    datagram next = of->pool[which];
    porous_address sender = chance(of, 97) ? own_address(next.from) : address(of);
    if (!chance(of, 5)) {
      memmove(&of->pool[which], &of->pool[which + 1], (size_t)(--of->pooled - which) * sizeof(datagram));
    }
    if (chance(of, 5) || next.to >= HOSTS || of->hosts[next.to] == NULL) {
      continue;
    }
    if (chance(of, 4) && next.len > 0) {
      next.bytes[below(of, next.len)] ^= (uint8_t)(1 + below(of, 255));
    }
    CALL(of, porous_core_input(of->hosts[next.to], &sender, below(of, 4), next.bytes, next.len));
  }
}

static void feed(world *of) {
  size_t len = size(of);
  void *bytes = memory(of, len);
  porous_address from = address(of);
  CALL(of, porous_core_input(host(of), &from, small(of), chance(of, 95) ? bytes : NULL, len));
  CALL(of, porous_core_input(host(of), &from, small(of), bytes, no_size(of)));
  free(bytes);
}

static void connect(world *of) {
  porous_address to[9];
  porous_peer peer = 0;
  uint32_t at = below(of, HOSTS);
  size_t count = chance(of, 90) ? 1 + below(of, 3) : below(of, 10), len = size(of) % 300;
  void *greeting = memory(of, len);
  size_t i;
  for (i = 0; i < 9; i++) {
    to[i] = address(of);
  }
  if (CALL(of, porous_connect_any(of->hosts[at], to, count, greeting, len, &peer)) == POROUS_OK) {
    HOLDS(peer != 0);
    keep_name(of, at, peer);
  }
  CALL(of, porous_connect(host(of), chance(of, 95) ? to : NULL, chance(of, 95) ? &peer : NULL));
  free(greeting);
}

static void seal(world *of) {
  porous_security security;
  porous_credentials with;
  porous_key keys[3];
  porous_address to = address(of);
  porous_peer peer = 0;
  uint32_t at = below(of, HOSTS);
  uint8_t *secret = (uint8_t *)memory(of, 64), public_key[32];
  size_t len = size(of) % 300;
  void *bytes = memory(of, len);
  uint32_t i, shown;
  memset(&security, 0, sizeof security);
  memset(&with, 0, sizeof with);
  memset(keys, 5, sizeof keys);
  memset(secret, 9, 64);
  for (i = 0; i < 3; i++) {
    keys[i].number = below(of, 3);
  }
  security.identities = secret;
  security.psks = keys;
  security.token_keys = keys;
  security.allow_plain = 1;
  spoil(of, &security, offsetof(porous_security, allow_plain), offsetof(porous_security, identities));
  spoil(of, &security, offsetof(porous_security, server_id), sizeof security);
  security.identity_count = below(of, 3);
  security.psk_count = below(of, 4);
  security.token_key_count = below(of, 4);
  security.size = spoiled_size(of, sizeof security);
  CALL(of, porous_set_security(host(of), &security));
  CALL(of, porous_public_key(secret, public_key));
  with.size = spoiled_size(of, sizeof with);
  with.psk_number = below(of, 3);
  shown = below(of, 5); /* both a psk and a token are too much */
  with.psk = shown == 1 || shown == 4 ? keys[0].bytes : NULL;
  with.ticket = shown == 2 ? of->tickets[below(of, THINGS)] : NULL;
  with.token = shown >= 3 ? bytes : NULL;
  with.token_len = with.token != NULL ? (uint32_t)len : 0;
  with.server_key = chance(of, 30) ? public_key : NULL;
  with.server_key_len = with.server_key != NULL ? 32u : 0u;
  with.greeting = bytes;
  with.greeting_len = (uint32_t)len;
  if (CALL(of, porous_connect_sealed(of->hosts[at], &to, chance(of, 90) ? 1u : 0u, &with, &peer)) == POROUS_OK) {
    keep_name(of, at, peer);
  }
  free(secret);
  free(bytes);
}

static void mint(world *of) {
  uint32_t place = below(of, THINGS);
  porous_ticket *ticket = NULL;
  porous_claims claims;
  uint8_t key[32];
  size_t len = size(of) % 300;
  void *user_data = memory(of, len);
  memset(&claims, 0, sizeof claims);
  memset(key, 5, sizeof key);
  claims.created = 100;
  claims.expires = 1000;
  claims.key_number = (uint8_t)below(of, 3);
  spoil(of, &claims, offsetof(porous_claims, key_number), offsetof(porous_claims, user_data));
  claims.user_data = user_data;
  claims.user_data_len = (uint32_t)len;
  claims.size = spoiled_size(of, sizeof claims);
  if (CALL(of, porous_ticket_mint(key, &claims, &ticket)) == POROUS_OK) {
    porous_ticket_free(of->tickets[place]);
    of->tickets[place] = ticket;
  }
  free(user_data);
}

static void use_ticket(world *of) {
  porous_ticket *ticket = of->tickets[below(of, THINGS)], *other = NULL;
  size_t cap = size(of), count = below(of, 40);
  uint8_t *buffer = (uint8_t *)memory(of, cap);
  porous_address *servers = (porous_address *)memory(of, count * sizeof(porous_address));
  porous_status status;
  size_t i;
  for (i = 0; i < count; i++) {
    servers[i] = address(of);
  }
  CALL(of, porous_ticket_set_servers(ticket, servers, count));
  CALL(of, porous_ticket_servers(ticket, servers, count));
  CALL(of, porous_ticket_set_server_key(ticket, buffer, cap < 40 ? cap : 32));
  /* Its length, and its bytes. */
  status = porous_ticket_to_bytes(ticket, buffer, cap);
  CALL(of, status > 0 ? 1 : status);
  if (status > 0) {
    HOLDS((size_t)status <= cap);
    if (chance(of, 50)) {
      buffer[below(of, (uint32_t)status)] ^= (uint8_t)below(of, 4);
    }
    if (porous_ticket_from_bytes(buffer, (size_t)status, &other) == POROUS_OK) {
      porous_ticket_free(other);
    }
  }
  status = porous_ticket_to_text(ticket, (char *)buffer, cap);
  if (status > 0) {
    HOLDS(strlen((char *)buffer) == (size_t)status && (size_t)status < cap);
    IS(porous_ticket_from_text((char *)buffer, &other), POROUS_OK);
    porous_ticket_free(other);
  }
  free(buffer);
  free(servers);
}

static void released(void *user) { ((world *)user)->released++; }

static void make_blob(world *of) {
  static const char text[] = "bytes that stay";
  uint32_t place = below(of, THINGS);
  size_t len = size(of);
  void *bytes = memory(of, len);
  porous_blob_free(of->blobs[place]);
  of->blobs[place] = NULL;
  if (chance(of, 50)) {
    CALL(of, porous_blob_copy(bytes, chance(of, 95) ? len : no_size(of), &of->blobs[place]));
  } else if (CALL(of, porous_blob_wrap(text, sizeof text, released, of, &of->blobs[place])) == POROUS_OK) {
    of->wrapped++;
  }
  free(bytes);
}

static void transmit_packets(world *of) {
  size_t len = size(of);
  void *bytes = memory(of, len);
  uint8_t channel = (uint8_t)(chance(of, 90) ? below(of, 4) : draw(&of->chance));
  porous_send_options options;
  porous_host *at;
  porous_peer peer = peer_of(of, &at);
  if (CALL(of, porous_send_options_init(&options, sizeof options, small(of) % 4)) != POROUS_OK) {
    memset(&options, 0, sizeof options);
  }
  options.has_receipt = (uint8_t)below(of, 2);
  options.receipt = below(of, 20);
  spoil(of, &options, sizeof options.size, sizeof options);
  options.size = spoiled_size(of, sizeof options);
  CALL(of, porous_send(at, peer, channel, small(of), bytes, chance(of, 97) ? len : no_size(of)));
  CALL(of, porous_send_with(at, peer, channel, bytes, len, chance(of, 95) ? &options : NULL));
  CALL(of, porous_send_blob(at, peer, channel, of->blobs[below(of, THINGS)], &options));
  CALL(of, porous_cancel(at, peer, channel, below(of, 20)));
  free(bytes);
}

static void take_packets(world *of) {
  size_t cap = size(of), len = 7;
  void *buffer = memory(of, cap);
  uint32_t place = below(of, THINGS);
  porous_received what;
  porous_host *at;
  porous_peer peer = peer_of(of, &at);
  porous_status status = CALL(of, porous_receive(at, peer, &what, buffer, cap));
  HOLDS(status != 1 || what.len <= cap);
  HOLDS(status != POROUS_ERR_SMALL || what.len > cap);
  if (status == POROUS_ERR_SMALL) {
    /* It was kept: the next call for this peer finds it. */
    uint64_t wanted = what.len;
    IS(porous_receive(at, peer, &what, buffer, 0), POROUS_ERR_SMALL);
    HOLDS(what.len == wanted);
  }
  porous_packet_free(of->packets[place]);
  of->packets[place] = NULL;
  if (CALL(of, porous_receive_packet(at, peer, &what, &of->packets[place])) == 1) {
    const uint8_t *bytes = (const uint8_t *)porous_packet_data(of->packets[place], &len);
    HOLDS(len == what.len);
    of->answers ^= len > 0 ? (uint32_t)(bytes[0] + bytes[len - 1]) : 0;
  }
  free(buffer);
}

static void hear(world *of) {
  porous_event event;
  uint32_t at = below(of, HOSTS);
  memset(&event, 0, sizeof event);
  event.size = spoiled_size(of, sizeof event);
  while (CALL(of, porous_poll_event(of->hosts[at], &event)) == 1) {
    if (event.type == POROUS_EVENT_REQUEST || event.type == POROUS_EVENT_CONNECTED) {
      keep_name(of, at, event.peer);
    }
    if (event.type == POROUS_EVENT_REQUEST && chance(of, 80)) {
      CALL(of, chance(of, 80) ? porous_accept(of->hosts[at], event.peer)
                              : porous_refuse(of->hosts[at], event.peer, event.data, below(of, 65)));
    }
    if (event.type == POROUS_EVENT_DISCONNECTED && chance(of, 90)) {
      drop_name(of, event.peer);
    }
    HOLDS(event.data_len <= sizeof event.data);
  }
}

static void look(world *of) {
  porous_peer_stats *stats = (porous_peer_stats *)memory(of, sizeof *stats);
  porous_host_stats *all = (porous_host_stats *)memory(of, sizeof *all);
  porous_channel_stats channel;
  porous_progress progress;
  porous_secured *secured = (porous_secured *)memory(of, sizeof *secured);
  porous_address where;
  size_t cap = below(of, 12);
  porous_peer *peers = (porous_peer *)memory(of, cap * sizeof(porous_peer));
  size_t room = size(of) % 300;
  char *text = (char *)memory(of, room);
  uint8_t secret[32];
  uint64_t due;
  porous_host *at;
  porous_peer peer = peer_of(of, &at);
  stats->size = spoiled_size(of, sizeof *stats);
  all->size = spoiled_size(of, sizeof *all);
  secured->size = spoiled_size(of, sizeof *secured);
  channel.size = spoiled_size(of, sizeof channel);
  progress.size = spoiled_size(of, sizeof progress);
  CALL(of, porous_peer_info(at, peer, stats));
  CALL(of, porous_host_info(host(of), all));
  CALL(of, porous_channel_info(at, peer, (uint8_t)small(of), &channel));
  CALL(of, porous_send_progress(at, peer, (uint8_t)small(of), below(of, 20), &progress));
  CALL(of, porous_receive_progress(at, peer, (uint8_t)small(of), &progress));
  CALL(of, porous_peer_secured(at, peer, secured));
  CALL(of, porous_peer_export(at, peer, text, room, secret));
  CALL(of, porous_peer_state(at, peer));
  CALL(of, porous_peers(host(of), peers, cap));
  CALL(of, porous_readable(host(of), peers, cap));
  CALL(of, porous_is_empty(host(of)));
  CALL(of, porous_peer_greeting(at, peer, text, room));
  CALL(of, porous_core_deadline(at, &due));
  if (CALL(of, porous_peer_address(at, peer, &where)) == POROUS_OK) {
    CALL(of, porous_address_format(&where, text, room));
  }
  free(stats);
  free(all);
  free(secured);
  free(peers);
  free(text);
}

static void name_connections(world *of) {
  porous_connection_ids *ids = (porous_connection_ids *)memory(of, sizeof *ids);
  memset(ids, 0, sizeof *ids);
  ids->kind = (uint8_t)below(of, 4);
  ids->bits = (uint8_t)below(of, 10);
  ids->shard = (uint8_t)below(of, 8);
  ids->rotation = (uint8_t)below(of, 8);
  ids->server_id_len = (uint8_t)below(of, 4);
  ids->has_key = (uint8_t)below(of, 2);
  spoil(of, ids, sizeof ids->size, sizeof *ids);
  ids->size = spoiled_size(of, sizeof *ids);
  CALL(of, porous_set_connection_ids(host(of), chance(of, 95) ? ids : NULL));
  free(ids);
}

static void command(world *of) {
  porous_address where = address(of);
  uint8_t data[65] = {0};
  porous_host *at;
  porous_peer peer = peer_of(of, &at);
  switch (below(of, 14)) {
    case 0: CALL(of, porous_listen(host(of), chance(of, 80) ? POROUS_LISTEN_OPEN : small(of))); break;
    case 1: CALL(of, porous_accept(at, peer)); break;
    case 2: CALL(of, porous_refuse(at, peer, data, below(of, 66))); break;
    case 3:
      if (chance(of, 30)) {
        CALL(of, porous_disconnect(at, peer, small(of), chance(of, 50) ? 0 : number(of)));
      }
      break;
    case 4:
      if (chance(of, 10)) {
        if (chance(of, 50)) {
          CALL(of, porous_drain(host(of), small(of), number(of)));
        } else {
          CALL(of, porous_disconnect_all(host(of), small(of), number(of)));
        }
      }
      break;
    case 5: CALL(of, porous_set_send_rate(at, peer, (uint32_t)number(of))); break;
    case 6: CALL(of, porous_set_receive_rate(at, peer, (uint32_t)number(of))); break;
    case 7: CALL(of, porous_set_channel_rate(at, peer, (uint8_t)small(of), (uint32_t)number(of))); break;
    case 8: CALL(of, porous_set_host_send_rate(host(of), (uint32_t)number(of))); break;
    case 9: CALL(of, porous_core_unreachable(host(of), &where)); break;
    case 10: name_connections(of); break;
    case 11: CALL(of, porous_core_backlog(host(of), chance(of, 90) ? below(of, 2) : small(of))); break;
    case 12: CALL(of, porous_core_port_closed(host(of), chance(of, 50) ? &where : NULL)); break;
    default: CALL(of, porous_core_unix_time(host(of), chance(of, 80) ? 500 : number(of)));
  }
  /* Of the other kind of host. */
  HOLDS(CALL(of, porous_udp_step(host(of))) < 0);
}

static void one_call(world *of) {
  switch (below(of, 20)) {
    case 0: connect(of); break;
    case 1: seal(of); break;
    case 2: mint(of); break;
    case 3: use_ticket(of); break;
    case 4: make_blob(of); break;
    case 5: feed(of); break;
    case 6: look(of); break;
    case 7: command(of); break;
    case 8: case 9: case 10: take_packets(of); break;
    case 11: case 12: case 13: transmit_packets(of); break;
    case 14: case 15: hear(of); break;
    case 16:
      if (chance(of, 3)) {
        make_host(of);
      }
      break;
    default: carry(of);
  }
}

int main(int count, char **words) {
  static world all;
  uint32_t calls, i;
  HOLDS(count == 3);
  all.chance = (uint32_t)strtoul(words[1], NULL, 10) * 2654435761u + 1;
  for (i = 0; i < 8; i++) {
    make_host(&all);
  }
  for (calls = (uint32_t)strtoul(words[2], NULL, 10); calls > 0; calls--) {
    one_call(&all);
  }
  for (i = 0; i < THINGS; i++) {
    porous_blob_free(all.blobs[i]);
    porous_ticket_free(all.tickets[i]);
  }
  for (i = 0; i < HOSTS; i++) {
    CALL(&all, porous_host_free(all.hosts[i]));
  }
  for (i = 0; i < THINGS; i++) {
    porous_packet_free(all.packets[i]);
  }
  /* A blob goes back when nobody needs its bytes any more: not its owner, no host, no packet. */
  HOLDS(all.wrapped == all.released);
  printf("%u calls done, %u refused, answers %08x\n", (unsigned)all.counts[0], (unsigned)all.counts[1],
         (unsigned)all.answers);
  return 0;
}
