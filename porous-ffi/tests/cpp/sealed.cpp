// Sealed connections and tickets, by a pair of hosts without sockets.

#include "pair.hpp"

using namespace std::chrono_literals;
using porous::EventType;
using porous::Peer;

namespace {

constexpr std::uint64_t NOW = 1800000000;
constexpr std::uint64_t APPLICATION = 5;

porous::Config sealing() {
  porous::Config config;
  config.use({porous::Suite::chacha_poly, porous::Suite::aes_gcm});
  config.application_id = APPLICATION;
  return config;
}

/// The keys of a server, and a server that has them.
struct Server {
  Server() : pair(sealing(), sealing()) {
    porous::Security security;
    const std::array<porous::Secret, 1> identities = {identity};
    const std::vector<porous::Key> psks = {porous::key(4, psk)};
    const std::vector<porous::Key> token_keys = {porous::key(9, token_key)};
    security.use_identities(identities).use_psks(psks).use_token_keys(token_keys).use_server_id(77);
    security.demand_proof(true).let_plain_in(false).let_many_in(true).max_token_lifetime(10min).rekey_time(1h);
    must(pair.server.set_security(security));
    must(pair.server.core_unix_time(NOW));
  }

  /// Connects, and returns the peer of the server; that of the client is `client_peer`. Nobody, if it was refused.
  Peer connect(const porous::Credentials& with) {
    const std::array<porous::Address, 1> places = {place('s')};
    client_peer = must(pair.client.connect_sealed(places, with));
    Peer peer;
    for (int turn = 0; turn < 4000; ++turn) {
      pair.turn();
      for (auto& event : pair.server.events()) {
        if (event.type() == EventType::connected) peer = event.peer();
      }
      for (auto& event : pair.client.events()) {
        if (event.type() == EventType::connected) return peer;
        CHECK(event.type() == EventType::disconnected);
        CHECK(event.reason() == porous::Reason::refused_security);
        return {};
      }
    }
    fail(__FILE__, __LINE__, "an answer in time");
  }

  void disconnect() {
    must(pair.client.disconnect_all());
    for (int turn = 0; turn < 4000 && !pair.client.is_empty(); ++turn) pair.turn();
    CHECK(pair.client.is_empty());
    while (pair.client.poll_event()) continue;
  }

  const porous::Secret identity = must(porous::generate_key());
  const porous::Secret psk = must(porous::generate_key());
  const porous::Secret token_key = must(porous::generate_key());
  const porous::PublicKey public_key = must(porous::public_key(identity));
  Pair pair;
  Peer client_peer;
};

std::string_view user_data(const porous::Secured& secured) {
  return {reinterpret_cast<const char*>(secured.user_data), secured.user_data_len};
}

void a_psk_is_proved(Server& server) {
  const auto with = porous::Credentials().use_server_key(server.public_key).use_psk(4, server.psk).use_greeting("hi");
  const auto peer = server.connect(with);
  CHECK(peer);
  const auto here = must(server.pair.client.peer_secured(server.client_peer));
  const auto there = must(server.pair.server.peer_secured(peer));
  CHECK(there.has_psk == 1 && there.psk_number == 4 && there.has_client_id == 0);
  CHECK(here.server_key_len == 32 && std::memcmp(here.server_key, server.public_key.data(), 32) == 0);
  CHECK(std::memcmp(here.binding, there.binding, sizeof here.binding) == 0);
  const auto secret = must(server.pair.client.peer_export(server.client_peer, "voice"));
  CHECK(secret == must(server.pair.server.peer_export(peer, "voice")));
  CHECK(secret != must(server.pair.server.peer_export(peer, "video")));
  std::array<char, 255> greeting;
  CHECK(must(server.pair.server.peer_greeting(peer, greeting)) == 2);
  server.disconnect();
}

void whoever_proves_nothing_is_refused(Server& server) {
  CHECK(!server.connect(porous::Credentials().use_server_key(server.public_key)));
  server.disconnect();
}

/// A ticket as a backend makes it, and its text as it is passed on.
std::string minted(const Server& server) {
  porous::Claims claims(APPLICATION, 1234, NOW - 10, NOW + 60);
  claims.use(porous::Suite::chacha_poly).use_key_number(9).take_once(true).use_audiences({76, 77});
  claims.use_user_data("level 3");
  auto ticket = must(porous::Ticket::mint(server.token_key, claims));
  const std::vector<porous::Address> servers = {must(porous::Address::parse("192.0.2.1:4000"))};
  must(ticket.set_servers(servers));
  must(ticket.set_server_key(server.public_key));
  CHECK(ticket.set_server_key(std::string(66, 'x')).number() == POROUS_ERR_SERVER_KEY);
  std::array<char, 1500> text;
  CHECK(ticket.to_text(porous::Buffer(text.data(), 10)).status().number() == POROUS_ERR_SMALL);
  const auto length = must(ticket.to_text(text));
  return {text.data(), length};
}

void a_ticket_has_what_was_put_in(const Server& server, const porous::Ticket& ticket) {
  std::array<porous::Address, 4> servers;
  CHECK(must(ticket.servers(servers)) == 1 && servers[0].port == 4000);
  CHECK(must(ticket.expires()) == NOW + 60);
  std::array<std::uint8_t, 65> key;
  CHECK(must(ticket.server_key(key)) == 32 && std::memcmp(key.data(), server.public_key.data(), 32) == 0);
  std::vector<std::uint8_t> bytes(1080);
  bytes.resize(must(ticket.to_bytes(bytes)));
  const auto again = must(porous::Ticket::from_bytes(bytes));
  CHECK(must(again.psk()) == must(ticket.psk()));
  CHECK(porous::Ticket::from_bytes("no ticket").status().number() < 0);
}

void a_ticket_lets_its_client_in(Server& server) {
  const auto ticket = must(porous::Ticket::from_text(minted(server).c_str()));
  a_ticket_has_what_was_put_in(server, ticket);
  const auto peer = server.connect(porous::Credentials().use(ticket));
  CHECK(peer);
  const auto there = must(server.pair.server.peer_secured(peer));
  CHECK(there.has_client_id == 1 && there.client_id == 1234 && user_data(there) == "level 3");
  server.disconnect();
  CHECK(!server.connect(porous::Credentials().use(ticket)));
  server.disconnect();
}

void a_token_lets_its_client_in(Server& server) {
  const auto ticket = must(porous::Ticket::from_text(minted(server).c_str()));
  std::vector<std::uint8_t> token(400);
  token.resize(must(ticket.token(token)));
  const auto psk = must(ticket.psk());
  CHECK(server.connect(porous::Credentials().use_server_key(server.public_key).use_token(token, psk)));
  server.disconnect();
}

void a_plain_connection_proves_nothing() {
  Pair pair(sealing(), sealing());
  must(pair.server.set_security(porous::Security().let_plain_in(true)));
  const auto peer = must(pair.client.connect(place('s')));
  for (int turn = 0; turn < 1000 && pair.client.peer_state(peer) != porous::State::connected; ++turn) pair.turn();
  const auto secured = pair.client.peer_secured(peer);
  CHECK(!secured && secured.status().number() == 0);
  CHECK(pair.client.peer_export(peer, "voice").status().number() == POROUS_ERR_NOT_SEALED);
}

}  // namespace

int main() {
  must(porous::check_abi());
  Server server;
  a_psk_is_proved(server);
  whoever_proves_nothing_is_refused(server);
  a_ticket_lets_its_client_in(server);
  a_token_lets_its_client_in(server);
  a_plain_connection_proves_nothing();
  return 0;
}
