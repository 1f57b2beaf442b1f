/* Sealed connections and tickets: each function and each error. */
#include "check.h"

static porous_host *pair[2];

static const uint64_t NOW = 1800000000;

static porous_config sealing(uint32_t number) {
  porous_config config = preset(number);
  config.suites[0] = POROUS_SUITE_AES_GCM;
  config.suites[1] = POROUS_SUITE_CHACHA_POLY;
  config.application_id = 42;
  return config;
}

static porous_credentials no_credentials(void) {
  porous_credentials credentials;
  memset(&credentials, 0, sizeof credentials);
  credentials.size = sizeof credentials;
  return credentials;
}

static porous_security no_security(void) {
  porous_security security;
  memset(&security, 0, sizeof security);
  security.size = sizeof security;
  return security;
}

static porous_claims some_claims(void) {
  porous_claims claims;
  memset(&claims, 0, sizeof claims);
  claims.size = sizeof claims;
  claims.application_id = 42;
  claims.client_id = 7;
  claims.created = NOW;
  claims.expires = NOW + 30;
  claims.key_number = 3;
  claims.user_data = "ana";
  claims.user_data_len = 3;
  return claims;
}

/* A server that seals so, and a client. */
static void open_pair(network *net, const porous_security *security) {
  static uint32_t number = 1000;
  porous_config server = sealing(POROUS_PRESET_DEFAULT), client = sealing(POROUS_PRESET_CLIENT);
  pair[0] = core_host(&server, number++);
  pair[1] = core_host(&client, number++);
  network_new(net, pair, 2, 0);
  IS(porous_listen(pair[0], POROUS_LISTEN_OPEN), POROUS_OK);
  IS(porous_core_unix_time(pair[0], NOW), POROUS_OK);
  if (security != NULL) {
    IS(porous_set_security(pair[0], security), POROUS_OK);
  }
}

/* Connects, and tells what is proved to the server and the client. */
static void connect_sealed(network *net, const porous_credentials *with, porous_secured proved[2]) {
  porous_address to = own_address(0);
  porous_peer names[2];
  memset(proved, 0, 2 * sizeof *proved);
  proved[0].size = proved[1].size = sizeof *proved;
  IS(porous_connect_sealed(pair[1], &to, 1, with, &names[1]), POROUS_OK);
  names[0] = network_wait(net, 0, POROUS_EVENT_CONNECTED).peer;
  network_wait(net, 1, POROUS_EVENT_CONNECTED);
  IS(porous_peer_secured(pair[0], names[0], &proved[0]), 1);
  IS(porous_peer_secured(pair[1], names[1], &proved[1]), 1);
  HOLDS(memcmp(proved[0].binding, proved[1].binding, 32) == 0);
  HOLDS(proved[0].suite == POROUS_SUITE_AES_GCM && proved[1].suite == POROUS_SUITE_AES_GCM);
}

static void with_nothing(void) {
  porous_credentials with = no_credentials();
  porous_secured proved[2];
  porous_peer peers[2];
  uint8_t secrets[2][32];
  char greeting[8];
  network net;
  open_pair(&net, NULL);
  with.greeting = "name=Ada";
  with.greeting_len = 8;
  connect_sealed(&net, &with, proved);
  HOLDS(!proved[0].has_psk && !proved[0].has_client_id && proved[0].server_key_len == 0);
  IS(porous_peers(pair[0], &peers[0], 1), 1);
  IS(porous_peers(pair[1], &peers[1], 1), 1);
  IS(porous_peer_greeting(pair[0], peers[0], greeting, sizeof greeting), 8);
  IS(porous_peer_export(pair[0], peers[0], "voice", 5, secrets[0]), POROUS_OK);
  IS(porous_peer_export(pair[1], peers[1], "voice", 5, secrets[1]), POROUS_OK);
  HOLDS(memcmp(secrets[0], secrets[1], 32) == 0);
  IS(porous_peer_export(pair[1], peers[1], NULL, 0, secrets[1]), POROUS_OK);
  HOLDS(memcmp(secrets[0], secrets[1], 32) != 0);
  IS(porous_peer_export(pair[1], peers[1], NULL, 1, secrets[1]), POROUS_ERR_NULL);
  IS(porous_peer_export(pair[1], peers[1], "voice", 5, NULL), POROUS_ERR_NULL);
  IS(porous_peer_export(pair[1], 1, "voice", 5, secrets[1]), POROUS_ERR_UNKNOWN_PEER);
  IS(porous_peer_secured(pair[1], 1, &proved[1]), POROUS_ERR_UNKNOWN_PEER);
  IS(porous_peer_secured(pair[1], peers[1], NULL), POROUS_ERR_NULL);
  network_free(&net);
}

static void with_key_and_psk(void) {
  porous_security security = no_security();
  porous_credentials with = no_credentials();
  porous_secured proved[2];
  porous_key psk;
  uint8_t secret[32], public[32];
  network net;
  IS(porous_key_generate(secret), POROUS_OK);
  IS(porous_public_key(secret, public), POROUS_OK);
  IS(porous_key_generate(psk.bytes), POROUS_OK);
  psk.number = 12;
  security.identities = secret;
  security.identity_count = 1;
  security.psks = &psk;
  security.psk_count = 1;
  security.require_proof = 1;
  open_pair(&net, &security);
  with.server_key = public;
  with.server_key_len = 32;
  with.psk = psk.bytes;
  with.psk_number = 12;
  connect_sealed(&net, &with, proved);
  HOLDS(proved[0].has_psk && proved[0].psk_number == 12);
  HOLDS(proved[1].server_key_len == 32 && memcmp(proved[1].server_key, public, 32) == 0);
  network_free(&net);
}

static porous_ticket *minted(const uint8_t *key, const porous_claims *claims) {
  porous_ticket *ticket = NULL;
  IS(porous_ticket_mint(key, claims, &ticket), POROUS_OK);
  return ticket;
}

static void with_ticket(int by_parts) {
  porous_security security = no_security();
  porous_credentials with = no_credentials();
  porous_claims claims = some_claims();
  porous_secured proved[2];
  porous_ticket *ticket;
  porous_key key;
  uint8_t token[400], psk[32];
  network net;
  IS(porous_key_generate(key.bytes), POROUS_OK);
  key.number = 3;
  security.token_keys = &key;
  security.token_key_count = 1;
  security.require_proof = 1;
  security.has_server_id = 1;
  security.server_id = 81;
  security.max_token_lifetime_us = 60000000;
  security.used_tokens = 10;
  claims.single_use = 1;
  claims.audience_count = 1;
  claims.audiences[0] = 81;
  open_pair(&net, &security);
  ticket = minted(key.bytes, &claims);
  if (by_parts) {
    int32_t len = porous_ticket_token(ticket, token, sizeof token);
    HOLDS(len > 0);
    IS(porous_ticket_psk(ticket, psk), POROUS_OK);
    with.token = token;
    with.token_len = (uint32_t)len;
    with.psk = psk;
  } else {
    with.ticket = ticket;
  }
  connect_sealed(&net, &with, proved);
  HOLDS(proved[0].has_client_id && proved[0].client_id == 7 && proved[0].user_data_len == 3);
  HOLDS(memcmp(proved[0].user_data, "ana", 3) == 0 && !proved[1].has_client_id);
  porous_ticket_free(ticket);
  network_free(&net);
}

static void refused(void) {
  porous_security security = no_security();
  porous_credentials with = no_credentials();
  porous_secured secured;
  porous_address to = own_address(0);
  porous_peer peer;
  porous_config plain = preset(POROUS_PRESET_CLIENT);
  network net;
  memset(&secured, 0, sizeof secured);
  secured.size = sizeof secured;
  plain.application_id = 42;
  security.require_proof = 1;
  open_pair(&net, &security);
  IS(porous_connect_sealed(pair[1], &to, 1, &with, &peer), POROUS_OK);
  IS(network_wait(&net, 1, POROUS_EVENT_DISCONNECTED).reason, POROUS_REASON_REFUSED_SECURITY);

  /* A plain client is let in only if the server says so. */
  IS(porous_host_free(pair[1]), POROUS_OK);
  pair[1] = core_host(&plain, 7);
  IS(porous_connect_sealed(pair[1], &to, 1, &with, &peer), POROUS_ERR_NOT_SEALED);
  IS(porous_connect(pair[1], &to, &peer), POROUS_OK);
  IS(network_wait(&net, 1, POROUS_EVENT_DISCONNECTED).reason, POROUS_REASON_REFUSED_SECURITY);
  security.allow_plain = 1;
  IS(porous_set_security(pair[0], &security), POROUS_OK);
  IS(porous_connect(pair[1], &to, &peer), POROUS_OK);
  network_wait(&net, 1, POROUS_EVENT_CONNECTED);
  IS(porous_peer_secured(pair[1], peer, &secured), 0);
  IS(porous_peer_export(pair[1], peer, NULL, 0, secured.binding), POROUS_ERR_NOT_SEALED);
  network_free(&net);
}

static void bad_security(void) {
  porous_config config = sealing(POROUS_PRESET_DEFAULT);
  porous_host *host = core_host(&config, 1);
  porous_security security = no_security();
  porous_key keys[5];
  uint8_t secrets[96];
  uint32_t i;
  memset(secrets, 9, sizeof secrets);
  memset(keys, 1, sizeof keys);
  for (i = 0; i < 5; i++) {
    keys[i].number = i;
  }
  IS(porous_set_security(host, NULL), POROUS_ERR_NULL);
  IS(porous_set_security(NULL, &security), POROUS_ERR_NULL);
  IS(porous_set_security(host, &security), POROUS_OK);
  security.psk_count = 1;
  IS(porous_set_security(host, &security), POROUS_ERR_NULL);
  security.psks = keys;
  security.psk_count = 5;
  IS(porous_set_security(host, &security), POROUS_ERR_SECURITY_TOO_MANY);
  security.psk_count = 4;
  IS(porous_set_security(host, &security), POROUS_OK);
  security.token_keys = keys;
  security.token_key_count = 5;
  IS(porous_set_security(host, &security), POROUS_ERR_SECURITY_TOO_MANY);
  security.token_key_count = 1;
  keys[0].number = 256;
  IS(porous_set_security(host, &security), POROUS_ERR_VALUE);
  security.token_key_count = 0;
  security.identities = secrets;
  security.identity_count = 3;
  IS(porous_set_security(host, &security), POROUS_ERR_SECURITY_TOO_MANY);
  security.identity_count = 2;
  security.rekey_frames = security.rekey_time_us = 1000;
  security.many_per_client = 1;
  IS(porous_set_security(host, &security), POROUS_OK);
  security.allow_plain = 2;
  IS(porous_set_security(host, &security), POROUS_ERR_VALUE);
  security = no_security();
  security.size--;
  IS(porous_set_security(host, &security), POROUS_ERR_VERSION);
  IS(porous_host_free(host), POROUS_OK);

  IS(porous_key_generate(NULL), POROUS_ERR_NULL);
  IS(porous_public_key(NULL, secrets), POROUS_ERR_NULL);
  IS(porous_public_key(secrets, NULL), POROUS_ERR_NULL);
}

static void bad_credentials(void) {
  porous_config config = sealing(POROUS_PRESET_CLIENT);
  porous_host *host = core_host(&config, 1);
  porous_credentials with = no_credentials();
  porous_claims claims = some_claims();
  porous_address to = own_address(0);
  porous_peer peer;
  porous_ticket *ticket;
  uint8_t bytes[256];
  memset(bytes, 0, sizeof bytes);
  ticket = minted(bytes, &claims);
  IS(porous_connect_sealed(host, &to, 1, NULL, &peer), POROUS_ERR_NULL);
  IS(porous_connect_sealed(host, &to, 1, &with, NULL), POROUS_ERR_NULL);
  IS(porous_connect_sealed(host, NULL, 1, &with, &peer), POROUS_ERR_NULL);
  IS(porous_connect_sealed(NULL, &to, 1, &with, &peer), POROUS_ERR_NULL);
  IS(porous_connect_sealed(host, &to, 0, &with, &peer), POROUS_ERR_NO_ADDRESS);
  with.server_key_len = 32;
  IS(porous_connect_sealed(host, &to, 1, &with, &peer), POROUS_ERR_NULL);
  with.server_key = bytes;
  IS(porous_connect_sealed(host, &to, 1, &with, &peer), POROUS_ERR_SERVER_KEY);
  with.server_key_len = 31;
  IS(porous_connect_sealed(host, &to, 1, &with, &peer), POROUS_ERR_SERVER_KEY);
  with.server_key_len = 33;
  IS(porous_connect_sealed(host, &to, 1, &with, &peer), POROUS_ERR_SERVER_KEY);
  with = no_credentials();
  with.greeting = bytes;
  with.greeting_len = 256;
  IS(porous_connect_sealed(host, &to, 1, &with, &peer), POROUS_ERR_TOO_LONG);
  with = no_credentials();
  with.token = bytes;
  with.token_len = 100;
  IS(porous_connect_sealed(host, &to, 1, &with, &peer), POROUS_ERR_VALUE);
  with.psk = bytes;
  with.token_len = 3;
  IS(porous_connect_sealed(host, &to, 1, &with, &peer), POROUS_ERR_TICKET_MALFORMED);
  with.ticket = ticket;
  IS(porous_connect_sealed(host, &to, 1, &with, &peer), POROUS_ERR_VALUE);
  with = no_credentials();
  with.reserved = 1;
  IS(porous_connect_sealed(host, &to, 1, &with, &peer), POROUS_ERR_VALUE);
  porous_ticket_free(ticket);
  IS(porous_host_free(host), POROUS_OK);
}

static void claims_that_cannot_be(const uint8_t *key) {
  porous_claims claims = some_claims();
  porous_ticket *ticket = NULL;
  uint8_t data[256];
  memset(data, 0, sizeof data);
  IS(porous_ticket_mint(NULL, &claims, &ticket), POROUS_ERR_NULL);
  IS(porous_ticket_mint(key, NULL, &ticket), POROUS_ERR_NULL);
  IS(porous_ticket_mint(key, &claims, NULL), POROUS_ERR_NULL);
  claims.audience_count = 5;
  IS(porous_ticket_mint(key, &claims, &ticket), POROUS_ERR_VALUE);
  claims = some_claims();
  claims.suite = 3;
  IS(porous_ticket_mint(key, &claims, &ticket), POROUS_ERR_VALUE);
  claims = some_claims();
  claims.single_use = 2;
  IS(porous_ticket_mint(key, &claims, &ticket), POROUS_ERR_VALUE);
  claims = some_claims();
  claims.ip = own_address(1);
  IS(porous_ticket_mint(key, &claims, &ticket), POROUS_ERR_ADDRESS);
  claims = some_claims();
  claims.user_data = data;
  claims.user_data_len = 256;
  IS(porous_ticket_mint(key, &claims, &ticket), POROUS_ERR_CLAIMS_USER_DATA);
  claims.user_data = NULL;
  claims.user_data_len = 1;
  IS(porous_ticket_mint(key, &claims, &ticket), POROUS_ERR_NULL);
  HOLDS(ticket == NULL);
}

static void tickets(void) {
  porous_claims claims = some_claims();
  porous_ticket *ticket, *again = NULL;
  porous_address servers[33];
  char text[1500];
  uint8_t key[32], bytes[1100], server_key[65];
  uint64_t expires = 0;
  int32_t len;
  uint32_t i;
  memset(key, 5, sizeof key);
  claims_that_cannot_be(key);
  claims.suite = POROUS_SUITE_AES_GCM;
  IS(porous_address_parse("192.0.2.1:4000", &claims.ip), POROUS_OK);
  ticket = minted(key, &claims);
  IS(porous_ticket_server_key(ticket, NULL, 0), 0);
  for (i = 0; i < 33; i++) {
    IS(porous_address_parse("192.0.2.7:4000", &servers[i]), POROUS_OK);
  }
  IS(porous_ticket_set_servers(ticket, servers, 33), POROUS_ERR_TICKET_SERVERS);
  IS(porous_ticket_set_servers(ticket, NULL, 1), POROUS_ERR_NULL);
  IS(porous_ticket_set_servers(NULL, servers, 1), POROUS_ERR_NULL);
  IS(porous_ticket_set_servers(ticket, servers, 2), POROUS_OK);
  servers[0] = own_address(1);
  IS(porous_ticket_set_servers(ticket, servers, 1), POROUS_ERR_ADDRESS);
  IS(porous_ticket_set_server_key(ticket, key, 0), POROUS_ERR_SERVER_KEY);
  IS(porous_ticket_set_server_key(ticket, key, 31), POROUS_ERR_SERVER_KEY);
  IS(porous_ticket_set_server_key(ticket, NULL, 32), POROUS_ERR_NULL);
  IS(porous_ticket_set_server_key(NULL, key, 32), POROUS_ERR_NULL);
  IS(porous_ticket_set_server_key(ticket, key, 32), POROUS_OK);

  len = porous_ticket_to_text(ticket, text, sizeof text);
  HOLDS(len > 0 && strlen(text) == (size_t)len);
  IS(porous_ticket_to_text(ticket, text, (size_t)len), POROUS_ERR_SMALL);
  IS(porous_ticket_to_text(ticket, NULL, 1), POROUS_ERR_NULL);
  IS(porous_ticket_to_text(NULL, text, sizeof text), POROUS_ERR_NULL);
  IS(porous_ticket_to_text(ticket, text, sizeof text), len);
  IS(porous_ticket_from_text(text, &again), POROUS_OK);
  IS(porous_ticket_servers(again, servers, 1), 2);
  HOLDS(servers[0].bytes[3] == 7);
  IS(porous_ticket_servers(again, NULL, 1), POROUS_ERR_NULL);
  IS(porous_ticket_servers(NULL, servers, 1), POROUS_ERR_NULL);
  IS(porous_ticket_server_key(again, server_key, sizeof server_key), 32);
  IS(porous_ticket_server_key(again, server_key, 31), POROUS_ERR_SMALL);
  IS(porous_ticket_server_key(NULL, server_key, 65), POROUS_ERR_NULL);
  IS(porous_ticket_expires(again, &expires), POROUS_OK);
  HOLDS(expires == NOW + 30);
  IS(porous_ticket_expires(again, NULL), POROUS_ERR_NULL);
  IS(porous_ticket_expires(NULL, &expires), POROUS_ERR_NULL);
  porous_ticket_free(again);

  len = porous_ticket_to_bytes(ticket, bytes, sizeof bytes);
  HOLDS(len > 0);
  IS(porous_ticket_to_bytes(ticket, bytes, (size_t)len - 1), POROUS_ERR_SMALL);
  IS(porous_ticket_to_bytes(NULL, bytes, sizeof bytes), POROUS_ERR_NULL);
  IS(porous_ticket_from_bytes(bytes, (size_t)len, &again), POROUS_OK);
  porous_ticket_free(again);
  IS(porous_ticket_from_bytes(bytes, 3, &again), POROUS_ERR_TICKET_MALFORMED);
  IS(porous_ticket_from_bytes(NULL, 3, &again), POROUS_ERR_NULL);
  IS(porous_ticket_from_bytes(bytes, (size_t)len, NULL), POROUS_ERR_NULL);
  bytes[0] = 2;
  IS(porous_ticket_from_bytes(bytes, (size_t)len, &again), POROUS_ERR_TICKET_VERSION);
  IS(porous_ticket_from_text("?", &again), POROUS_ERR_TICKET_BASE64);
  IS(porous_ticket_from_text("\xff", &again), POROUS_ERR_UTF8);
  IS(porous_ticket_from_text(NULL, &again), POROUS_ERR_NULL);
  IS(porous_ticket_from_text(text, NULL), POROUS_ERR_NULL);
  IS(porous_ticket_token(ticket, bytes, 1), POROUS_ERR_SMALL);
  IS(porous_ticket_token(NULL, bytes, 1), POROUS_ERR_NULL);
  IS(porous_ticket_psk(ticket, NULL), POROUS_ERR_NULL);
  IS(porous_ticket_psk(NULL, bytes), POROUS_ERR_NULL);
  porous_ticket_free(ticket);
  porous_ticket_free(NULL);
}

int main(void) {
  with_nothing();
  with_key_and_psk();
  with_ticket(0);
  with_ticket(1);
  refused();
  bad_security();
  bad_credentials();
  tickets();
  return 0;
}
