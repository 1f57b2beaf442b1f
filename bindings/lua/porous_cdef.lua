-- Made of porous.h by generate.lua; not to be changed by hand.
return {
  constants = {
    VERSION_MAJOR = 0,
    VERSION_MINOR = 1,
    VERSION_PATCH = 0,
    ABI = 1,
    OK = 0,
    ERR_NULL = -1,
    ERR_BUSY = -2,
    ERR_PANIC = -3,
    ERR_VERSION = -4,
    ERR_VALUE = -5,
    ERR_KIND = -6,
    ERR_SMALL = -7,
    ERR_UTF8 = -8,
    ERR_ADDRESS = -9,
    ERR_IO = -10,
    ERR_UNSUPPORTED = -11,
    ERR_OTHER = -12,
    ERR_IN_USE = -13,
    ERR_NOT_AVAILABLE = -14,
    ERR_NOT_PERMITTED = -15,
    ERR_UNKNOWN_PEER = -20,
    ERR_NOT_CONNECTED = -21,
    ERR_DISCONNECTING = -22,
    ERR_UNKNOWN_CHANNEL = -23,
    ERR_TOO_LARGE = -24,
    ERR_FULL = -25,
    ERR_ALREADY_CONNECTED = -30,
    ERR_OUT_OF_CONNECTION_IDS = -31,
    ERR_NO_ADDRESS = -32,
    ERR_TOO_MANY_ADDRESSES = -33,
    ERR_NOT_ASKED = -34,
    ERR_TOO_LONG = -35,
    ERR_CANNOT_LISTEN = -36,
    ERR_NOT_SEALED = -37,
    ERR_SERVER_KEY = -38,
    ERR_ADDRESS_FAMILY = -40,
    ERR_ADDRESS_PORT_ZERO = -41,
    ERR_ADDRESS_UNSPECIFIED = -42,
    ERR_ADDRESS_BROADCAST = -43,
    ERR_ADDRESS_ITSELF = -44,
    ERR_CONFIG_CHANNELS = -50,
    ERR_CONFIG_UNKNOWN_CHANNEL = -51,
    ERR_CONFIG_MAX_DATAGRAM = -52,
    ERR_CONFIG_REQUEST_SIZE = -53,
    ERR_CONFIG_WINDOW = -54,
    ERR_CONFIG_RECEIVE_BUDGET = -55,
    ERR_CONFIG_CONNECTION_ID_LEN = -56,
    ERR_CONFIG_REPLY_LIMIT = -57,
    ERR_CONFIG_SUITES = -58,
    ERR_CONFIG_ZERO = -59,
    ERR_IDS_NO_BYTES = -60,
    ERR_IDS_TOO_SHORT = -61,
    ERR_IDS_SHARD_BITS = -62,
    ERR_IDS_SHARD = -63,
    ERR_IDS_ROTATION = -64,
    ERR_IDS_SERVER_ID = -65,
    ERR_SECURITY_TOO_MANY = -70,
    ERR_SECURITY_WEAK = -71,
    ERR_CLAIMS_AUDIENCES = -72,
    ERR_CLAIMS_USER_DATA = -73,
    ERR_TICKET_SERVERS = -74,
    ERR_TICKET_BASE64 = -75,
    ERR_TICKET_VERSION = -76,
    ERR_TICKET_MALFORMED = -77,
    ERR_THREAD_FULL = -80,
    ERR_THREAD_ENDED = -81,
    ADDRESS_NONE = 0,
    ADDRESS_IPV4 = 4,
    ADDRESS_IPV6 = 6,
    ADDRESS_OWN = 255,
    PRESET_DEFAULT = 0,
    PRESET_CLIENT = 1,
    PRESET_PAPER = 2,
    PRESET_EMBEDDED = 3,
    POLICY_MODERN = 1,
    POLICY_PAPER = 2,
    CONGESTION_PAPER = 1,
    CONGESTION_LEAN = 2,
    CONGESTION_RENO = 3,
    CONGESTION_CUBIC = 4,
    CONGESTION_FIXED = 5,
    CONGESTION_BINARY = 6,
    INTEGRITY_HEADER = 1,
    INTEGRITY_CRC32C = 2,
    SUITE_CHACHA_POLY = 1,
    SUITE_AES_GCM = 2,
    ON = 1,
    OFF = 2,
    NO_CONNECTION_IDS = 255,
    PATH_MTU_OFF = 1,
    ECN_NOT_ECT = 0,
    ECN_ECT1 = 1,
    ECN_ECT0 = 2,
    ECN_CE = 3,
    LISTEN_CLOSED = 0,
    LISTEN_OPEN = 1,
    LISTEN_ASK = 2,
    LISTEN_FULL = 3,
    IDS_RANDOM = 0,
    IDS_SHARDED = 1,
    IDS_QUIC_LB = 2,
    EVENT_REQUEST = 1,
    EVENT_CONNECTED = 2,
    EVENT_READABLE = 3,
    EVENT_WRITABLE = 4,
    EVENT_RECEIPT = 5,
    EVENT_MOVED = 6,
    EVENT_PATH_NARROWED = 7,
    EVENT_PORT_CLOSED = 8,
    EVENT_DISCONNECTED = 9,
    OUTCOME_DELIVERED = 1,
    OUTCOME_SKIPPED = 2,
    OUTCOME_LOST = 3,
    OUTCOME_EXPIRED = 4,
    OUTCOME_CANCELLED = 5,
    REASON_BY_PEER = 1,
    REASON_BY_US = 2,
    REASON_GOODBYE_UNANSWERED = 3,
    REASON_NEVER_ANSWERED = 4,
    REASON_UNFINISHED = 5,
    REASON_SILENT = 6,
    REASON_LOST_BY_PEER = 7,
    REASON_PATH_TOO_NARROW = 8,
    REASON_RESTARTED = 9,
    REASON_UNREACHABLE = 10,
    REASON_TOO_MANY_FORGERIES = 11,
    REASON_INTERNAL_ERROR = 12,
    REASON_REFUSED_VERSION = 20,
    REASON_REFUSED_INCOMPATIBLE = 21,
    REASON_REFUSED_FULL = 22,
    REASON_REFUSED_APPLICATION = 23,
    REASON_REFUSED_SECURITY = 24,
    REASON_OTHER = 99,
    UNRELIABLE = 0,
    RELIABLE = 1,
    PASSIVE = 2,
    NO_COPIES = 255,
    STATE_CONNECTING = 1,
    STATE_CONNECTED = 2,
    STATE_DISCONNECTING = 3,
    STATE_DISCONNECTED = 4,
    STATE_ZOMBIE = 5,
    OUTPUT_EVENT = 1,
    OUTPUT_PACKET = 2,
    OUTPUT_CONNECTING = 3,
    OUTPUT_NOT_CONNECTING = 4,
    OUTPUT_NOT_LISTENING = 5,
    OUTPUT_NOT_ANSWERED = 6,
    OUTPUT_UNSENT = 7,
    OUTPUT_STATS = 8,
    OUTPUT_PEER_STATS = 9,
    OUTPUT_SEND_PROGRESS = 10,
    OUTPUT_RECEIVE_PROGRESS = 11,
    OUTPUT_ENDED = 12,
    OUTPUT_NOT_SUFFIXED = 13,
    OUTPUT_IDS_UNCHANGED = 14,
  },
  declarations = [[
typedef struct porous_blob porous_blob;
typedef struct porous_host porous_host;
typedef struct porous_packet porous_packet;
typedef struct porous_thread porous_thread;
typedef struct porous_ticket porous_ticket;
typedef int32_t porous_status;
typedef struct porous_address {
  uint8_t kind;
  uint8_t len;
  uint16_t port;
  uint32_t scope;
  uint8_t bytes[24];
} porous_address;
typedef struct porous_channel {
  uint8_t priority;
  uint8_t unordered;
  uint8_t weight;
  uint8_t reserved;
  uint32_t rate;
} porous_channel;
typedef struct porous_config {
  uint32_t size;
  uint8_t preset;
  uint8_t policy;
  uint8_t congestion;
  uint8_t integrity;
  const struct porous_channel *channels;
  uint64_t application_id;
  uint64_t host_receive_budget;
  uint64_t connect_timeout_us;
  uint64_t timeout_us;
  uint64_t disconnect_timeout_us;
  uint64_t keepalive_us;
  uint64_t unreliable_age_us;
  uint32_t channel_count;
  uint32_t max_peers;
  uint32_t max_peers_per_source;
  uint32_t max_packet;
  uint32_t receive_budget;
  uint32_t send_budget;
  uint32_t frame_window;
  uint32_t packet_window;
  uint32_t send_rate;
  uint32_t receive_rate;
  uint32_t host_send_rate;
  uint32_t replies_per_address;
  uint32_t replies;
  uint32_t congestion_rate;
  uint32_t congestion_rate_bad;
  uint16_t max_datagram;
  uint16_t request_size;
  uint16_t path_mtu;
  uint8_t connection_id_len;
  uint8_t ecn;
  uint8_t roaming;
  uint8_t suites[4];
  uint8_t reserved[7];
} porous_config;
typedef struct porous_transmit {
  struct porous_address to;
  uint64_t len;
  uint8_t ecn;
  uint8_t dont_fragment;
  uint8_t to_stranger;
  uint8_t reserved[5];
} porous_transmit;
typedef uint64_t porous_peer;
typedef struct porous_connection_ids {
  uint32_t size;
  uint8_t kind;
  uint8_t shard;
  uint8_t bits;
  uint8_t rotation;
  uint8_t server_id[15];
  uint8_t server_id_len;
  uint8_t key[16];
  uint8_t has_key;
  uint8_t reserved[7];
} porous_connection_ids;
typedef struct porous_event {
  uint32_t size;
  uint32_t type;
  porous_peer peer;
  struct porous_address address;
  struct porous_address from;
  uint64_t token;
  uint64_t application_id;
  uint32_t outcome;
  uint32_t reason;
  uint32_t code;
  uint32_t undelivered;
  uint32_t oldest_version;
  uint32_t newest_version;
  uint32_t datagram_bytes;
  uint32_t data_len;
  uint8_t data[64];
} porous_event;
typedef struct porous_send_options {
  uint32_t size;
  uint8_t mode;
  uint8_t redundancy;
  uint8_t has_receipt;
  uint8_t has_key;
  uint64_t ttl_us;
  uint64_t receipt;
  uint64_t key;
} porous_send_options;
typedef struct porous_received {
  uint8_t channel;
  uint8_t mode;
  uint8_t reserved[6];
  uint64_t len;
} porous_received;
typedef void (*porous_release)(void *user);
typedef struct porous_mode_counts {
  uint64_t unreliable;
  uint64_t reliable;
  uint64_t passive;
} porous_mode_counts;
typedef struct porous_peer_stats {
  uint32_t size;
  uint32_t state;
  uint32_t channels;
  uint32_t max_packet;
  uint32_t max_unfragmented;
  uint32_t path_mtu;
  uint64_t remote_timeout_us;
  uint64_t rtt_us;
  uint64_t rtt_variance_us;
  uint64_t rtt_minimum_us;
  uint64_t jitter_us;
  uint64_t resend_timeout_us;
  uint64_t datagrams_sent;
  uint64_t datagrams_received;
  uint64_t bytes_sent;
  uint64_t bytes_received;
  uint64_t frames_sent;
  uint64_t frames_lost;
  uint64_t frames_spurious;
  uint64_t frames_marked;
  uint64_t frames_received;
  uint64_t frames_missing;
  struct porous_mode_counts packets_sent;
  struct porous_mode_counts packet_bytes_sent;
  struct porous_mode_counts packets_received;
  struct porous_mode_counts packet_bytes_received;
  uint64_t answers_withheld;
  uint64_t packets_expired;
  uint64_t packets_replaced;
  uint64_t packets_cancelled;
  uint64_t packets_incomplete;
  uint64_t packets_evicted;
  uint32_t flight;
  uint32_t window;
  uint32_t queued_bytes;
  uint32_t send_rate;
  uint32_t receive_rate;
  uint16_t loss_sent;
  uint16_t loss_received;
  uint8_t quality;
  uint8_t ecn;
  uint8_t reserved[6];
} porous_peer_stats;
typedef struct porous_channel_stats {
  uint32_t size;
  uint32_t waiting;
  uint64_t queue_time_us;
  uint64_t queue_time_longest_us;
} porous_channel_stats;
typedef struct porous_host_stats {
  uint32_t size;
  uint32_t reserved;
  uint64_t datagrams_received;
  uint64_t bytes_received;
  uint64_t datagrams_sent;
  uint64_t bytes_sent;
  uint64_t accepted;
  uint64_t connected;
  uint64_t source_full;
  uint64_t ignored[32];
  uint64_t tokens_refused[16];
  uint64_t send_lost;
  uint64_t send_delayed;
  uint64_t receive_errors;
  uint64_t answers_withheld;
  uint64_t overloaded;
} porous_host_stats;
typedef struct porous_progress {
  uint32_t size;
  uint32_t len;
  uint32_t sent;
  uint32_t arrived;
} porous_progress;
typedef struct porous_key {
  uint32_t number;
  uint8_t bytes[32];
} porous_key;
typedef struct porous_security {
  uint32_t size;
  uint8_t allow_plain;
  uint8_t require_proof;
  uint8_t many_per_client;
  uint8_t has_server_id;
  const uint8_t *identities;
  const struct porous_key *psks;
  const struct porous_key *token_keys;
  uint64_t server_id;
  uint64_t max_token_lifetime_us;
  uint64_t rekey_frames;
  uint64_t rekey_time_us;
  uint32_t used_tokens;
  uint32_t identity_count;
  uint32_t psk_count;
  uint32_t token_key_count;
} porous_security;
typedef struct porous_credentials {
  uint32_t size;
  uint32_t psk_number;
  const struct porous_ticket *ticket;
  const uint8_t *server_key;
  const uint8_t *psk;
  const void *token;
  const void *greeting;
  uint32_t server_key_len;
  uint32_t token_len;
  uint32_t greeting_len;
  uint32_t reserved;
} porous_credentials;
typedef struct porous_secured {
  uint32_t size;
  uint8_t suite;
  uint8_t has_psk;
  uint8_t has_client_id;
  uint8_t server_key_len;
  uint64_t client_id;
  uint32_t psk_number;
  uint32_t user_data_len;
  uint8_t binding[32];
  uint8_t server_key[65];
  uint8_t user_data[255];
} porous_secured;
typedef struct porous_claims {
  uint32_t size;
  uint8_t key_number;
  uint8_t suite;
  uint8_t single_use;
  uint8_t audience_count;
  uint64_t application_id;
  uint64_t client_id;
  uint64_t created;
  uint64_t expires;
  uint64_t audiences[4];
  struct porous_address ip;
  const void *user_data;
  uint32_t user_data_len;
  uint32_t reserved;
} porous_claims;
typedef void (*porous_told)(void *user, const char *text, size_t len);
typedef void *(*porous_alloc)(void *user, size_t size, size_t align);
typedef void (*porous_dealloc)(void *user, void *memory, size_t size, size_t align);
typedef struct porous_output {
  uint32_t size;
  uint32_t type;
  porous_peer peer;
  struct porous_packet *packet;
  struct porous_received what;
  uint64_t receipt;
  struct porous_progress progress;
  struct porous_address address;
  porous_status status;
  uint32_t is_known;
  struct porous_event event;
} porous_output;
uint32_t porous_version(void);
porous_status porous_check_abi(uint32_t abi);
const char *porous_status_text(porous_status status);
porous_status porous_address_parse(const char *address, struct porous_address *out);
porous_status porous_address_format(const struct porous_address *address, char *text, size_t cap);
porous_status porous_resolve(const char *name, struct porous_address *out, size_t cap);
porous_status porous_config_init(struct porous_config *config, size_t size, uint32_t preset);
porous_status porous_config_check(const struct porous_config *config);
porous_status porous_host_free(struct porous_host *host);
porous_status porous_core_new(const struct porous_config *config,
                              const uint8_t *seed,
                              struct porous_host **out);
porous_status porous_core_time(struct porous_host *host,
                               uint64_t now);
porous_status porous_core_input(struct porous_host *host,
                                const struct porous_address *from,
                                uint32_t ecn,
                                const void *data,
                                size_t len);
porous_status porous_core_output(struct porous_host *host,
                                 struct porous_transmit *transmit,
                                 void *buffer,
                                 size_t cap);
porous_status porous_core_timeout(struct porous_host *host);
porous_status porous_core_backlog(struct porous_host *host,
                                  uint32_t waits);
porous_status porous_core_deadline(const struct porous_host *host,
                                   uint64_t *at);
porous_status porous_core_buffer_size(const struct porous_host *host,
                                      uint64_t *bytes);
porous_status porous_core_unreachable(struct porous_host *host, const struct porous_address *to);
porous_status porous_core_port_closed(struct porous_host *host,
                                      const struct porous_address *at);
porous_status porous_core_unix_time(struct porous_host *host,
                                    uint64_t seconds);
porous_status porous_udp_bind(const struct porous_config *config,
                              const char *address,
                              struct porous_host **out);
porous_status porous_udp_bind_shards(const struct porous_config *config,
                                     const char *address,
                                     uint32_t count,
                                     struct porous_host **out);
porous_status porous_udp_adopt(const struct porous_config *config,
                               ptrdiff_t socket,
                               struct porous_host **out);
porous_status porous_udp_step(struct porous_host *host);
porous_status porous_udp_transmit(struct porous_host *host);
porous_status porous_udp_wait(struct porous_host *host,
                              uint64_t at_most_us);
porous_status porous_udp_close(struct porous_host *host,
                               uint32_t code,
                               uint64_t flush_at_most_us);
porous_status porous_udp_address(const struct porous_host *host, struct porous_address *out);
porous_status porous_udp_socket(const struct porous_host *host,
                                ptrdiff_t *out);
porous_status porous_udp_deadline(const struct porous_host *host, uint64_t *from_now_us);
porous_status porous_udp_is_blocked(const struct porous_host *host);
porous_status porous_udp_set_suffix(struct porous_host *host,
                                    const struct porous_address *to,
                                    const void *suffix,
                                    size_t len);
porous_status porous_udp_set_time_limit(struct porous_host *host,
                                        uint64_t limit_us);
porous_status porous_listen(struct porous_host *host, uint32_t policy);
porous_status porous_connect(struct porous_host *host,
                             const struct porous_address *to,
                             porous_peer *out);
porous_status porous_connect_any(struct porous_host *host,
                                 const struct porous_address *to,
                                 size_t to_count,
                                 const void *greeting,
                                 size_t greeting_len,
                                 porous_peer *out);
porous_status porous_accept(struct porous_host *host, porous_peer peer);
porous_status porous_refuse(struct porous_host *host,
                            porous_peer peer,
                            const void *data,
                            size_t len);
porous_status porous_disconnect(struct porous_host *host,
                                porous_peer peer,
                                uint32_t code,
                                uint64_t flush_at_most_us);
porous_status porous_disconnect_all(struct porous_host *host,
                                    uint32_t code,
                                    uint64_t flush_at_most_us);
porous_status porous_drain(struct porous_host *host,
                           uint32_t code,
                           uint64_t at_most_us);
porous_status porous_is_empty(const struct porous_host *host);
porous_status porous_peers(const struct porous_host *host, porous_peer *out, size_t cap);
porous_status porous_peer_address(const struct porous_host *host,
                                  porous_peer peer,
                                  struct porous_address *out);
porous_status porous_peer_greeting(const struct porous_host *host,
                                   porous_peer peer,
                                   void *buffer,
                                   size_t cap);
porous_status porous_set_connection_ids(struct porous_host *host,
                                        const struct porous_connection_ids *ids);
porous_status porous_poll_event(struct porous_host *host, struct porous_event *event);
porous_status porous_send_options_init(struct porous_send_options *options,
                                       size_t size,
                                       uint32_t mode);
porous_status porous_send(struct porous_host *host,
                          porous_peer peer,
                          uint8_t channel,
                          uint32_t mode,
                          const void *data,
                          size_t len);
porous_status porous_send_with(struct porous_host *host,
                               porous_peer peer,
                               uint8_t channel,
                               const void *data,
                               size_t len,
                               const struct porous_send_options *options);
porous_status porous_send_blob(struct porous_host *host,
                               porous_peer peer,
                               uint8_t channel,
                               const struct porous_blob *blob,
                               const struct porous_send_options *options);
porous_status porous_cancel(struct porous_host *host,
                            porous_peer peer,
                            uint8_t channel,
                            uint64_t receipt);
porous_status porous_set_send_rate(struct porous_host *host,
                                   porous_peer peer,
                                   uint32_t bytes_a_second);
porous_status porous_set_receive_rate(struct porous_host *host,
                                      porous_peer peer,
                                      uint32_t bytes_a_second);
porous_status porous_set_channel_rate(struct porous_host *host,
                                      porous_peer peer,
                                      uint8_t channel,
                                      uint32_t bytes_a_second);
porous_status porous_set_host_send_rate(struct porous_host *host, uint32_t bytes_a_second);
porous_status porous_receive(struct porous_host *host,
                             porous_peer peer,
                             struct porous_received *what,
                             void *buffer,
                             size_t cap);
porous_status porous_receive_packet(struct porous_host *host,
                                    porous_peer peer,
                                    struct porous_received *what,
                                    struct porous_packet **out);
porous_status porous_readable(const struct porous_host *host, porous_peer *out, size_t cap);
const void *porous_packet_data(const struct porous_packet *packet,
                               size_t *len);
void porous_packet_free(struct porous_packet *packet);
porous_status porous_blob_copy(const void *data, size_t len, struct porous_blob **out);
porous_status porous_blob_wrap(const void *data,
                               size_t len,
                               porous_release release,
                               void *user,
                               struct porous_blob **out);
void porous_blob_free(struct porous_blob *blob);
porous_status porous_peer_info(const struct porous_host *host,
                               porous_peer peer,
                               struct porous_peer_stats *stats);
porous_status porous_channel_info(const struct porous_host *host,
                                  porous_peer peer,
                                  uint8_t channel,
                                  struct porous_channel_stats *stats);
porous_status porous_host_info(const struct porous_host *host, struct porous_host_stats *stats);
porous_status porous_send_progress(const struct porous_host *host,
                                   porous_peer peer,
                                   uint8_t channel,
                                   uint64_t receipt,
                                   struct porous_progress *progress);
porous_status porous_receive_progress(const struct porous_host *host,
                                      porous_peer peer,
                                      uint8_t channel,
                                      struct porous_progress *progress);
porous_status porous_peer_state(const struct porous_host *host, porous_peer peer);
porous_status porous_set_security(struct porous_host *host,
                                  const struct porous_security *security);
porous_status porous_key_generate(uint8_t *secret);
porous_status porous_public_key(const uint8_t *secret,
                                uint8_t *public_);
porous_status porous_connect_sealed(struct porous_host *host,
                                    const struct porous_address *to,
                                    size_t to_count,
                                    const struct porous_credentials *with,
                                    porous_peer *out);
porous_status porous_peer_secured(const struct porous_host *host,
                                  porous_peer peer,
                                  struct porous_secured *secured);
porous_status porous_peer_export(const struct porous_host *host,
                                 porous_peer peer,
                                 const void *label,
                                 size_t label_len,
                                 uint8_t *secret);
porous_status porous_ticket_mint(const uint8_t *token_key,
                                 const struct porous_claims *claims,
                                 struct porous_ticket **out);
porous_status porous_ticket_set_servers(struct porous_ticket *ticket,
                                        const struct porous_address *servers,
                                        size_t server_count);
porous_status porous_ticket_set_server_key(struct porous_ticket *ticket,
                                           const uint8_t *key,
                                           size_t key_len);
porous_status porous_ticket_from_text(const char *text, struct porous_ticket **out);
porous_status porous_ticket_from_bytes(const void *data, size_t len, struct porous_ticket **out);
porous_status porous_ticket_to_text(const struct porous_ticket *ticket, char *text, size_t cap);
porous_status porous_ticket_to_bytes(const struct porous_ticket *ticket, void *buffer, size_t cap);
porous_status porous_ticket_servers(const struct porous_ticket *ticket,
                                    struct porous_address *out,
                                    size_t cap);
porous_status porous_ticket_server_key(const struct porous_ticket *ticket,
                                       void *buffer,
                                       size_t cap);
porous_status porous_ticket_token(const struct porous_ticket *ticket, void *buffer, size_t cap);
porous_status porous_ticket_psk(const struct porous_ticket *ticket, uint8_t *psk);
porous_status porous_ticket_expires(const struct porous_ticket *ticket, uint64_t *seconds);
void porous_ticket_free(struct porous_ticket *ticket);
porous_status porous_io_error_text(char *text,
                                   size_t cap);
porous_status porous_on_panic(porous_told told,
                              void *user);
porous_status porous_set_allocator(porous_alloc alloc,
                                   porous_dealloc dealloc,
                                   void *user);
porous_status porous_memory(uint64_t *bytes, uint64_t *peak);
porous_status porous_thread_bind(const struct porous_config *config,
                                 const char *address,
                                 struct porous_thread **out);
porous_status porous_thread_adopt(const struct porous_config *config,
                                  ptrdiff_t socket,
                                  struct porous_thread **out);
porous_status porous_thread_poll(struct porous_thread *thread,
                                 struct porous_output *output);
porous_status porous_thread_address(const struct porous_thread *thread,
                                    struct porous_address *out);
porous_status porous_thread_stats(const struct porous_thread *thread,
                                  struct porous_host_stats *stats);
porous_status porous_thread_peer_stats(const struct porous_thread *thread,
                                       struct porous_peer_stats *stats);
porous_status porous_thread_close(struct porous_thread *thread,
                                  uint32_t code,
                                  uint64_t flush_at_most_us);
porous_status porous_thread_free(struct porous_thread *thread);
porous_status porous_thread_listen(struct porous_thread *thread,
                                   uint32_t policy);
porous_status porous_thread_connect(struct porous_thread *thread,
                                    const struct porous_address *to,
                                    size_t to_count,
                                    const void *greeting,
                                    size_t greeting_len);
porous_status porous_thread_connect_sealed(struct porous_thread *thread,
                                           const struct porous_address *to,
                                           size_t to_count,
                                           const struct porous_credentials *with);
porous_status porous_thread_set_security(struct porous_thread *thread,
                                         const struct porous_security *security);
porous_status porous_thread_accept(struct porous_thread *thread, porous_peer peer);
porous_status porous_thread_refuse(struct porous_thread *thread,
                                   porous_peer peer,
                                   const void *data,
                                   size_t len);
porous_status porous_thread_send(struct porous_thread *thread,
                                 porous_peer peer,
                                 uint8_t channel,
                                 const void *data,
                                 size_t len,
                                 const struct porous_send_options *options);
porous_status porous_thread_send_blob(struct porous_thread *thread,
                                      porous_peer peer,
                                      uint8_t channel,
                                      const struct porous_blob *blob,
                                      const struct porous_send_options *options);
porous_status porous_thread_send_packet(struct porous_thread *thread,
                                        porous_peer peer,
                                        uint8_t channel,
                                        const struct porous_packet *packet);
porous_status porous_thread_cancel(struct porous_thread *thread,
                                   porous_peer peer,
                                   uint8_t channel,
                                   uint64_t receipt);
porous_status porous_thread_disconnect(struct porous_thread *thread,
                                       porous_peer peer,
                                       uint32_t code,
                                       uint64_t flush_at_most_us);
porous_status porous_thread_drain(struct porous_thread *thread,
                                  uint32_t code,
                                  uint64_t at_most_us);
porous_status porous_thread_set_suffix(struct porous_thread *thread,
                                       const struct porous_address *to,
                                       const void *suffix,
                                       size_t len);
porous_status porous_thread_set_connection_ids(struct porous_thread *thread,
                                               const struct porous_connection_ids *ids);
porous_status porous_thread_ask_stats(struct porous_thread *thread);
porous_status porous_thread_ask_peer_stats(struct porous_thread *thread, porous_peer peer);
porous_status porous_thread_ask_send_progress(struct porous_thread *thread,
                                              porous_peer peer,
                                              uint8_t channel,
                                              uint64_t receipt);
porous_status porous_thread_ask_receive_progress(struct porous_thread *thread,
                                                 porous_peer peer,
                                                 uint8_t channel);
porous_status porous_thread_set_send_rate(struct porous_thread *thread,
                                          porous_peer peer,
                                          uint32_t bytes_a_second);
porous_status porous_thread_set_receive_rate(struct porous_thread *thread,
                                             porous_peer peer,
                                             uint32_t bytes_a_second);
porous_status porous_thread_set_channel_rate(struct porous_thread *thread,
                                             porous_peer peer,
                                             uint8_t channel,
                                             uint32_t bytes_a_second);
porous_status porous_thread_set_host_send_rate(struct porous_thread *thread,
                                               uint32_t bytes_a_second);
porous_status porous_thread_greeting(const struct porous_thread *thread,
                                     porous_peer peer,
                                     void *buffer,
                                     size_t cap);
porous_status porous_thread_secured(const struct porous_thread *thread,
                                    porous_peer peer,
                                    struct porous_secured *secured);
]],
}
