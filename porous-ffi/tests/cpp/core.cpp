// Two hosts without sockets over a network that loses datagrams: all that is reliable arrives, in its order.

#include "pair.hpp"

namespace {

constexpr std::uint32_t PACKETS = 500;

std::string number(std::uint32_t n) {
  // Some of them are longer than a datagram.
  return std::to_string(n) + std::string(n % 50 == 0 ? 4000 : 20, '.');
}

/// Connects, and returns the peer of the client.
porous::Peer connected(Pair& pair) {
  const auto peer = must(pair.client.connect(place('s')));
  for (int turn = 0; turn < 1000; ++turn) {
    pair.turn();
    if (pair.client.peer_state(peer) == porous::State::connected) return peer;
  }
  fail(__FILE__, __LINE__, "connected in time");
}

void packets_arrive_in_their_order(Pair& pair, porous::Peer to) {
  std::uint32_t sent = 0;
  std::uint32_t arrived = 0;
  for (int turn = 0; turn < 20000 && arrived < PACKETS; ++turn) {
    while (sent < PACKETS) {
      const auto status = pair.client.send(to, 1, porous::Mode::reliable, number(sent));
      if (status.number() == POROUS_ERR_FULL) break;
      must(status);
      ++sent;
    }
    pair.turn();
    for (auto& event : pair.server.events()) {
      while (auto packet = pair.server.receive(event.peer())) {
        CHECK(packet->text() == number(arrived));
        CHECK(packet->channel() == 1);
        ++arrived;
      }
    }
  }
  CHECK(arrived == PACKETS);
}

void both_tell_of_the_end(Pair& pair, porous::Peer peer) {
  using namespace std::chrono_literals;
  must(pair.client.disconnect(peer, 7, 1s));
  auto of_client = porous::Reason::none;
  auto of_server = porous::Reason::none;
  for (int turn = 0; turn < 2000; ++turn) {
    pair.turn();
    for (auto& event : pair.client.events()) {
      if (event.type() == porous::EventType::disconnected) of_client = event.reason();
    }
    for (auto& event : pair.server.events()) {
      if (event.type() != porous::EventType::disconnected) continue;
      of_server = event.reason();
      CHECK(event.code() == 7);
    }
  }
  CHECK(of_client == porous::Reason::by_us);
  CHECK(of_server == porous::Reason::by_peer);
  CHECK(pair.client.is_empty() && pair.server.is_empty());
}

}  // namespace

int main() {
  must(porous::check_abi());
  porous::Config config;
  config.channel_count = 2;
  config.send_budget = 20000;
  Pair pair(config, config);
  pair.lose_one_of(7);
  const auto peer = connected(pair);
  packets_arrive_in_their_order(pair, peer);
  const auto stats = must(pair.client.peer_info(peer));
  CHECK(stats.frames_lost > 0);
  CHECK(stats.packets_sent.reliable == PACKETS);
  both_tell_of_the_end(pair, peer);
  return 0;
}
