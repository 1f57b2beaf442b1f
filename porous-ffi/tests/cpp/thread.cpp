// Hosts in threads of their own.

#include <string>
#include <thread>
#include <vector>

#include "check.hpp"

using namespace std::chrono_literals;
using porous::EventType;
using porous::Output;
using porous::OutputType;
using porous::Peer;
using porous::Thread;

namespace {

static_assert(!std::is_copy_constructible_v<Thread> && std::is_nothrow_move_constructible_v<Thread>, "");
static_assert(!std::is_copy_constructible_v<Output> && std::is_nothrow_move_constructible_v<Output>, "");

porous::Config config(porous::Preset preset) {
  porous::Config config(preset);
  config.use({porous::Suite::chacha_poly});
  return config;
}

/// The next output of a type, which must be soon. Others are dropped.
Output next(Thread& thread, OutputType type) {
  for (std::uint32_t poll = 0; poll < 100000000u; ++poll) {
    auto output = thread.poll();
    if (output && output->type() == type) return *std::move(output);
    CHECK(output || output.status() == porous::Status());
    if (!output) std::this_thread::yield();
  }
  fail(__FILE__, __LINE__, "an output in time");
}

/// The next event of a type.
porous::Event next(Thread& thread, EventType type) {
  for (;;) {
    const auto output = next(thread, OutputType::event);
    if (output.event().type() == type) return output.event();
  }
}

void packets_go_both_ways(Thread& server, Thread& client, Peer peer) {
  const auto there = next(server, EventType::connected).peer();
  must(client.send(peer, 0, porous::SendOptions(porous::Mode::reliable).with_receipt(5), "hello"));
  auto packet = *std::move(next(server, OutputType::packet).packet());
  CHECK(packet.text() == "hello" && packet.mode() == porous::Mode::reliable);
  CHECK(next(client, EventType::receipt).token() == 5);
  must(server.send(there, 0, porous::Mode::reliable, must(porous::Blob::copy(packet))));
  // What was moved has nothing.
  porous::Packet moved = std::move(packet);
  CHECK(moved.text() == "hello" && packet.data() == nullptr && packet.text().empty());
  packet = std::move(moved);
  CHECK(packet.text() == "hello" && moved.data() == nullptr && moved.size() == 0);
  CHECK(next(client, OutputType::packet).packet()->text() == "hello");
  std::array<char, 255> greeting;
  CHECK(must(server.greeting(there, greeting)) == 3);
  CHECK(must(client.secured(peer)).server_key_len == 32);

  must(client.ask_peer_stats(peer));
  CHECK(next(client, OutputType::peer_stats).is_known());
  CHECK(must(client.peer_stats()).packets_sent.reliable == 1);
  must(server.ask_stats());
  CHECK(next(server, OutputType::stats).type() == OutputType::stats);
  CHECK(must(server.stats()).connected == 1);
  must(client.ask_send_progress(peer, 0, 5));
  CHECK(!next(client, OutputType::send_progress).is_known());
  must(client.ask_receive_progress(peer, 0));
  CHECK(next(client, OutputType::receive_progress).channel() == 0);
  must(client.set_send_rate(peer, 0));
  must(client.set_receive_rate(peer, 0));
  must(client.set_channel_rate(peer, 0, 0));
  must(client.set_host_send_rate(0));
  must(client.cancel(peer, 0, 9));
}

/// A packet to a peer that has ended comes back, and so does one that is sent again.
void what_cannot_be_sent_comes_back(Thread& server, Thread& client, Peer peer) {
  must(client.disconnect(peer, 7, 1s));
  CHECK(next(server, EventType::disconnected).code() == 7);
  CHECK(next(client, EventType::disconnected).reason() == porous::Reason::by_us);
  const auto status = client.send(peer, 0, porous::Mode::reliable, "late");
  if (!status) {
    CHECK(status.number() == POROUS_ERR_UNKNOWN_PEER);
    return;
  }
  auto output = next(client, OutputType::unsent);
  CHECK(!output.status() && output.packet()->text() == "late");
  must(client.send_again(peer, 0, *output.packet()));
  CHECK(next(client, OutputType::unsent).packet()->text() == "late");
}

void answers_are_told(Thread& server, Thread& client, const std::vector<porous::Address>& places) {
  must(server.listen(porous::Listen::ask));
  must(server.set_security(porous::Security().let_plain_in(true)));
  // The answer comes when the commands before it were carried out.
  must(server.ask_stats());
  next(server, OutputType::stats);
  must(client.connect(places));
  const auto first = next(client, OutputType::connecting);
  CHECK(first.address() == places[0]);
  const auto asked = next(server, EventType::request).peer();
  must(server.refuse(asked, "not you"));
  CHECK(next(client, EventType::disconnected).data() == "not you");
  must(server.accept(asked));
  CHECK(!next(server, OutputType::not_answered).status());
  must(client.connect(std::vector<porous::Address>()));
  CHECK(next(client, OutputType::not_connecting).status().number() == POROUS_ERR_NO_ADDRESS);
  must(client.listen(porous::Listen::open));
  CHECK(next(client, OutputType::not_listening).status().number() == POROUS_ERR_CANNOT_LISTEN);
}

void settings_that_are_refused_are_told(Thread& client, const porous::Address& place) {
  must(client.set_suffix(place, std::string(33, 'x')));
  auto refused = next(client, OutputType::not_suffixed);
  CHECK(refused.status().number() == POROUS_ERR_TOO_LONG && refused.address() == place);
  must(client.set_connection_ids(porous::ConnectionIds::sharded(2, 1)));
  CHECK(next(client, OutputType::ids_unchanged).status().number() == POROUS_ERR_IDS_SHARD);
}

void a_drain_ends_all_connections(Thread& server, Thread& client, const std::vector<porous::Address>& places) {
  must(server.listen(porous::Listen::open));
  must(server.ask_stats());
  next(server, OutputType::stats);
  must(client.connect(places));
  next(client, EventType::connected);
  must(server.drain(9, 10s));
  CHECK(next(client, EventType::disconnected).code() == 9);
  must(client.connect(places));
  CHECK(next(client, EventType::disconnected).reason() == porous::Reason::refused_full);
}

}  // namespace

int main() {
  must(porous::check_abi());
  auto server = must(Thread::bind(config(porous::Preset::recommended), "127.0.0.1:0"));
  auto client = must(Thread::bind(config(porous::Preset::client), "127.0.0.1:0"));
  CHECK(Thread::adopt(porous::Config(), -1).status().number() == POROUS_ERR_VALUE);
  const std::array<porous::Secret, 1> identities = {must(porous::generate_key())};
  must(server.set_security(porous::Security().use_identities(identities)));
  must(server.listen(porous::Listen::open));
  const std::vector<porous::Address> places = {must(server.address())};
  const auto key = must(porous::public_key(identities[0]));
  must(client.connect_sealed(places, porous::Credentials().use_server_key(key).use_greeting("you")));
  const auto peer = next(client, OutputType::connecting).peer();
  CHECK(next(client, EventType::connected).peer() == peer);
  packets_go_both_ways(server, client, peer);
  what_cannot_be_sent_comes_back(server, client, peer);
  answers_are_told(server, client, places);
  settings_that_are_refused_are_told(client, places[0]);
  a_drain_ends_all_connections(server, client, places);
  must(server.close(0, 0us));
  CHECK(server.listen(porous::Listen::open).number() == POROUS_ERR_THREAD_ENDED);
  CHECK(Thread().poll().status().number() == POROUS_ERR_NULL);
  return 0;
}
