// porous for C++17: ownership and types over porous.h, in this header alone.
//
// There are no exceptions and no RTTI, and nothing is allocated, but by Blob::take. The functions are those of
// porous.h, where all of them are described; here stands what differs:
//
// - What can fail answers a Status, or a Result with a value: neither may be ignored.
// - Host, Thread, Packet, Blob and Ticket free what they own, and can be moved, not copied. One that was moved from
//   answers POROUS_ERR_NULL.
// - Times are std::chrono::microseconds, of which porous::forever is the longest.
// - Bytes and buffers are whatever has data() and size() in bytes: std::string, std::vector, std::array, std::span.
//
// A program calls porous::check_abi() first.

#ifndef POROUS_HPP
#define POROUS_HPP

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <memory>
#include <new>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "porous.h"

namespace porous {

/// How hard a packet is tried.
enum class Mode : std::uint8_t {
  unreliable = POROUS_UNRELIABLE,  ///< Sent once: it may arrive.
  reliable = POROUS_RELIABLE,      ///< Repeated until it arrives, and the channel waits for it.
  passive = POROUS_PASSIVE,        ///< Repeated until it arrives, but nobody waits for it.
};

/// What a configuration begins with.
enum class Preset : std::uint8_t {
  recommended = POROUS_PRESET_DEFAULT,  ///< For servers, and for hosts that do both.
  client = POROUS_PRESET_CLIENT,        ///< For a host that only connects.
  paper = POROUS_PRESET_PAPER,          ///< The paper's rules and windows.
  embedded = POROUS_PRESET_EMBEDDED,    ///< For a microcontroller.
};

/// The rules where the paper can be improved.
enum class Policy : std::uint8_t { modern = POROUS_POLICY_MODERN, paper = POROUS_POLICY_PAPER };

/// What decides how many bytes may be in flight.
enum class Congestion : std::uint8_t {
  paper = POROUS_CONGESTION_PAPER,
  lean = POROUS_CONGESTION_LEAN,
  reno = POROUS_CONGESTION_RENO,
  cubic = POROUS_CONGESTION_CUBIC,
  fixed = POROUS_CONGESTION_FIXED,
  binary = POROUS_CONGESTION_BINARY,
};

/// What the check at the end of each datagram covers.
enum class Integrity : std::uint8_t { header = POROUS_INTEGRITY_HEADER, crc32c = POROUS_INTEGRITY_CRC32C };

/// Algorithms of sealed connections.
enum class Suite : std::uint8_t { chacha_poly = POROUS_SUITE_CHACHA_POLY, aes_gcm = POROUS_SUITE_AES_GCM };

/// The two bits for congestion in the header of IP.
enum class Ecn : std::uint8_t {
  not_ect = POROUS_ECN_NOT_ECT,
  ect1 = POROUS_ECN_ECT1,
  ect0 = POROUS_ECN_ECT0,
  ce = POROUS_ECN_CE,
};

/// Whether strangers may connect.
enum class Listen : std::uint8_t {
  closed = POROUS_LISTEN_CLOSED,  ///< No stranger is answered.
  open = POROUS_LISTEN_OPEN,      ///< Every host may connect.
  ask = POROUS_LISTEN_ASK,        ///< The program decides: see EventType::request.
  full = POROUS_LISTEN_FULL,      ///< Every stranger is refused.
};

/// What an event tells. Skip types that you do not know.
enum class EventType : std::uint32_t {
  request = POROUS_EVENT_REQUEST,
  connected = POROUS_EVENT_CONNECTED,
  readable = POROUS_EVENT_READABLE,
  writable = POROUS_EVENT_WRITABLE,
  receipt = POROUS_EVENT_RECEIPT,
  moved = POROUS_EVENT_MOVED,
  path_narrowed = POROUS_EVENT_PATH_NARROWED,
  port_closed = POROUS_EVENT_PORT_CLOSED,
  disconnected = POROUS_EVENT_DISCONNECTED,
};

/// What became of a packet.
enum class Outcome : std::uint32_t {
  none = 0,
  delivered = POROUS_OUTCOME_DELIVERED,
  skipped = POROUS_OUTCOME_SKIPPED,
  lost = POROUS_OUTCOME_LOST,
  expired = POROUS_OUTCOME_EXPIRED,
  cancelled = POROUS_OUTCOME_CANCELLED,
};

/// Why a peer has ended. Treat reasons that you do not know as an end like any other.
enum class Reason : std::uint32_t {
  none = 0,
  by_peer = POROUS_REASON_BY_PEER,
  by_us = POROUS_REASON_BY_US,
  goodbye_unanswered = POROUS_REASON_GOODBYE_UNANSWERED,
  never_answered = POROUS_REASON_NEVER_ANSWERED,
  unfinished = POROUS_REASON_UNFINISHED,
  silent = POROUS_REASON_SILENT,
  lost_by_peer = POROUS_REASON_LOST_BY_PEER,
  path_too_narrow = POROUS_REASON_PATH_TOO_NARROW,
  restarted = POROUS_REASON_RESTARTED,
  unreachable = POROUS_REASON_UNREACHABLE,
  too_many_forgeries = POROUS_REASON_TOO_MANY_FORGERIES,
  internal_error = POROUS_REASON_INTERNAL_ERROR,
  refused_version = POROUS_REASON_REFUSED_VERSION,
  refused_incompatible = POROUS_REASON_REFUSED_INCOMPATIBLE,
  refused_full = POROUS_REASON_REFUSED_FULL,
  refused_application = POROUS_REASON_REFUSED_APPLICATION,
  refused_security = POROUS_REASON_REFUSED_SECURITY,
  other = POROUS_REASON_OTHER,
};

/// How far a peer is.
enum class State : std::uint8_t {
  none = 0,  ///< The host has no such peer (any more).
  connecting = POROUS_STATE_CONNECTING,
  connected = POROUS_STATE_CONNECTED,
  disconnecting = POROUS_STATE_DISCONNECTING,
  disconnected = POROUS_STATE_DISCONNECTED,
  zombie = POROUS_STATE_ZOMBIE,
};

#ifdef POROUS_WITH_UDP
/// What a network thread tells. Skip types that you do not know.
enum class OutputType : std::uint32_t {
  event = POROUS_OUTPUT_EVENT,                        ///< An event; never EventType::readable.
  packet = POROUS_OUTPUT_PACKET,                      ///< A packet has come.
  connecting = POROUS_OUTPUT_CONNECTING,              ///< An attempt to connect has begun.
  not_connecting = POROUS_OUTPUT_NOT_CONNECTING,      ///< It did not begin: see the status.
  not_listening = POROUS_OUTPUT_NOT_LISTENING,        ///< The host cannot listen.
  not_answered = POROUS_OUTPUT_NOT_ANSWERED,          ///< An answer to a request came too late, or twice.
  unsent = POROUS_OUTPUT_UNSENT,                      ///< A packet could not be sent and comes back.
  stats = POROUS_OUTPUT_STATS,                        ///< Thread::stats() has an answer.
  peer_stats = POROUS_OUTPUT_PEER_STATS,              ///< Thread::peer_stats() has an answer.
  send_progress = POROUS_OUTPUT_SEND_PROGRESS,        ///< How far a packet with a receipt has come.
  receive_progress = POROUS_OUTPUT_RECEIVE_PROGRESS,  ///< How much of a packet has come.
  ended = POROUS_OUTPUT_ENDED,                        ///< The thread has ended by itself.
  not_suffixed = POROUS_OUTPUT_NOT_SUFFIXED,          ///< Datagrams to an address have the suffix that they had.
  ids_unchanged = POROUS_OUTPUT_IDS_UNCHANGED,        ///< The ids of new connections are made as before.
};
#endif

using Channel = porous_channel;
using ChannelStats = porous_channel_stats;
using HostStats = porous_host_stats;
using ModeCounts = porous_mode_counts;
using PeerStats = porous_peer_stats;
using Progress = porous_progress;
using Received = porous_received;
using Transmit = porous_transmit;

#ifdef POROUS_WITH_SEAL
using Key = porous_key;
using Secured = porous_secured;
#endif

/// 32 bytes that nobody else knows.
using Secret = std::array<std::uint8_t, 32>;
/// 32 bytes of a secure generator, for a host without a socket.
using Seed = Secret;
using PublicKey = std::array<std::uint8_t, 32>;

using Microseconds = std::chrono::microseconds;

/// The longest time: for ever, or never.
inline constexpr Microseconds forever = Microseconds::max();

/// What a call answers: 0 or more if it is done, one of POROUS_ERR_ if it has failed.
class [[nodiscard]] Status {
 public:
  constexpr explicit Status(porous_status number = POROUS_OK) noexcept : number_(number) {}

  /// True unless the call has failed.
  constexpr explicit operator bool() const noexcept { return number_ >= 0; }
  /// A count of what is there; 0 if nothing is; one of POROUS_ERR_ after a failure.
  constexpr porous_status number() const noexcept { return number_; }
  /// What it means and what to do: a text that lives for ever.
  const char* text() const noexcept { return porous_status_text(number_); }

  friend constexpr bool operator==(Status a, Status b) noexcept { return a.number_ == b.number_; }
  friend constexpr bool operator!=(Status a, Status b) noexcept { return a.number_ != b.number_; }

 private:
  porous_status number_;
};

/// A value; or none, with the status that says why: 0 if nothing is there, one of POROUS_ERR_ after a failure.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) noexcept : value_(std::move(value)) {}
  Result(Status status) noexcept : status_(status) {}

  /// True if there is a value.
  explicit operator bool() const noexcept { return value_.has_value(); }
  /// Why there is no value.
  Status status() const noexcept { return status_; }

  /// The value, which must be there.
  T& operator*() & noexcept { return *value_; }
  const T& operator*() const& noexcept { return *value_; }
  T&& operator*() && noexcept { return *std::move(value_); }
  T* operator->() noexcept { return &*value_; }
  const T* operator->() const noexcept { return &*value_; }

 private:
  std::optional<T> value_;
  Status status_;
};

namespace detail {

template <class T>
using Element = std::remove_pointer_t<decltype(std::declval<T&>().data())>;

template <class T>
inline constexpr bool is_byte = std::is_trivially_copyable_v<T> && sizeof(T) == 1;
template <>
inline constexpr bool is_byte<void> = false;
template <>
inline constexpr bool is_byte<const void> = false;

/// Whether T has data(), to elements of one byte, and size().
template <class T, class = void>
struct IsBytes : std::false_type {};

template <class T>
struct IsBytes<T, std::void_t<Element<T>, decltype(std::size_t{std::declval<T&>().size()})>>
    : std::bool_constant<is_byte<Element<T>>> {};

/// Whether such bytes can be written to.
template <class T, class = void>
struct IsBuffer : std::false_type {};

template <class T>
struct IsBuffer<T, std::enable_if_t<IsBytes<T>::value>> : std::negation<std::is_const<Element<T>>> {};

inline std::uint64_t microseconds(Microseconds time) noexcept {
  if (time == forever) return UINT64_MAX;
  return time.count() < 0 ? 0 : static_cast<std::uint64_t>(time.count());
}

inline Microseconds time_of(std::uint64_t microseconds) noexcept {
  const auto most = static_cast<std::uint64_t>(forever.count());
  return microseconds >= most ? forever : Microseconds(static_cast<Microseconds::rep>(microseconds));
}

/// The value that a call has written, unless it has failed. A reference: the call may stand beside it among the
/// arguments, whichever of them comes first.
template <class T>
Result<T> written(porous_status status, const T& value) noexcept {
  if (status < 0) return Status(status);
  return value;
}

/// As written(), of a call that answers 0 if there is none.
template <class T>
Result<T> found(porous_status status, const T& value) noexcept {
  if (status <= 0) return Status(status);
  return value;
}

inline Result<std::size_t> counted(porous_status status) noexcept {
  if (status < 0) return Status(status);
  return static_cast<std::size_t>(status);
}

}  // namespace detail

/// Bytes to be read, that belong to somebody else: of whatever has data() and size() in bytes, or a text.
class Bytes {
 public:
  constexpr Bytes() noexcept = default;
  constexpr Bytes(const void* data, std::size_t size) noexcept : data_(data), size_(size) {}
  constexpr Bytes(const char* text) noexcept : Bytes(text, std::string_view(text).size()) {}
  template <class T, class = std::enable_if_t<detail::IsBytes<const T>::value>>
  constexpr Bytes(const T& bytes) noexcept : Bytes(bytes.data(), bytes.size()) {}

  constexpr const void* data() const noexcept { return data_; }
  constexpr std::size_t size() const noexcept { return size_; }

 private:
  const void* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Bytes to be written, that belong to somebody else.
class Buffer {
 public:
  constexpr Buffer(void* data, std::size_t size) noexcept : data_(data), size_(size) {}
  template <class T, class = std::enable_if_t<detail::IsBuffer<std::remove_reference_t<T>>::value>>
  constexpr Buffer(T&& bytes) noexcept : Buffer(bytes.data(), bytes.size()) {}
  template <class T, std::size_t N, class = std::enable_if_t<detail::is_byte<T> && !std::is_const_v<T>>>
  constexpr Buffer(T (&bytes)[N]) noexcept : Buffer(bytes, N) {}

  constexpr void* data() const noexcept { return data_; }
  constexpr std::size_t size() const noexcept { return size_; }

 private:
  void* data_;
  std::size_t size_;
};

/// Names a peer of a host. Zeroed memory names nobody.
struct Peer {
  porous_peer id = 0;

  /// False for the name of nobody.
  constexpr explicit operator bool() const noexcept { return id != 0; }
  friend constexpr bool operator==(Peer a, Peer b) noexcept { return a.id == b.id; }
  friend constexpr bool operator!=(Peer a, Peer b) noexcept { return a.id != b.id; }
  friend constexpr bool operator<(Peer a, Peer b) noexcept { return a.id < b.id; }
};
static_assert(sizeof(Peer) == sizeof(porous_peer), "a list of them is one of porous_peer");

/// Where a host is.
struct Address : porous_address {
  Address() noexcept : porous_address{} {}
  Address(const porous_address& address) noexcept : porous_address(address) {}

  /// A text without memory of its own.
  struct Text {
    char characters[64] = {};
    const char* c_str() const noexcept { return characters; }
  };

  /// Reads "192.0.2.1:4000" or "[2001:db8::1]:4000". It asks nobody: names are for resolve().
  static Result<Address> parse(const char* text) noexcept {
    Address address;
    return detail::written(porous_address_parse(text, &address), address);
  }

  /// An address of the program's own, for hosts without a socket: up to 24 bytes.
  static Result<Address> own(Bytes bytes, std::uint16_t port = 0, std::uint32_t scope = 0) noexcept {
    Address address;
    if (bytes.size() > sizeof address.bytes) return Status(POROUS_ERR_VALUE);
    address.kind = POROUS_ADDRESS_OWN;
    address.len = static_cast<std::uint8_t>(bytes.size());
    address.port = port;
    address.scope = scope;
    if (bytes.size() != 0) std::memcpy(address.bytes, bytes.data(), bytes.size());
    return address;
  }

  /// The text that parse() reads. POROUS_ERR_ADDRESS for an address of another kind than IP.
  Result<Text> text() const noexcept {
    Text text;
    return detail::written(porous_address_format(this, text.characters, sizeof text.characters), text);
  }

  bool is_ipv4() const noexcept { return kind == POROUS_ADDRESS_IPV4; }
  bool is_ipv6() const noexcept { return kind == POROUS_ADDRESS_IPV6; }
  /// False for no address: what zeroed memory is.
  explicit operator bool() const noexcept { return kind != POROUS_ADDRESS_NONE; }

  friend bool operator==(const Address& a, const Address& b) noexcept { return compare(a, b) == 0; }
  friend bool operator!=(const Address& a, const Address& b) noexcept { return compare(a, b) != 0; }
  friend bool operator<(const Address& a, const Address& b) noexcept { return compare(a, b) < 0; }

 private:
  static int compare(const porous_address& a, const porous_address& b) noexcept {
    return std::memcmp(&a, &b, sizeof a);
  }
};
static_assert(sizeof(Address) == sizeof(porous_address), "a list of them is one of porous_address");

/// The configuration of a host: the values of a preset, to be changed. All fields of porous_config are here.
struct Config : porous_config {
  explicit Config(Preset values = Preset::recommended) noexcept : porous_config{} {
    // A library that is older than this header writes nothing, and says so when a host is made.
    const auto number = static_cast<std::uint32_t>(values);
    if (porous_config_init(this, sizeof(porous_config), number) < 0) size = sizeof(porous_config);
  }

  /// Says whether hosts can be made with it, and which rule it breaks.
  Status check() const noexcept { return Status(porous_config_check(this)); }

  /// As many channels as the list has, with its settings: the list must live until the host is made.
  template <class List>
  Config& use_channels(const List& list) noexcept {
    channels = list.data();
    channel_count = static_cast<std::uint32_t>(list.size());
    return *this;
  }

  Config& use(Policy value) noexcept { return policy = static_cast<std::uint8_t>(value), *this; }
  Config& use(Congestion value) noexcept { return congestion = static_cast<std::uint8_t>(value), *this; }
  Config& use(Integrity value) noexcept { return integrity = static_cast<std::uint8_t>(value), *this; }
  /// Suites to seal with, the best first: up to 4. The host does not seal without any.
  Config& use(std::initializer_list<Suite> list) noexcept {
    auto next = list.begin();
    for (auto& suite : suites) suite = next != list.end() ? static_cast<std::uint8_t>(*next++) : std::uint8_t{0};
    return *this;
  }
  Config& use_ecn(bool on) noexcept { return ecn = on ? POROUS_ON : POROUS_OFF, *this; }
  /// Whether peers are followed to other addresses.
  Config& use_roaming(bool on) noexcept { return roaming = on ? POROUS_ON : POROUS_OFF, *this; }

  /// The silence after which a connection ends.
  Config& timeout(Microseconds t) noexcept { return timeout_us = detail::microseconds(t), *this; }
  Config& connect_timeout(Microseconds t) noexcept { return connect_timeout_us = detail::microseconds(t), *this; }
  Config& disconnect_timeout(Microseconds t) noexcept {
    return disconnect_timeout_us = detail::microseconds(t), *this;
  }
  Config& keepalive(Microseconds t) noexcept { return keepalive_us = detail::microseconds(t), *this; }
  Config& unreliable_age(Microseconds t) noexcept { return unreliable_age_us = detail::microseconds(t), *this; }
};

/// How a host makes the ids of its connections, for what routes datagrams by them. All fields of
/// porous_connection_ids are here.
struct ConnectionIds : porous_connection_ids {
  /// All bytes look random.
  ConnectionIds() noexcept : porous_connection_ids{} {
    size = sizeof(porous_connection_ids);
    kind = POROUS_IDS_RANDOM;
  }

  /// Random but for the low bits of the first byte: this is the host with this number on its port.
  static ConnectionIds sharded(std::uint8_t number, std::uint8_t of_bits) noexcept {
    ConnectionIds ids;
    ids.kind = POROUS_IDS_SHARDED;
    ids.shard = number;
    ids.bits = of_bits;
    return ids;
  }

  /// For a balancer that knows this server by its QUIC-LB id of 1 to 15 bytes, in its configuration 0 to 6.
  static ConnectionIds quic_lb(std::uint8_t configuration, Bytes server) noexcept {
    ConnectionIds ids;
    ids.kind = POROUS_IDS_QUIC_LB;
    ids.rotation = configuration;
    // One that is too long is an error when it is set.
    const auto most = sizeof ids.server_id;
    ids.server_id_len = static_cast<std::uint8_t>(server.size() > most ? most + 1 : server.size());
    if (server.size() != 0) std::memcpy(ids.server_id, server.data(), server.size() > most ? most : server.size());
    return ids;
  }

  /// The same ids, encrypted with the key that the balancer has.
  ConnectionIds& encrypted(const std::array<std::uint8_t, 16>& with) noexcept {
    std::memcpy(key, with.data(), with.size());
    return has_key = 1, *this;
  }
};

/// How a packet is sent.
struct SendOptions : porous_send_options {
  explicit SendOptions(Mode how) noexcept : porous_send_options{} {
    size = sizeof(porous_send_options);
    mode = static_cast<std::uint8_t>(how);
  }

  /// The age at which the packet is of no more use.
  SendOptions& with_ttl(Microseconds age) noexcept { return ttl_us = detail::microseconds(age), *this; }
  /// EventType::receipt with this token tells what became of the packet.
  SendOptions& with_receipt(std::uint64_t token) noexcept { return has_receipt = 1, receipt = token, *this; }
  /// Only the newest packet of a channel with this key is of use.
  SendOptions& with_key(std::uint64_t of) noexcept { return has_key = 1, key = of, *this; }
  /// Copies of the packet in later datagrams, 1 to 3; POROUS_NO_COPIES: none.
  SendOptions& with_copies(std::uint8_t copies) noexcept { return redundancy = copies, *this; }
};

/// What happened at a peer. A value that does not belong to the type of the event is zero.
class Event {
 public:
  EventType type() const noexcept { return static_cast<EventType>(raw_.type); }
  Peer peer() const noexcept { return Peer{raw_.peer}; }
  /// Where the peer is, for events with an address.
  Address address() const noexcept { return raw_.address; }
  /// Where the peer was, of EventType::moved.
  Address from() const noexcept { return raw_.from; }
  /// The receipt of the packet, and what became of it: of EventType::receipt.
  std::uint64_t token() const noexcept { return raw_.token; }
  Outcome outcome() const noexcept { return static_cast<Outcome>(raw_.outcome); }
  /// Why the peer has ended, of EventType::disconnected, as all that follows.
  Reason reason() const noexcept { return static_cast<Reason>(raw_.reason); }
  /// What the application gave that disconnected.
  std::uint32_t code() const noexcept { return raw_.code; }
  /// Reliable and passive packets that were sent, and not acknowledged.
  std::uint32_t undelivered() const noexcept { return raw_.undelivered; }
  /// What the application said that refused: as long as the event.
  std::string_view data() const noexcept {
    return {reinterpret_cast<const char*>(raw_.data), static_cast<std::size_t>(raw_.data_len)};
  }
  /// All fields, also those that are seldom of use.
  const porous_event& raw() const noexcept { return raw_; }

 private:
  friend class Host;
  friend class Output;
  porous_event raw_ = {};
};

/// A packet that was received. It stays when its host is gone.
class Packet {
 public:
  Packet(Packet&& other) noexcept
      : what_(other.what_),
        packet_(std::move(other.packet_)),
        data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)) {}
  Packet& operator=(Packet&& other) noexcept {
    what_ = other.what_;
    packet_ = std::move(other.packet_);
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }

  const std::uint8_t* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  const std::uint8_t* begin() const noexcept { return data_; }
  const std::uint8_t* end() const noexcept { return data_ + size_; }
  /// Its bytes as a text, as long as the packet.
  std::string_view text() const noexcept { return {reinterpret_cast<const char*>(data_), size_}; }
  std::uint8_t channel() const noexcept { return what_.channel; }
  Mode mode() const noexcept { return static_cast<Mode>(what_.mode); }
  const porous_packet* get() const noexcept { return packet_.get(); }

 private:
  friend class Host;
  friend class Output;
  struct Free {
    void operator()(porous_packet* packet) const noexcept { porous_packet_free(packet); }
  };

  Packet(const porous_received& what, porous_packet* packet) noexcept : what_(what), packet_(packet) {
    data_ = static_cast<const std::uint8_t*>(porous_packet_data(packet, &size_));
  }

  porous_received what_;
  std::unique_ptr<porous_packet, Free> packet_;
  const std::uint8_t* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Bytes to be sent, without a copy for each peer. It may be destroyed as soon as it was sent.
class Blob {
 public:
  /// With a copy of the bytes.
  static Result<Blob> copy(Bytes bytes) noexcept {
    porous_blob* blob = nullptr;
    const auto status = porous_blob_copy(bytes.data(), bytes.size(), &blob);
    return made(status, blob);
  }

  /// Of memory that stays as it is until `release` is called with `user`, by any thread, which calls nothing of
  /// porous; for ever, if it is null. After a failure it is not called.
  static Result<Blob> wrap(Bytes bytes, porous_release release, void* user) noexcept {
    porous_blob* blob = nullptr;
    const auto status = porous_blob_wrap(bytes.data(), bytes.size(), release, user, &blob);
    return made(status, blob);
  }

  /// Of a container, without a copy: it is moved into memory of its own. POROUS_ERR_OTHER if there is none.
  template <class Container, class = std::enable_if_t<detail::IsBytes<Container>::value>>
  static Result<Blob> take(Container container) noexcept {
    auto* owner = new (std::nothrow) Container(std::move(container));
    if (owner == nullptr) return Status(POROUS_ERR_OTHER);
    const porous_release release = [](void* user) { delete static_cast<Container*>(user); };
    auto blob = wrap(Bytes(*owner), release, owner);
    if (!blob) release(owner);
    return blob;
  }

  const porous_blob* get() const noexcept { return blob_.get(); }

 private:
  struct Free {
    void operator()(porous_blob* blob) const noexcept { porous_blob_free(blob); }
  };

  static Result<Blob> made(porous_status status, porous_blob* blob) noexcept {
    if (status < 0) return Status(status);
    return Blob(blob);
  }

  explicit Blob(porous_blob* blob) noexcept : blob_(blob) {}

  std::unique_ptr<porous_blob, Free> blob_;
};

#ifdef POROUS_WITH_SEAL
#ifdef POROUS_WITH_STD
/// Draws a secret of the system's secure generator: the secret key of a server, a psk, a token key, or a seed.
inline Result<Secret> generate_key() noexcept {
  Secret secret = {};
  return detail::written(porous_key_generate(secret.data()), secret);
}
#endif

/// The public key of a secret key: clients know the server by it.
inline Result<PublicKey> public_key(const Secret& secret) noexcept {
  PublicKey key = {};
  return detail::written(porous_public_key(secret.data(), key.data()), key);
}

/// A secret, with the number by which others name it.
inline Key key(std::uint32_t number, const Secret& secret) noexcept {
  Key key = {};
  key.number = number;
  std::memcpy(key.bytes, secret.data(), secret.size());
  return key;
}

/// How a host seals. All fields of porous_security are here; lists must live until Host::set_security().
struct Security : porous_security {
  Security() noexcept : porous_security{} { size = sizeof(porous_security); }

  /// The secret keys that prove to clients that this is the server: a list of Secret, 2 at most.
  template <class List>
  Security& use_identities(const List& list) noexcept {
    const Secret* first = list.data();
    identities = list.size() == 0 ? nullptr : first->data();
    return identity_count = static_cast<std::uint32_t>(list.size()), *this;
  }
  /// Secrets of clients that are let in: a list of Key, 4 at most.
  template <class List>
  Security& use_psks(const List& list) noexcept {
    return psks = list.data(), psk_count = static_cast<std::uint32_t>(list.size()), *this;
  }
  /// Keys of the backends whose tokens are taken: a list of Key, 4 at most.
  template <class List>
  Security& use_token_keys(const List& list) noexcept {
    return token_keys = list.data(), token_key_count = static_cast<std::uint32_t>(list.size()), *this;
  }
  /// Tokens are taken that name this server, and those that name none.
  Security& use_server_id(std::uint64_t id) noexcept { return has_server_id = 1, server_id = id, *this; }
  /// Hosts are let in as well that ask for a plain connection.
  Security& let_plain_in(bool on) noexcept { return allow_plain = on, *this; }
  /// Clients are refused that prove nothing by a psk or a token.
  Security& demand_proof(bool on) noexcept { return require_proof = on, *this; }
  /// A client, by the id in its token, may have several connections.
  Security& let_many_in(bool on) noexcept { return many_per_client = on, *this; }
  Security& max_token_lifetime(Microseconds t) noexcept {
    return max_token_lifetime_us = detail::microseconds(t), *this;
  }
  Security& rekey_time(Microseconds t) noexcept { return rekey_time_us = detail::microseconds(t), *this; }
};

#ifdef POROUS_WITH_STD
/// What a backend says of a client in a token. All fields of porous_claims are here.
struct Claims : porous_claims {
  /// Of a client and its application, from `created` to `expires`, in seconds since 1970 in UTC.
  Claims(std::uint64_t application, std::uint64_t client, std::uint64_t from, std::uint64_t to) noexcept
      : porous_claims{} {
    size = sizeof(porous_claims);
    application_id = application;
    client_id = client;
    created = from;
    expires = to;
  }

  Claims& use(Suite value) noexcept { return suite = static_cast<std::uint8_t>(value), *this; }
  /// The number by which servers know the token key.
  Claims& use_key_number(std::uint8_t number) noexcept { return key_number = number, *this; }
  /// A server takes the token once.
  Claims& take_once(bool on) noexcept { return single_use = on, *this; }
  /// The servers that take the token, by their server_id: up to 4. Every server that has the key, if there are none.
  Claims& use_audiences(std::initializer_list<std::uint64_t> ids) noexcept {
    audience_count = static_cast<std::uint8_t>(ids.size() > 255 ? 255 : ids.size());
    auto next = ids.begin();
    for (auto& audience : audiences) audience = next != ids.end() ? *next++ : 0;
    return *this;
  }
  /// The token counts only from this address, whatever the port.
  Claims& use_ip(const Address& address) noexcept { return ip = address, *this; }
  /// What the application of the server reads: up to 255 bytes, which must live until Ticket::mint().
  Claims& use_user_data(Bytes bytes) noexcept {
    return user_data = bytes.data(), user_data_len = static_cast<std::uint32_t>(bytes.size()), *this;
  }
};
#endif

/// A token, its secret, the addresses of servers and their key. It is a secret until it was used.
class Ticket {
 public:
#ifdef POROUS_WITH_STD
  /// Makes one by the token key that the servers have as well: a backend's work.
  static Result<Ticket> mint(const Secret& token_key, const Claims& claims) noexcept {
    porous_ticket* ticket = nullptr;
    const auto status = porous_ticket_mint(token_key.data(), &claims, &ticket);
    return made(status, ticket);
  }
#endif
  static Result<Ticket> from_text(const char* text) noexcept {
    porous_ticket* ticket = nullptr;
    const auto status = porous_ticket_from_text(text, &ticket);
    return made(status, ticket);
  }
  static Result<Ticket> from_bytes(Bytes bytes) noexcept {
    porous_ticket* ticket = nullptr;
    const auto status = porous_ticket_from_bytes(bytes.data(), bytes.size(), &ticket);
    return made(status, ticket);
  }

  /// Says where the servers are: a list of Address, 32 at most.
  template <class List>
  Status set_servers(const List& list) noexcept {
    const Address* first = list.data();
    return Status(porous_ticket_set_servers(get(), first, list.size()));
  }
  /// Says by which public key the servers are known.
  Status set_server_key(Bytes key) noexcept {
    const auto* bytes = static_cast<const std::uint8_t*>(key.data());
    return Status(porous_ticket_set_server_key(get(), bytes, key.size()));
  }

  /// Writes it as text with a 0 at the end, and tells the length of the text: less than 1500.
  Result<std::size_t> to_text(Buffer text) const noexcept {
    return detail::counted(porous_ticket_to_text(get(), static_cast<char*>(text.data()), text.size()));
  }
  /// Writes it as bytes, 1080 at most, and tells how many they are.
  Result<std::size_t> to_bytes(Buffer buffer) const noexcept {
    return detail::counted(porous_ticket_to_bytes(get(), buffer.data(), buffer.size()));
  }
  /// Writes where the servers are into a list of Address, as many as it has room for, and tells how many there are.
  template <class List>
  Result<std::size_t> servers(List&& list) const noexcept {
    Address* first = list.data();
    return detail::counted(porous_ticket_servers(get(), first, list.size()));
  }
  /// Writes the public key of the servers, up to 65 bytes, and tells its length: 0 if there is none.
  Result<std::size_t> server_key(Buffer buffer) const noexcept {
    return detail::counted(porous_ticket_server_key(get(), buffer.data(), buffer.size()));
  }
  /// Writes the token, up to 400 bytes, and tells its length.
  Result<std::size_t> token(Buffer buffer) const noexcept {
    return detail::counted(porous_ticket_token(get(), buffer.data(), buffer.size()));
  }
  /// The secret of the token.
  Result<Secret> psk() const noexcept {
    Secret psk = {};
    return detail::written(porous_ticket_psk(get(), psk.data()), psk);
  }
  /// When the token expires, in seconds since 1970 in UTC.
  Result<std::uint64_t> expires() const noexcept {
    std::uint64_t seconds = 0;
    return detail::written(porous_ticket_expires(get(), &seconds), seconds);
  }

  porous_ticket* get() const noexcept { return ticket_.get(); }

 private:
  struct Free {
    void operator()(porous_ticket* ticket) const noexcept { porous_ticket_free(ticket); }
  };

  static Result<Ticket> made(porous_status status, porous_ticket* ticket) noexcept {
    if (status < 0) return Status(status);
    return Ticket(ticket);
  }

  explicit Ticket(porous_ticket* ticket) noexcept : ticket_(ticket) {}

  std::unique_ptr<porous_ticket, Free> ticket_;
};

/// What a client brings to a sealed connection: nothing, at first. What it refers to must live until
/// Host::connect_sealed().
struct Credentials : porous_credentials {
  Credentials() noexcept : porous_credentials{} { size = sizeof(porous_credentials); }

  /// The ticket of a backend: its token, its secret and its key of the server.
  Credentials& use(const Ticket& of) noexcept { return ticket = of.get(), *this; }
  /// The public key of the server: only that server can answer.
  Credentials& use_server_key(Bytes key) noexcept {
    server_key = static_cast<const std::uint8_t*>(key.data());
    return server_key_len = static_cast<std::uint32_t>(key.size()), *this;
  }
  /// A secret that the server has as well, and the number by which it knows it.
  Credentials& use_psk(std::uint32_t number, const Secret& secret) noexcept {
    return psk_number = number, psk = secret.data(), *this;
  }
  /// A token, and its secret.
  Credentials& use_token(Bytes bytes, const Secret& secret) noexcept {
    token = bytes.data();
    token_len = static_cast<std::uint32_t>(bytes.size());
    return psk = secret.data(), *this;
  }
  /// What the application of the server reads: up to 255 bytes.
  Credentials& use_greeting(Bytes bytes) noexcept {
    return greeting = bytes.data(), greeting_len = static_cast<std::uint32_t>(bytes.size()), *this;
  }
};
#endif

/// A host, on a socket of its own (bind, adopt) or without one (core). Functions that begin with core_ are for
/// hosts without a socket, those from step() to set_time_limit() for hosts with one, and all others for both.
/// One thread at a time uses it.
class Host {
 public:
  /// An empty host, which answers POROUS_ERR_NULL: for members that are filled later.
  Host() noexcept = default;

#ifdef POROUS_WITH_UDP
  /// On a new UDP socket, at an address as "[::]:4000"; with port 0 the system chooses one.
  static Result<Host> bind(const Config& config, const char* address) noexcept {
    porous_host* host = nullptr;
    const auto status = porous_udp_bind(&config, address, &host);
    return made(status, host);
  }

  /// On a socket of the program's, which the host owns from now on, also after a failure, unless the configuration
  /// is wrong.
  static Result<Host> adopt(const Config& config, std::ptrdiff_t socket) noexcept {
    porous_host* host = nullptr;
    const auto status = porous_udp_adopt(&config, socket, &host);
    return made(status, host);
  }

  /// On one port, each for a thread of its own: as many as the list of Host has elements, a power of two from 1 to 128.
  /// Destroy all of them or none. Nothing is bound after a failure.
  template <class List>
  static Status bind_shards(const Config& config, const char* address, List&& hosts) noexcept {
    std::array<porous_host*, 128> all = {};
    if (hosts.size() > all.size()) return Status(POROUS_ERR_VALUE);
    const auto count = static_cast<std::uint32_t>(hosts.size());
    const auto status = porous_udp_bind_shards(&config, address, count, all.data());
    auto next = all.begin();
    if (status >= 0) {
      for (auto& host : hosts) host = Host(*next++);
    }
    return Status(status);
  }
#endif

  /// Without a socket: the program carries its datagrams and its time.
  static Result<Host> core(const Config& config, const Seed& seed) noexcept {
    porous_host* host = nullptr;
    const auto status = porous_core_new(&config, seed.data(), &host);
    return made(status, host);
  }

  /// The handle, for functions of porous.h.
  porous_host* get() const noexcept { return host_.get(); }
  /// False for an empty host.
  explicit operator bool() const noexcept { return host_ != nullptr; }

  // Hosts without a socket.

  /// What follows happens at this time: call it at the begin of each turn.
  Status core_time(Microseconds now) noexcept { return Status(porous_core_time(get(), detail::microseconds(now))); }

  /// Takes in a datagram. The number of the status is why it was ignored, which is no error, or 0.
  Status core_input(const Address& from, Bytes datagram, Ecn ecn = Ecn::not_ect) noexcept {
    const auto bits = static_cast<std::uint32_t>(ecn);
    return Status(porous_core_input(get(), &from, bits, datagram.data(), datagram.size()));
  }

  /// Writes the next datagram to be sent into a buffer of core_buffer_size(). Call it until there is none.
  Result<Transmit> core_output(Buffer buffer) noexcept {
    Transmit transmit = {};
    return detail::found(porous_core_output(get(), &transmit, buffer.data(), buffer.size()), transmit);
  }

  /// Does what is due.
  Status core_timeout() noexcept { return Status(porous_core_timeout(get())); }

  /// When core_timeout() is to be called next; forever, if nothing is due by itself.
  Result<Microseconds> core_deadline() const noexcept {
    std::uint64_t at = 0;
    const auto status = porous_core_deadline(get(), &at);
    return detail::written(status, detail::time_of(at));
  }

  /// The bytes of the buffer for core_output().
  Result<std::size_t> core_buffer_size() const noexcept {
    std::uint64_t bytes = 0;
    const auto status = porous_core_buffer_size(get(), &bytes);
    return detail::written(status, static_cast<std::size_t>(bytes));
  }

  /// The system cannot send to this address.
  Status core_unreachable(const Address& to) noexcept { return Status(porous_core_unreachable(get(), &to)); }

  /// Nothing is bound to the port of this address; of none, if the system does not say of which.
  Status core_port_closed(const Address& at) noexcept { return Status(porous_core_port_closed(get(), &at)); }
  Status core_port_closed() noexcept { return Status(porous_core_port_closed(get(), nullptr)); }

  /// At the end of a turn: whether it has left datagrams behind that had come, for want of time.
  Status core_backlog(bool waits) noexcept { return Status(porous_core_backlog(get(), waits)); }

#ifdef POROUS_WITH_SEAL
  /// The time of day, in seconds since 1970 in UTC, by which the host sees whether tokens have expired.
  Status core_unix_time(std::uint64_t seconds) noexcept { return Status(porous_core_unix_time(get(), seconds)); }
#endif

  // Hosts on a socket.

#ifdef POROUS_WITH_UDP
  /// Takes in what has come, does what is due, and sends. Never blocks.
  Status step() noexcept { return Status(porous_udp_step(get())); }
  /// Does what is due and sends, and takes nothing in. Never blocks.
  Status transmit() noexcept { return Status(porous_udp_transmit(get())); }
  /// Sends, sleeps until something happens, and does what step() does.
  Status wait(Microseconds at_most) noexcept { return Status(porous_udp_wait(get(), detail::microseconds(at_most))); }
  /// Ends all connections, and waits until all peers know.
  Status close(std::uint32_t code, Microseconds flush_at_most) noexcept {
    return Status(porous_udp_close(get(), code, detail::microseconds(flush_at_most)));
  }

  /// Where the socket is bound.
  Result<Address> address() const noexcept {
    Address address;
    return detail::written(porous_udp_address(get(), &address), address);
  }

  /// The file descriptor, or SOCKET, for an event loop to watch.
  Result<std::ptrdiff_t> socket() const noexcept {
    std::ptrdiff_t socket = 0;
    const auto status = porous_udp_socket(get(), &socket);
    return detail::written(status, socket);
  }

  /// In how long step() is to be called, if no datagram comes before.
  Result<Microseconds> deadline() const noexcept {
    std::uint64_t from_now = 0;
    const auto status = porous_udp_deadline(get(), &from_now);
    return detail::written(status, detail::time_of(from_now));
  }

  /// The number of the status is 1 if an event loop waits for the socket to become writable as well.
  Status is_blocked() const noexcept { return Status(porous_udp_is_blocked(get())); }
  /// How long one step takes datagrams in at most, and sends them.
  Status set_time_limit(Microseconds t) noexcept {
    return Status(porous_udp_set_time_limit(get(), detail::microseconds(t)));
  }
  /// Puts up to 32 bytes behind each datagram to a proxy, which removes them: before connect().
  Status set_suffix(const Address& to, Bytes suffix) noexcept {
    return Status(porous_udp_set_suffix(get(), &to, suffix.data(), suffix.size()));
  }
#endif

  // Peers.

  Status listen(Listen policy) noexcept { return Status(porous_listen(get(), static_cast<std::uint32_t>(policy))); }

  /// Begins to connect. EventType::connected or disconnected follows.
  Result<Peer> connect(const Address& to) noexcept {
    Peer peer;
    return detail::written(porous_connect(get(), &to, &peer.id), peer);
  }

  /// To a host at any of up to 8 addresses, with a greeting of up to 255 bytes.
  template <class List>
  Result<Peer> connect_any(const List& addresses, Bytes greeting = {}) noexcept {
    const Address* first = addresses.data();
    Peer peer;
    const auto status =
        porous_connect_any(get(), first, addresses.size(), greeting.data(), greeting.size(), &peer.id);
    return detail::written(status, peer);
  }

  /// Says how the ids of new connections are made.
  Status set_connection_ids(const ConnectionIds& ids) noexcept {
    return Status(porous_set_connection_ids(get(), &ids));
  }

  /// Lets a peer in that asked by EventType::request.
  Status accept(Peer peer) noexcept { return Status(porous_accept(get(), peer.id)); }
  /// Turns it away, with up to 64 bytes for its application.
  Status refuse(Peer peer, Bytes data = {}) noexcept {
    return Status(porous_refuse(get(), peer.id, data.data(), data.size()));
  }

  /// Ends a connection at once, or when all was delivered, within `flush_at_most`.
  Status disconnect(Peer peer, std::uint32_t code = 0, Microseconds flush_at_most = Microseconds(0)) noexcept {
    return Status(porous_disconnect(get(), peer.id, code, detail::microseconds(flush_at_most)));
  }
  Status disconnect_all(std::uint32_t code = 0, Microseconds flush_at_most = Microseconds(0)) noexcept {
    return Status(porous_disconnect_all(get(), code, detail::microseconds(flush_at_most)));
  }
  /// Ends a server: newcomers are refused as full, and each connection ends when all was delivered, within `at_most`.
  Status drain(std::uint32_t code, Microseconds at_most) noexcept {
    return Status(porous_drain(get(), code, detail::microseconds(at_most)));
  }

  /// True if there are no live peers, and nothing more to say to those that have ended.
  bool is_empty() const noexcept { return porous_is_empty(get()) > 0; }

  /// Writes the names of the live peers into a list of Peer, as many as it has room for, and tells how many there
  /// are.
  template <class List>
  Result<std::size_t> peers(List&& list) const noexcept {
    return names(porous_peers, list.data(), list.size());
  }
  /// As peers(), of those of which packets can be received now.
  template <class List>
  Result<std::size_t> readable(List&& list) const noexcept {
    return names(porous_readable, list.data(), list.size());
  }

  State peer_state(Peer peer) const noexcept {
    const auto state = porous_peer_state(get(), peer.id);
    return state < 0 ? State::none : static_cast<State>(state);
  }

  /// Where datagrams to a peer go.
  Result<Address> peer_address(Peer peer) const noexcept {
    Address address;
    const auto status = porous_peer_address(get(), peer.id, &address);
    return detail::written(status, address);
  }

  /// Writes what the remote application said with its request, up to 255 bytes, and tells the length.
  Result<std::size_t> peer_greeting(Peer peer, Buffer buffer) const noexcept {
    return detail::counted(porous_peer_greeting(get(), peer.id, buffer.data(), buffer.size()));
  }

#ifdef POROUS_WITH_SEAL
  // Sealed connections. The configuration has to name suites.

  /// Says how the host seals, from now on. Copies are kept of it and its keys.
  Status set_security(const Security& security) noexcept { return Status(porous_set_security(get(), &security)); }

  /// As connect_any(), for a connection that no listener can read, and nobody can change. Its key, a psk or a ticket
  /// proves the server; without one an attacker in between can be the other end.
  template <class List>
  Result<Peer> connect_sealed(const List& addresses, const Credentials& with) noexcept {
    const Address* first = addresses.data();
    Peer peer;
    return detail::written(porous_connect_sealed(get(), first, addresses.size(), &with, &peer.id), peer);
  }

  /// What is proved of the connection; nothing, if it is plain.
  Result<Secured> peer_secured(Peer peer) const noexcept {
    auto secured = sized<Secured>();
    return detail::found(porous_peer_secured(get(), peer.id, &secured), secured);
  }

  /// A secret that both hosts of a sealed connection have and nobody else, another one for each label.
  Result<Secret> peer_export(Peer peer, Bytes label) const noexcept {
    Secret secret = {};
    return detail::written(porous_peer_export(get(), peer.id, label.data(), label.size(), secret.data()), secret);
  }
#endif

  // Events.

  /// The next event, if there is one.
  Result<Event> poll_event() noexcept {
    Event event;
    return detail::found(poll(event), event);
  }

  /// The events until none is there: `for (auto& event : host.events())`.
  class Events {
   public:
    struct End {};
    class Iterator {
     public:
      explicit Iterator(Events& events) noexcept : events_(&events) { ++*this; }
      Event& operator*() const noexcept { return events_->event_; }
      Event* operator->() const noexcept { return &events_->event_; }
      Iterator& operator++() noexcept {
        more_ = events_->host_->poll(events_->event_) > 0;
        return *this;
      }
      friend bool operator!=(const Iterator& at, End) noexcept { return at.more_; }
      friend bool operator==(const Iterator& at, End) noexcept { return !at.more_; }

     private:
      Events* events_;
      bool more_ = false;
    };

    Iterator begin() noexcept { return Iterator(*this); }
    End end() const noexcept { return {}; }

   private:
    friend class Host;
    explicit Events(Host& host) noexcept : host_(&host) {}

    Host* host_;
    Event event_;
  };
  Events events() noexcept { return Events(*this); }

  // Packets.

  /// Queues a packet, of which the bytes are copied.
  Status send(Peer to, std::uint8_t channel, Mode mode, Bytes data) noexcept {
    const auto how = static_cast<std::uint32_t>(mode);
    return Status(porous_send(get(), to.id, channel, how, data.data(), data.size()));
  }
  Status send(Peer to, std::uint8_t channel, const SendOptions& options, Bytes data) noexcept {
    return Status(porous_send_with(get(), to.id, channel, data.data(), data.size(), &options));
  }
  /// Without a copy.
  Status send(Peer to, std::uint8_t channel, const SendOptions& options, const Blob& blob) noexcept {
    return Status(porous_send_blob(get(), to.id, channel, blob.get(), &options));
  }
  Status send(Peer to, std::uint8_t channel, Mode mode, const Blob& blob) noexcept {
    return send(to, channel, SendOptions(mode), blob);
  }

  /// Cancels the packets of a channel with this receipt. The number of the status is 1 if there were any.
  Status cancel(Peer peer, std::uint8_t channel, std::uint64_t receipt) noexcept {
    return Status(porous_cancel(get(), peer.id, channel, receipt));
  }

  /// The next packet from a peer, without a copy, if there is one: `while (auto packet = host.receive(peer))`.
  Result<Packet> receive(Peer from) noexcept {
    porous_received what = {};
    porous_packet* packet = nullptr;
    const auto status = porous_receive_packet(get(), from.id, &what, &packet);
    if (status <= 0) return Status(status);
    return Packet(what, packet);
  }

  /// Copies the next packet into a buffer. The number of the status is 1 if there was one. POROUS_ERR_SMALL if it
  /// is longer than the buffer: it is kept, and what.len says how long it is.
  Status receive(Peer from, Received& what, Buffer buffer) noexcept {
    return Status(porous_receive(get(), from.id, &what, buffer.data(), buffer.size()));
  }

  // Rates, in bytes a second; 0: no limit.

  Status set_send_rate(Peer peer, std::uint32_t rate) noexcept {
    return Status(porous_set_send_rate(get(), peer.id, rate));
  }
  Status set_receive_rate(Peer peer, std::uint32_t rate) noexcept {
    return Status(porous_set_receive_rate(get(), peer.id, rate));
  }
  Status set_channel_rate(Peer peer, std::uint8_t channel, std::uint32_t rate) noexcept {
    return Status(porous_set_channel_rate(get(), peer.id, channel, rate));
  }
  Status set_host_send_rate(std::uint32_t rate) noexcept { return Status(porous_set_host_send_rate(get(), rate)); }

  // What is known.

  Result<PeerStats> peer_info(Peer peer) const noexcept {
    auto stats = sized<PeerStats>();
    const auto status = porous_peer_info(get(), peer.id, &stats);
    return detail::written(status, stats);
  }
  Result<ChannelStats> channel_info(Peer peer, std::uint8_t channel) const noexcept {
    auto stats = sized<ChannelStats>();
    const auto status = porous_channel_info(get(), peer.id, channel, &stats);
    return detail::written(status, stats);
  }
  Result<HostStats> host_info() const noexcept {
    auto stats = sized<HostStats>();
    const auto status = porous_host_info(get(), &stats);
    return detail::written(status, stats);
  }

  /// How far the packet with a receipt has come; nothing, if its fate is known, or there is none.
  Result<Progress> send_progress(Peer peer, std::uint8_t channel, std::uint64_t receipt) const noexcept {
    auto progress = sized<Progress>();
    const auto status = porous_send_progress(get(), peer.id, channel, receipt, &progress);
    return detail::found(status, progress);
  }
  /// How much of a packet has come that is received in part; nothing, if there is none.
  Result<Progress> receive_progress(Peer peer, std::uint8_t channel) const noexcept {
    auto progress = sized<Progress>();
    const auto status = porous_receive_progress(get(), peer.id, channel, &progress);
    return detail::found(status, progress);
  }

 private:
  struct Free {
    void operator()(porous_host* host) const noexcept { (void)porous_host_free(host); }
  };

  static Result<Host> made(porous_status status, porous_host* host) noexcept {
    if (status < 0) return Status(status);
    return Host(host);
  }

  template <class T>
  static T sized() noexcept {
    T sized = {};
    sized.size = sizeof sized;
    return sized;
  }

  explicit Host(porous_host* host) noexcept : host_(host) {}

  porous_status poll(Event& event) noexcept {
    event.raw_.size = sizeof event.raw_;
    return porous_poll_event(get(), &event.raw_);
  }

  template <class Function>
  Result<std::size_t> names(Function function, Peer* list, std::size_t room) const noexcept {
    return detail::counted(function(get(), room == 0 ? nullptr : &list->id, room));
  }

  std::unique_ptr<porous_host, Free> host_;
};

#ifdef POROUS_WITH_UDP
/// What a network thread tells. A value that does not belong to the type is zero.
class Output {
 public:
  OutputType type() const noexcept { return static_cast<OutputType>(raw_.type); }
  Peer peer() const noexcept { return Peer{raw_.peer}; }
  /// What happened at a peer, of OutputType::event.
  const Event& event() const noexcept { return event_; }
  /// The packet, if one has come or comes back: it can be moved out.
  std::optional<Packet>& packet() noexcept { return packet_; }
  /// Why something was not done.
  Status status() const noexcept { return Status(raw_.status); }
  /// An address that was given.
  Address address() const noexcept { return raw_.address; }
  /// Whether there is what was asked for, and the answer about the progress of a packet on a channel.
  bool is_known() const noexcept { return raw_.is_known != 0; }
  const Progress& progress() const noexcept { return raw_.progress; }
  std::uint8_t channel() const noexcept { return raw_.what.channel; }
  std::uint64_t receipt() const noexcept { return raw_.receipt; }

 private:
  friend class Thread;
  explicit Output(const porous_output& raw) noexcept : raw_(raw) {
    event_.raw_ = raw.event;
    if (raw.packet != nullptr) packet_ = Packet(raw.what, raw.packet);
    raw_.packet = nullptr;
  }

  porous_output raw_;
  Event event_;
  std::optional<Packet> packet_;
};

/// A host on a socket in a thread of its own, which answers and acknowledges at once, however long the turns of the
/// program are. Commands are queued; poll() tells what becomes of them. One thread of the program at a time uses it.
class Thread {
 public:
  Thread() noexcept = default;

  /// As Host::bind().
  static Result<Thread> bind(const Config& config, const char* address) noexcept {
    porous_thread* thread = nullptr;
    const auto status = porous_thread_bind(&config, address, &thread);
    return made(status, thread);
  }
  /// As Host::adopt().
  static Result<Thread> adopt(const Config& config, std::ptrdiff_t socket) noexcept {
    porous_thread* thread = nullptr;
    const auto status = porous_thread_adopt(&config, socket, &thread);
    return made(status, thread);
  }

  porous_thread* get() const noexcept { return thread_.get(); }
  explicit operator bool() const noexcept { return thread_ != nullptr; }

  /// The next thing that the thread tells, if there is one: `while (auto output = thread.poll())`.
  Result<Output> poll() noexcept {
    porous_output output = {};
    output.size = sizeof output;
    const auto status = porous_thread_poll(get(), &output);
    if (status <= 0) return Status(status);
    return Output(output);
  }

  /// Where the socket is bound.
  Result<Address> address() const noexcept {
    Address address;
    return detail::written(porous_thread_address(get(), &address), address);
  }

  /// Ends all connections and the thread, and waits for the end.
  Status close(std::uint32_t code, Microseconds flush_at_most) noexcept {
    return Status(porous_thread_close(get(), code, detail::microseconds(flush_at_most)));
  }

  Status listen(Listen policy) noexcept {
    return Status(porous_thread_listen(get(), static_cast<std::uint32_t>(policy)));
  }
  /// Begins to connect. OutputType::connecting or not_connecting follows.
  template <class List>
  Status connect(const List& addresses, Bytes greeting = {}) noexcept {
    const Address* first = addresses.data();
    return Status(porous_thread_connect(get(), first, addresses.size(), greeting.data(), greeting.size()));
  }
  Status accept(Peer peer) noexcept { return Status(porous_thread_accept(get(), peer.id)); }
  Status refuse(Peer peer, Bytes data = {}) noexcept {
    return Status(porous_thread_refuse(get(), peer.id, data.data(), data.size()));
  }
  Status disconnect(Peer peer, std::uint32_t code = 0, Microseconds flush_at_most = Microseconds(0)) noexcept {
    return Status(porous_thread_disconnect(get(), peer.id, code, detail::microseconds(flush_at_most)));
  }
  /// As Host::drain(). EventType::disconnected follows of each peer; then close() the thread.
  Status drain(std::uint32_t code, Microseconds at_most) noexcept {
    return Status(porous_thread_drain(get(), code, detail::microseconds(at_most)));
  }
  /// As Host::set_suffix(). OutputType::not_suffixed tells if it was too long, or too late.
  Status set_suffix(const Address& to, Bytes suffix) noexcept {
    return Status(porous_thread_set_suffix(get(), &to, suffix.data(), suffix.size()));
  }
  /// As Host::set_connection_ids(). OutputType::ids_unchanged tells if this host cannot make such ids.
  Status set_connection_ids(const ConnectionIds& ids) noexcept {
    return Status(porous_thread_set_connection_ids(get(), &ids));
  }

  /// Queues a packet, of which the bytes are copied. OutputType::unsent brings it back if it cannot be sent.
  Status send(Peer to, std::uint8_t channel, const SendOptions& options, Bytes data) noexcept {
    return Status(porous_thread_send(get(), to.id, channel, data.data(), data.size(), &options));
  }
  Status send(Peer to, std::uint8_t channel, Mode mode, Bytes data) noexcept {
    return send(to, channel, SendOptions(mode), data);
  }
  /// Without a copy.
  Status send(Peer to, std::uint8_t channel, const SendOptions& options, const Blob& blob) noexcept {
    return Status(porous_thread_send_blob(get(), to.id, channel, blob.get(), &options));
  }
  Status send(Peer to, std::uint8_t channel, Mode mode, const Blob& blob) noexcept {
    return send(to, channel, SendOptions(mode), blob);
  }
  /// Sends a packet again that has come back.
  Status send_again(Peer to, std::uint8_t channel, const Packet& packet) noexcept {
    return Status(porous_thread_send_packet(get(), to.id, channel, packet.get()));
  }
  Status cancel(Peer peer, std::uint8_t channel, std::uint64_t receipt) noexcept {
    return Status(porous_thread_cancel(get(), peer.id, channel, receipt));
  }

  // Rates, in bytes a second; 0: no limit.

  Status set_send_rate(Peer peer, std::uint32_t rate) noexcept {
    return Status(porous_thread_set_send_rate(get(), peer.id, rate));
  }
  Status set_receive_rate(Peer peer, std::uint32_t rate) noexcept {
    return Status(porous_thread_set_receive_rate(get(), peer.id, rate));
  }
  Status set_channel_rate(Peer peer, std::uint8_t channel, std::uint32_t rate) noexcept {
    return Status(porous_thread_set_channel_rate(get(), peer.id, channel, rate));
  }
  Status set_host_send_rate(std::uint32_t rate) noexcept {
    return Status(porous_thread_set_host_send_rate(get(), rate));
  }

  // What is known: asked for, and told by an output.

  Status ask_stats() noexcept { return Status(porous_thread_ask_stats(get())); }
  Status ask_peer_stats(Peer peer) noexcept { return Status(porous_thread_ask_peer_stats(get(), peer.id)); }
  Status ask_send_progress(Peer peer, std::uint8_t channel, std::uint64_t receipt) noexcept {
    return Status(porous_thread_ask_send_progress(get(), peer.id, channel, receipt));
  }
  Status ask_receive_progress(Peer peer, std::uint8_t channel) noexcept {
    return Status(porous_thread_ask_receive_progress(get(), peer.id, channel));
  }
  /// What the last OutputType::stats has told.
  Result<HostStats> stats() const noexcept {
    HostStats stats = {};
    stats.size = sizeof stats;
    return detail::written(porous_thread_stats(get(), &stats), stats);
  }
  /// What the last OutputType::peer_stats has told.
  Result<PeerStats> peer_stats() const noexcept {
    PeerStats stats = {};
    stats.size = sizeof stats;
    return detail::written(porous_thread_peer_stats(get(), &stats), stats);
  }
  /// Writes what the remote application said with its request, up to 255 bytes, and tells the length.
  Result<std::size_t> greeting(Peer peer, Buffer buffer) const noexcept {
    return detail::counted(porous_thread_greeting(get(), peer.id, buffer.data(), buffer.size()));
  }

#ifdef POROUS_WITH_SEAL
  /// As Host::connect_sealed(). OutputType::connecting or not_connecting follows.
  template <class List>
  Status connect_sealed(const List& addresses, const Credentials& with) noexcept {
    const Address* first = addresses.data();
    return Status(porous_thread_connect_sealed(get(), first, addresses.size(), &with));
  }
  Status set_security(const Security& security) noexcept {
    return Status(porous_thread_set_security(get(), &security));
  }
  /// What is proved of the connection; nothing, if it is plain or there is no such peer.
  Result<Secured> secured(Peer peer) const noexcept {
    Secured secured = {};
    secured.size = sizeof secured;
    return detail::found(porous_thread_secured(get(), peer.id, &secured), secured);
  }
#endif

 private:
  struct Free {
    void operator()(porous_thread* thread) const noexcept { (void)porous_thread_free(thread); }
  };

  static Result<Thread> made(porous_status status, porous_thread* thread) noexcept {
    if (status < 0) return Status(status);
    return Thread(thread);
  }

  explicit Thread(porous_thread* thread) noexcept : thread_(thread) {}

  std::unique_ptr<porous_thread, Free> thread_;
};
#endif

/// Whether the header and the library fit: a program calls this first.
inline Status check_abi() noexcept { return Status(porous_check_abi(POROUS_ABI)); }

/// The version of the library: major * 65536 + minor * 256 + patch.
inline std::uint32_t version() noexcept { return porous_version(); }

/// Names the function that is told when a bug of porous was caught, in any thread.
inline Status on_panic(porous_told told, void* user) noexcept { return Status(porous_on_panic(told, user)); }

#ifdef POROUS_WITH_HOOKS
/// Has all memory of the library come from these functions, for the whole process: called before all else, and once.
inline Status set_allocator(porous_alloc alloc, porous_dealloc dealloc, void* user) noexcept {
  return Status(porous_set_allocator(alloc, dealloc, user));
}

/// Tells how many bytes of memory the library has in the whole process, and the most that it has had.
inline Status memory(std::uint64_t& bytes, std::uint64_t& peak) noexcept {
  return Status(porous_memory(&bytes, &peak));
}
#endif

#if defined(POROUS_WITH_STD) && (defined(POROUS_WITH_UDP) || defined(POROUS_WITH_SEAL))
/// Writes what the system said when the last call of this thread failed with POROUS_ERR_IO or one as it, with a 0 at
/// the end, and tells the length.
inline Result<std::size_t> io_error_text(Buffer text) noexcept {
  return detail::counted(porous_io_error_text(static_cast<char*>(text.data()), text.size()));
}
#endif

#ifdef POROUS_WITH_UDP
/// Asks the system for the addresses of a name with a port, as "example.org:4000". Blocks until there is an answer.
/// Writes them into a list of Address, as many as it has room for, and tells how many there are.
template <class List>
Result<std::size_t> resolve(const char* name, List&& list) noexcept {
  Address* first = list.data();
  return detail::counted(porous_resolve(name, first, list.size()));
}

#endif

}  // namespace porous

namespace std {

template <>
struct hash<porous::Peer> {
  size_t operator()(porous::Peer peer) const noexcept { return hash<porous_peer>()(peer.id); }
};

template <>
struct hash<porous::Address> {
  size_t operator()(const porous::Address& address) const noexcept {
    return hash<string_view>()({reinterpret_cast<const char*>(&address), sizeof address});
  }
};

}  // namespace std

#endif  // POROUS_HPP
