// What the header promises beside porous.h: ownership, views of bytes, results, and each function once.

#include <map>
#include <string>
#include <unordered_set>
#include <vector>
#if __has_include(<span>) && __cplusplus >= 202002L
#include <span>
#endif

#include "pair.hpp"

using namespace std::chrono_literals;
using porous::Bytes;
using porous::EventType;
using porous::Host;
using porous::Mode;
using porous::Peer;

namespace {

static_assert(!std::is_copy_constructible_v<Host> && std::is_nothrow_move_constructible_v<Host>, "");
static_assert(!std::is_copy_constructible_v<porous::Packet>, "");
static_assert(!std::is_copy_assignable_v<porous::Blob>, "");
static_assert(!std::is_convertible_v<std::vector<int>, Bytes>, "numbers have an order of bytes");
static_assert(!std::is_convertible_v<const std::string&, porous::Buffer>, "a constant is no buffer");
static_assert(!std::is_convertible_v<porous::Status, bool> && !std::is_convertible_v<Peer, std::uint64_t>, "");

/// A connected pair, and the peers of both.
struct Connected {
  explicit Connected(const porous::Config& config, const char* greeting = "") : pair(config, config) {
    const std::array<porous::Address, 2> places = {place('x'), place('s')};
    server_of_client = must(pair.client.connect_any(places, greeting));
    turns([this] {
      for (auto& event : pair.server.events()) {
        if (event.type() == EventType::connected) client_of_server = event.peer();
      }
      return client_of_server && pair.client.peer_state(server_of_client) == porous::State::connected;
    });
  }

  /// Takes turns until it holds, which must be soon.
  template <class Condition>
  void turns(Condition holds) {
    for (int turn = 0; turn < 4000; ++turn) {
      if (holds()) return;
      pair.turn();
    }
    fail(__FILE__, __LINE__, "in time");
  }

  /// The next packet of the server from the client.
  porous::Packet next() {
    for (int turn = 0; turn < 4000; ++turn) {
      if (auto packet = pair.server.receive(client_of_server)) return *std::move(packet);
      pair.turn();
    }
    fail(__FILE__, __LINE__, "a packet");
  }

  Host& client() { return pair.client; }
  Host& server() { return pair.server; }

  Pair pair;
  Peer server_of_client;
  Peer client_of_server;
};

void statuses_have_texts() {
  const auto fine = porous::Status();
  CHECK(fine && fine.number() == 0);
  const auto full = porous::Status(POROUS_ERR_FULL);
  CHECK(!full && full != fine);
  CHECK(std::strlen(full.text()) > 10);
  CHECK(porous::version() != 0);
}

void addresses_are_read_written_and_compared() {
  const auto four = must(porous::Address::parse("192.0.2.1:4000"));
  const auto six = must(porous::Address::parse("[2001:db8::1]:4000"));
  CHECK(four.is_ipv4() && six.is_ipv6() && four.port == 4000);
  CHECK(std::string_view(must(six.text()).c_str()) == "[2001:db8::1]:4000");
  CHECK(four == porous::Address(four) && four != six && (four < six) != (six < four));
  CHECK(four != must(porous::Address::parse("192.0.2.2:4000")));
  CHECK(!porous::Address() && four);
  CHECK(porous::Address::parse("nowhere").status().number() == POROUS_ERR_ADDRESS);
  CHECK(porous::Address::own(std::string(25, 'x')).status().number() == POROUS_ERR_VALUE);
  CHECK(place('a').text().status().number() == POROUS_ERR_ADDRESS);
  std::unordered_set<porous::Address> set = {four, six, four};
  std::map<porous::Address, int> map = {{four, 1}, {six, 2}};
  CHECK(set.size() == 2 && map[six] == 2);
  std::array<porous::Address, 4> found;
  const auto count = must(porous::resolve("127.0.0.1:80", found));
  CHECK(count == 1 && found[0] == must(porous::Address::parse("127.0.0.1:80")));
}

void configurations_are_set_and_checked() {
  porous::Config config;
  CHECK(config.check());
  const std::vector<porous::Channel> channels(3);
  config.use_channels(channels).use(porous::Policy::paper).use(porous::Congestion::cubic);
  config.use(porous::Integrity::crc32c).use_ecn(false).use_roaming(true).use({porous::Suite::aes_gcm});
  config.timeout(5s).connect_timeout(2s).disconnect_timeout(1s).keepalive(1s).unreliable_age(porous::forever);
  CHECK(config.check());
  CHECK(config.channel_count == 3 && config.timeout_us == 5000000 && config.unreliable_age_us == UINT64_MAX);
  CHECK(config.suites[0] == POROUS_SUITE_AES_GCM && config.suites[1] == 0 && config.ecn == POROUS_OFF);
  config.frame_window = 100;
  CHECK(config.check().number() == POROUS_ERR_CONFIG_WINDOW);
  CHECK(Host::core(config, seed_of(1)).status().number() == POROUS_ERR_CONFIG_WINDOW);
  CHECK(Host::core(porous::Config(), porous::Seed{}).status().number() == POROUS_ERR_VALUE);
}

void whoever_moves_a_host_owns_it() {
  auto first = must(Host::core(porous::Config(), seed_of(1)));
  auto second = std::move(first);
  CHECK(!first && second);
  CHECK(first.listen(porous::Listen::open).number() == POROUS_ERR_NULL);
  CHECK(second.listen(porous::Listen::open));
  second = must(Host::core(porous::Config(), seed_of(2)));
  CHECK(second.step().number() == POROUS_ERR_KIND);
  CHECK(!Host() && Host().poll_event().status().number() == POROUS_ERR_NULL);
}

void bytes_are_whatever_has_data_and_size(Connected& both) {
  const auto sent = [&](Bytes bytes) {
    must(both.client().send(both.server_of_client, 0, Mode::reliable, bytes));
    return std::string(both.next().text());
  };
  const std::array<std::byte, 2> array = {std::byte{65}, std::byte{66}};
  const std::vector<std::uint8_t> vector = {67, 68};
  CHECK(sent("text") == "text");
  CHECK(sent(std::string_view("a\0b", 3)) == std::string("a\0b", 3));
  CHECK(sent(array) == "AB");
  CHECK(sent(vector) == "CD");
  CHECK(sent({}) == "");
  CHECK(sent({"pointer", 5}) == "point");
#if defined(__cpp_lib_span)
  CHECK(sent(std::span<const std::uint8_t>(vector).first(1)) == "C");
#endif
}

void packets_are_kept_when_a_buffer_is_too_small(Connected& both) {
  must(both.client().send(both.server_of_client, 0, Mode::passive, "twelve bytes"));
  porous::Received what = {};
  char small[4];
  std::vector<char> large(12);
  both.turns([&] { return both.server().receive(both.client_of_server, what, small).number() != 0; });
  CHECK(both.server().receive(both.client_of_server, what, small).number() == POROUS_ERR_SMALL);
  CHECK(what.len == 12);
  CHECK(both.server().receive(both.client_of_server, what, large).number() == 1);
  CHECK(what.mode == POROUS_PASSIVE && std::string(large.begin(), large.end()) == "twelve bytes");
  CHECK(both.server().receive(both.client_of_server, what, large).number() == 0);
  CHECK(both.server().receive(both.client_of_server).status() == porous::Status());
}

void blobs_are_shared(Connected& both) {
  static int released = 0;
  static char memory[] = "wrapped";
  {
    const auto copied = must(porous::Blob::copy("copied"));
    const auto taken = must(porous::Blob::take(std::string(3000, 't')));
    const auto wrapped = must(porous::Blob::wrap(Bytes(memory, 7), [](void* user) { ++*static_cast<int*>(user); },
                                                 &released));
    const porous::SendOptions options(Mode::reliable);
    must(both.client().send(both.server_of_client, 0, options, copied));
    must(both.client().send(both.server_of_client, 0, Mode::reliable, taken));
    must(both.client().send(both.server_of_client, 0, options, wrapped));
    CHECK(released == 0);
  }
  CHECK(both.next().text() == "copied");
  CHECK(both.next().text() == std::string(3000, 't'));
  const auto last = both.next();
  CHECK(last.text() == "wrapped" && last.end() - last.begin() == 7);
  both.turns([] { return released == 1; });
}

void receipts_tell_what_became_of_a_packet(Connected& both) {
  auto outcome_of = [&](std::uint64_t token) {
    auto outcome = porous::Outcome::none;
    both.turns([&] {
      for (auto& event : both.client().events()) {
        if (event.type() == EventType::receipt && event.token() == token) outcome = event.outcome();
      }
      return outcome != porous::Outcome::none;
    });
    return outcome;
  };
  const auto options = porous::SendOptions(Mode::reliable).with_receipt(41).with_copies(POROUS_NO_COPIES);
  must(both.client().send(both.server_of_client, 1, options, std::string(50000, 'x')));
  const auto progress = must(both.client().send_progress(both.server_of_client, 1, 41));
  CHECK(progress.len == 50000 && progress.arrived == 0);
  both.turns([&] { return bool(both.server().receive_progress(both.client_of_server, 1)); });
  CHECK(both.next().size() == 50000);
  CHECK(outcome_of(41) == porous::Outcome::delivered);

  const auto keyed = porous::SendOptions(Mode::reliable).with_receipt(42).with_key(1).with_ttl(1s);
  must(both.client().send(both.server_of_client, 1, keyed, "cancelled"));
  CHECK(both.client().cancel(both.server_of_client, 1, 42).number() == 1);
  CHECK(both.client().cancel(both.server_of_client, 1, 42).number() == 0);
  CHECK(outcome_of(42) == porous::Outcome::cancelled);
}

void what_is_known_of_peers_is_told(Connected& both) {
  const auto peer = both.server_of_client;
  auto& client = both.client();
  must(client.set_send_rate(peer, 1000000));
  must(client.set_receive_rate(peer, 1000000));
  must(client.set_channel_rate(peer, 1, 1000000));
  must(client.set_host_send_rate(0));
  CHECK(client.set_channel_rate(peer, 9, 1).number() == POROUS_ERR_UNKNOWN_CHANNEL);
  CHECK(must(client.peer_info(peer)).rtt_us >= 9000);
  CHECK(must(client.channel_info(peer, 1)).waiting == 0);
  CHECK(must(client.host_info()).connected == 1);
  CHECK(must(client.peer_address(peer)) == place('s'));
  both.pair.turn();
  CHECK(must(client.core_deadline()) > 0us);
  CHECK(client.peer_info(Peer{77}).status().number() == POROUS_ERR_UNKNOWN_PEER);
  std::array<Peer, 3> peers = {};
  CHECK(must(client.peers(peers)) == 1 && peers[0] == peer && peers[1] == Peer());
  CHECK(must(both.server().readable(peers)) == 0);
  CHECK(must(both.server().peers(std::vector<Peer>())) == 1);
  std::array<char, 255> greeting;
  CHECK(must(both.server().peer_greeting(both.client_of_server, greeting)) == 3);
  CHECK(std::string_view(greeting.data(), 3) == "you");
  CHECK(both.server().peer_greeting(both.client_of_server, porous::Buffer(greeting.data(), 2)).status().number() ==
        POROUS_ERR_SMALL);
}

void ended_peers_are_unknown(Connected& both) {
  must(both.client().drain(3, 1s));
  must(both.client().disconnect_all(3));
  both.turns([&] { return both.client().is_empty(); });
  const auto peer = both.server_of_client;
  const auto status = both.client().send(peer, 0, Mode::reliable, "late");
  CHECK(status.number() == POROUS_ERR_UNKNOWN_PEER);
  CHECK(both.client().peer_state(peer) != porous::State::connected);
}

void the_program_decides_who_comes_in() {
  Pair pair{porous::Config(), porous::Config()};
  must(pair.server.listen(porous::Listen::ask));
  for (const bool welcome : {false, true}) {
    must(pair.client.connect(place('s')));
    bool done = false;
    for (int turn = 0; turn < 4000 && !done; ++turn) {
      pair.turn();
      for (auto& event : pair.server.events()) {
        if (event.type() != EventType::request) continue;
        CHECK(event.address() == place('c'));
        must(welcome ? pair.server.accept(event.peer()) : pair.server.refuse(event.peer(), "not you"));
        CHECK(pair.server.accept(event.peer()).number() < 0);
      }
      for (auto& event : pair.client.events()) {
        done = true;
        CHECK(welcome == (event.type() == EventType::connected));
        if (welcome) continue;
        CHECK(event.reason() == porous::Reason::refused_application && event.data() == "not you");
      }
    }
    CHECK(done);
  }
}

void a_host_on_a_socket_has_an_address() {
  auto host = must(Host::bind(porous::Config(porous::Preset::client), "127.0.0.1:0"));
  CHECK(must(host.address()).port != 0 && must(host.socket()) >= 0);
  CHECK(host.is_blocked().number() == 0);
  CHECK(must(host.deadline()) >= 0us);
  must(host.set_time_limit(1ms));
  must(host.transmit());
  must(host.wait(0us));
  CHECK(host.core_time(1us).number() == POROUS_ERR_KIND);
  CHECK(host.listen(porous::Listen::open).number() == POROUS_ERR_CANNOT_LISTEN);
  must(host.close(0, 0us));
  CHECK(Host::adopt(porous::Config(), -1).status().number() == POROUS_ERR_VALUE);
  CHECK(Host::bind(porous::Config(), "192.0.2.1:0").status().number() == POROUS_ERR_NOT_AVAILABLE);
  std::array<char, 512> text;
  CHECK(std::string_view(text.data(), must(porous::io_error_text(text))).find("192.0.2.1") != std::string_view::npos);
}

void hosts_are_told_of_addresses_that_nobody_is_at() {
  auto host = must(Host::core(porous::Config(porous::Preset::client), seed_of(1)));
  const auto peer = must(host.connect(place('s')));
  must(host.core_port_closed(place('s')));
  must(host.core_port_closed());
  must(host.core_unreachable(place('s')));
  must(host.core_timeout());
  std::vector<EventType> types;
  for (const auto& event : host.events()) {
    CHECK(event.peer() == peer);
    types.push_back(event.type());
    if (event.type() == EventType::disconnected) CHECK(event.reason() == porous::Reason::unreachable);
  }
  CHECK(types.size() >= 2 && types.front() == EventType::port_closed && types.back() == EventType::disconnected);
}

void ids_are_made_for_what_routes_by_them() {
  using porous::ConnectionIds;
  porous::Config config;
  config.connection_id_len = 12;
  auto host = must(Host::core(config, seed_of(1)));
  must(host.set_connection_ids(ConnectionIds::sharded(3, 2)));
  CHECK(host.set_connection_ids(ConnectionIds::sharded(3, 1)).number() == POROUS_ERR_IDS_SHARD);
  CHECK(host.set_connection_ids(ConnectionIds::sharded(0, 9)).number() == POROUS_ERR_IDS_SHARD_BITS);
  const std::array<std::uint8_t, 16> key = {1};
  must(host.set_connection_ids(ConnectionIds::quic_lb(6, "srv").encrypted(key)));
  CHECK(host.set_connection_ids(ConnectionIds::quic_lb(7, "srv")).number() == POROUS_ERR_IDS_ROTATION);
  CHECK(host.set_connection_ids(ConnectionIds::quic_lb(0, "")).number() == POROUS_ERR_IDS_SERVER_ID);
  CHECK(host.set_connection_ids(ConnectionIds::quic_lb(0, std::string(300, 'x'))).number() ==
        POROUS_ERR_IDS_SERVER_ID);
  CHECK(host.set_connection_ids(ConnectionIds::quic_lb(0, "12345678")).number() == POROUS_ERR_IDS_TOO_SHORT);
  must(host.set_connection_ids(ConnectionIds()));
  const auto ids = ConnectionIds::quic_lb(6, "srv").encrypted(key);
  CHECK(ids.rotation == 6 && ids.server_id_len == 3 && ids.server_id[2] == 'v' && ids.key[0] == 1);
}

void hosts_are_told_of_a_backlog() {
  auto host = must(Host::core(porous::Config(), seed_of(1)));
  must(host.core_backlog(true));
  must(host.core_backlog(false));
  CHECK(must(host.host_info()).overloaded == 0);
}

void a_suffix_is_set_before_connecting() {
  auto host = must(Host::bind(porous::Config(porous::Preset::client), "127.0.0.1:0"));
  const auto proxy = must(porous::Address::parse("127.0.0.1:9"));
  CHECK(host.set_suffix(proxy, std::string(33, 'x')).number() == POROUS_ERR_TOO_LONG);
  must(host.set_suffix(proxy, "token"));
  must(host.connect(proxy));
  CHECK(host.set_suffix(proxy, "token").number() == POROUS_ERR_ALREADY_CONNECTED);
}

void hosts_share_a_port() {
  std::array<Host, 4> hosts;
  const auto status = Host::bind_shards(porous::Config(), "127.0.0.1:0", hosts);
  if (status.number() == POROUS_ERR_UNSUPPORTED) return;
  must(status);
  CHECK(must(hosts[0].address()) == must(hosts[3].address()));
  std::vector<Host> three(3);
  CHECK(Host::bind_shards(porous::Config(), "127.0.0.1:0", three).number() == POROUS_ERR_VALUE);
  std::vector<Host> many(256);
  CHECK(Host::bind_shards(porous::Config(), "127.0.0.1:0", many).number() == POROUS_ERR_VALUE);
  CHECK(!three[0] && !many[255]);
}

}  // namespace

int main() {
  must(porous::check_abi());
  must(porous::on_panic(nullptr, nullptr));
  statuses_have_texts();
  addresses_are_read_written_and_compared();
  configurations_are_set_and_checked();
  whoever_moves_a_host_owns_it();
  const std::array<porous::Channel, 2> channels = {};
  Connected both(porous::Config().use_channels(channels), "you");
  bytes_are_whatever_has_data_and_size(both);
  packets_are_kept_when_a_buffer_is_too_small(both);
  blobs_are_shared(both);
  receipts_tell_what_became_of_a_packet(both);
  what_is_known_of_peers_is_told(both);
  ended_peers_are_unknown(both);
  the_program_decides_who_comes_in();
  a_host_on_a_socket_has_an_address();
  hosts_are_told_of_addresses_that_nobody_is_at();
  ids_are_made_for_what_routes_by_them();
  hosts_are_told_of_a_backlog();
  a_suffix_is_set_before_connecting();
  hosts_share_a_port();
  return 0;
}
