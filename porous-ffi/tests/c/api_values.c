/* What concerns no host: the library, configurations, addresses, options, blobs and packets. */
#include "check.h"

#include <stddef.h>

/* What other languages lay out by themselves. Structs with pointers are of this size where these have 8 bytes. */
#define LAYOUT(type, bytes, last, offset)                              \
  _Static_assert(sizeof(type) == (bytes), "another size");            \
  _Static_assert(offsetof(type, last) == (offset), "another offset")

LAYOUT(porous_address, 32, bytes, 8);
LAYOUT(porous_channel, 8, rate, 4);
LAYOUT(porous_transmit, 48, reserved, 43);
LAYOUT(porous_send_options, 32, key, 24);
LAYOUT(porous_event, 192, data, 128);
LAYOUT(porous_received, 16, len, 8);
LAYOUT(porous_mode_counts, 24, passive, 16);
LAYOUT(porous_peer_stats, 328, reserved, 322);
LAYOUT(porous_channel_stats, 24, queue_time_longest_us, 16);
LAYOUT(porous_host_stats, 488, overloaded, 480);
LAYOUT(porous_connection_ids, 48, reserved, 41);
LAYOUT(porous_progress, 16, arrived, 12);
LAYOUT(porous_key, 36, bytes, 4);
LAYOUT(porous_secured, 376, user_data, 121);
#if UINTPTR_MAX == UINT64_MAX
LAYOUT(porous_config, 152, reserved, 145);
LAYOUT(porous_security, 80, token_key_count, 76);
LAYOUT(porous_credentials, 64, reserved, 60);
LAYOUT(porous_claims, 120, reserved, 116);
LAYOUT(porous_output, 296, event, 104);
#endif

static void library(void) {
  int32_t status;
  IS(porous_version(), POROUS_VERSION_MAJOR << 16 | POROUS_VERSION_MINOR << 8 | POROUS_VERSION_PATCH);
  IS(porous_check_abi(POROUS_ABI), POROUS_OK);
  IS(porous_check_abi(POROUS_ABI + 1), POROUS_ERR_VERSION);
  for (status = -200; status < 200; status++) {
    HOLDS(strlen(porous_status_text(status)) > 3);
  }
  HOLDS(strcmp(porous_status_text(POROUS_ERR_FULL), porous_status_text(-1000)) != 0);
  HOLDS(porous_status_text(INT32_MIN) != NULL && porous_status_text(INT32_MAX) != NULL);
}

/* A struct of a later version. */
typedef struct later {
  porous_config known;
  uint64_t unknown;
} later;

static void sizes(void) {
  porous_config config;
  later later;
  uint8_t guard[sizeof config + 8];
  IS(porous_config_init(NULL, sizeof config, 0), POROUS_ERR_NULL);
  IS(porous_config_init(&config, sizeof config - 1, 0), POROUS_ERR_VERSION);
  IS(porous_config_init(&config, 0, 0), POROUS_ERR_VERSION);
  IS(porous_config_init(&config, SIZE_MAX, 0), POROUS_ERR_VERSION);
  IS(porous_config_init(&config, sizeof config, 4), POROUS_ERR_VALUE);
  IS(porous_config_init(&config, sizeof config, UINT32_MAX), POROUS_ERR_VALUE);

  memset(&later, 255, sizeof later);
  IS(porous_config_init(&later.known, sizeof later, POROUS_PRESET_PAPER), POROUS_OK);
  HOLDS(later.unknown == 0 && later.known.size == sizeof later);
  IS(porous_config_check(&later.known), POROUS_OK);
  later.unknown = 1;
  IS(porous_config_check(&later.known), POROUS_ERR_VERSION);
  later.known.size = 5000;
  IS(porous_config_check(&later.known), POROUS_ERR_VERSION);

  IS(porous_config_check(NULL), POROUS_ERR_NULL);
  config = preset(POROUS_PRESET_DEFAULT);
  config.size--;
  IS(porous_config_check(&config), POROUS_ERR_VERSION);
  config.size = 0;
  IS(porous_config_check(&config), POROUS_ERR_VERSION);

  /* Nothing beyond the size is written. */
  memset(guard, 170, sizeof guard);
  memcpy(guard, &config, sizeof config);
  IS(porous_config_init((porous_config *)(void *)guard, sizeof config, 0), POROUS_OK);
  HOLDS(guard[sizeof config] == 170 && guard[sizeof guard - 1] == 170);
}

static porous_status checked(porous_config config) {
  return porous_config_check(&config);
}

/* Sets a field of a configuration to a value, and expects this answer. */
#define FIELD(field, value, status)               \
  do {                                            \
    porous_config c = preset(POROUS_PRESET_DEFAULT); \
    c.field = (value);                            \
    IS(checked(c), (status));                     \
  } while (0)

static void configurations(void) {
  uint32_t number;
  porous_config config;
  porous_channel channels[256];
  for (number = 0; number <= POROUS_PRESET_EMBEDDED; number++) {
    IS(checked(preset(number)), POROUS_OK);
  }
  memset(&config, 0, sizeof config);
  config.size = sizeof config;
  IS(porous_config_check(&config), POROUS_OK);

  FIELD(preset, 4, POROUS_ERR_VALUE);
  FIELD(policy, 3, POROUS_ERR_VALUE);
  FIELD(congestion, 7, POROUS_ERR_VALUE);
  FIELD(congestion, POROUS_CONGESTION_CUBIC, POROUS_OK);
  FIELD(congestion, POROUS_CONGESTION_FIXED, POROUS_ERR_VALUE);
  FIELD(congestion, POROUS_CONGESTION_BINARY, POROUS_ERR_VALUE);
  FIELD(integrity, 3, POROUS_ERR_VALUE);
  FIELD(integrity, POROUS_INTEGRITY_CRC32C, POROUS_OK);
  FIELD(ecn, 3, POROUS_ERR_VALUE);
  FIELD(roaming, 3, POROUS_ERR_VALUE);
  FIELD(reserved[6], 1, POROUS_ERR_VALUE);
  FIELD(channel_count, 256, POROUS_ERR_CONFIG_CHANNELS);
  FIELD(channel_count, 255, POROUS_OK);
  FIELD(max_datagram, 511, POROUS_ERR_CONFIG_MAX_DATAGRAM);
  FIELD(max_datagram, 65508, POROUS_ERR_CONFIG_MAX_DATAGRAM);
  FIELD(path_mtu, 511, POROUS_ERR_CONFIG_MAX_DATAGRAM);
  FIELD(path_mtu, POROUS_PATH_MTU_OFF, POROUS_OK);
  FIELD(request_size, 1201, POROUS_ERR_CONFIG_REQUEST_SIZE);
  FIELD(frame_window, 17, POROUS_ERR_CONFIG_WINDOW);
  FIELD(packet_window, 131072, POROUS_ERR_CONFIG_WINDOW);
  FIELD(receive_budget, 100, POROUS_ERR_CONFIG_RECEIVE_BUDGET);
  FIELD(max_packet, UINT32_MAX, POROUS_ERR_CONFIG_RECEIVE_BUDGET);
  FIELD(connection_id_len, 21, POROUS_ERR_CONFIG_CONNECTION_ID_LEN);
  FIELD(connection_id_len, 20, POROUS_OK);
  FIELD(connection_id_len, POROUS_NO_CONNECTION_IDS, POROUS_OK);
  FIELD(replies, 1000001, POROUS_ERR_CONFIG_REPLY_LIMIT);
  FIELD(replies_per_address, 1000001, POROUS_ERR_CONFIG_REPLY_LIMIT);
  FIELD(unreliable_age_us, UINT64_MAX, POROUS_OK);
  FIELD(timeout_us, UINT64_MAX, POROUS_OK);
  FIELD(suites[0], POROUS_SUITE_AES_GCM, POROUS_OK);
  FIELD(suites[0], 3, POROUS_ERR_VALUE);
  FIELD(suites[1], POROUS_SUITE_AES_GCM, POROUS_ERR_VALUE);
  config = preset(POROUS_PRESET_DEFAULT);
  config.suites[0] = config.suites[1] = POROUS_SUITE_AES_GCM;
  IS(porous_config_check(&config), POROUS_ERR_CONFIG_SUITES);

  memset(channels, 0, sizeof channels);
  config = preset(POROUS_PRESET_DEFAULT);
  config.channels = channels;
  config.channel_count = 255;
  IS(porous_config_check(&config), POROUS_OK);
  channels[254].priority = 2;
  IS(porous_config_check(&config), POROUS_ERR_VALUE);
  channels[254].priority = 1;
  channels[3].unordered = 2;
  IS(porous_config_check(&config), POROUS_ERR_VALUE);
  channels[3].unordered = 1;
  channels[0].reserved = 1;
  IS(porous_config_check(&config), POROUS_ERR_VALUE);
}

static void addresses(void) {
  static const char *const good[] = {"192.0.2.1:4000", "[2001:db8::1]:65535", "[fe80::1%3]:1", "0.0.0.0:0"};
  static const char *const bad[] = {"", "192.0.2.1", "192.0.2.256:1", "localhost:1", "[::1]", "::1:1", "\xff:1"};
  porous_address address, again;
  char text[64];
  size_t i;
  for (i = 0; i < sizeof good / sizeof *good; i++) {
    memset(&address, 255, sizeof address);
    IS(porous_address_parse(good[i], &address), POROUS_OK);
    IS(porous_address_format(&address, text, sizeof text), (int64_t)strlen(good[i]));
    HOLDS(strcmp(text, good[i]) == 0);
    IS(porous_address_format(&address, text, strlen(good[i])), POROUS_ERR_SMALL);
    HOLDS(text[0] == 0);
    IS(porous_address_format(&address, text, 0), POROUS_ERR_SMALL);
  }
  for (i = 0; i < sizeof bad / sizeof *bad; i++) {
    HOLDS(porous_address_parse(bad[i], &address) < 0);
  }
  IS(porous_address_parse("\xff:1", &address), POROUS_ERR_UTF8);
  IS(porous_address_parse("x", &address), POROUS_ERR_ADDRESS);
  IS(porous_address_parse(NULL, &address), POROUS_ERR_NULL);
  IS(porous_address_parse(good[0], NULL), POROUS_ERR_NULL);
  IS(porous_address_format(NULL, text, sizeof text), POROUS_ERR_NULL);
  IS(porous_address_format(&address, NULL, sizeof text), POROUS_ERR_NULL);

  /* One address has one spelling. */
  IS(porous_address_parse("[::ffff:192.0.2.1]:4000", &address), POROUS_OK);
  IS(porous_address_parse("192.0.2.1:4000", &again), POROUS_OK);
  HOLDS(memcmp(&address, &again, sizeof address) == 0 && address.kind == POROUS_ADDRESS_IPV4);
  again.bytes[23] = 1;
  IS(porous_address_format(&again, text, sizeof text), POROUS_ERR_ADDRESS);
  again.bytes[23] = 0;
  again.len = 25;
  IS(porous_address_format(&again, text, sizeof text), POROUS_ERR_ADDRESS);
  again.len = 16;
  IS(porous_address_format(&again, text, sizeof text), POROUS_ERR_ADDRESS);
  again = own_address(1);
  IS(porous_address_format(&again, text, sizeof text), POROUS_ERR_ADDRESS);

  IS(porous_resolve("127.0.0.1:7", NULL, 0), 1);
  IS(porous_resolve("127.0.0.1:7", &address, 1), 1);
  HOLDS(address.port == 7 && address.bytes[0] == 127);
  IS(porous_resolve("127.0.0.1", &address, 1), POROUS_ERR_ADDRESS);
  IS(porous_resolve(NULL, &address, 1), POROUS_ERR_NULL);
  IS(porous_resolve("127.0.0.1:7", NULL, 1), POROUS_ERR_NULL);
}

static void options(void) {
  porous_send_options options;
  IS(porous_send_options_init(&options, sizeof options, POROUS_PASSIVE), POROUS_OK);
  HOLDS(options.mode == POROUS_PASSIVE && options.size == sizeof options && options.ttl_us == 0);
  IS(porous_send_options_init(&options, sizeof options, 3), POROUS_ERR_VALUE);
  IS(porous_send_options_init(&options, sizeof options - 1, 0), POROUS_ERR_VERSION);
  IS(porous_send_options_init(NULL, sizeof options, 0), POROUS_ERR_NULL);
}

static void count_release(void *user) {
  ++*(int *)user;
}

static void blobs(void) {
  porous_blob *blob = NULL;
  int released = 0;
  size_t len = 7;
  IS(porous_blob_copy("hello", 5, &blob), POROUS_OK);
  porous_blob_free(blob);
  IS(porous_blob_copy(NULL, 0, &blob), POROUS_OK);
  porous_blob_free(blob);
  porous_blob_free(NULL);
  IS(porous_blob_copy(NULL, 1, &blob), POROUS_ERR_NULL);
  IS(porous_blob_copy("hello", 5, NULL), POROUS_ERR_NULL);
  IS(porous_blob_copy("hello", SIZE_MAX, &blob), POROUS_ERR_VALUE);
  IS(porous_blob_copy("hello", SIZE_MAX / 2 + 1, &blob), POROUS_ERR_VALUE);

  IS(porous_blob_wrap("hello", 5, count_release, &released, &blob), POROUS_OK);
  HOLDS(released == 0);
  porous_blob_free(blob);
  HOLDS(released == 1);
  IS(porous_blob_wrap(NULL, 0, count_release, &released, &blob), POROUS_OK);
  porous_blob_free(blob);
  HOLDS(released == 2);
  IS(porous_blob_wrap("hello", 5, NULL, NULL, &blob), POROUS_OK);
  porous_blob_free(blob);
  IS(porous_blob_wrap(NULL, 1, count_release, &released, &blob), POROUS_ERR_NULL);
  IS(porous_blob_wrap("hello", 5, count_release, &released, NULL), POROUS_ERR_NULL);
  IS(porous_blob_wrap("hello", SIZE_MAX, count_release, &released, &blob), POROUS_ERR_VALUE);
  HOLDS(released == 2);

  HOLDS(porous_packet_data(NULL, &len) == NULL && len == 0);
  HOLDS(porous_packet_data(NULL, NULL) == NULL);
  porous_packet_free(NULL);
}

static void errors_of_the_system(void) {
  char text[256];
  IS(porous_io_error_text(text, sizeof text), 0);
  HOLDS(text[0] == 0);
  IS(porous_io_error_text(NULL, sizeof text), POROUS_ERR_NULL);
  IS(porous_io_error_text(text, 0), POROUS_ERR_SMALL);
}

static void told(void *user, const char *text, size_t len) {
  (void)user;
  (void)text;
  (void)len;
}

int main(void) {
  library();
  sizes();
  configurations();
  addresses();
  options();
  blobs();
  errors_of_the_system();
  IS(porous_on_panic(told, NULL), POROUS_OK);
  IS(porous_on_panic(NULL, NULL), POROUS_OK);
  return 0;
}
