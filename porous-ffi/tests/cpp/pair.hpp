// Two hosts without sockets, and between them a network that loses datagrams, in virtual time.

#ifndef POROUS_TESTS_PAIR_HPP
#define POROUS_TESTS_PAIR_HPP

#include <string>
#include <vector>

#include "check.hpp"

/// The seed of a host of a test, which makes its run repeatable.
inline porous::Seed seed_of(std::uint8_t number) {
  porous::Seed seed = {};
  seed[0] = number;
  return seed;
}

/// Where a host of a test is.
inline porous::Address place(char name) { return must(porous::Address::own(std::string(1, name), 1)); }

struct Datagram {
  porous::Address to;
  porous::Ecn ecn;
  std::vector<std::uint8_t> bytes;
};

/// A listener and a client, which have not connected.
class Pair {
 public:
  Pair(const porous::Config& of_server, const porous::Config& of_client)
      : server(must(porous::Host::core(of_server, seed_of(1)))),
        client(must(porous::Host::core(of_client, seed_of(2)))) {
    must(server.listen(porous::Listen::open));
  }

  /// Loses one of this number of datagrams; none, if it is 0.
  void lose_one_of(std::size_t number) { lose_ = number; }

  /// A turn of 5 ms, which each datagram that is not lost takes on its way.
  void turn() {
    now_ += porous::Microseconds(5000);
    must(server.core_time(now_));
    must(client.core_time(now_));
    deliver(to_client_, client, place('s'));
    deliver(to_server_, server, place('c'));
    must(server.core_timeout());
    must(client.core_timeout());
    collect(server, to_client_);
    collect(client, to_server_);
  }

  porous::Host server;
  porous::Host client;

 private:
  void deliver(std::vector<Datagram>& under_way, porous::Host& host, const porous::Address& from) {
    for (const auto& datagram : under_way) {
      const bool lost = lose_ != 0 && ++sent_ % lose_ == 0;
      if (!lost) CHECK(host.core_input(from, datagram.bytes, datagram.ecn));
    }
    under_way.clear();
  }

  void collect(porous::Host& host, std::vector<Datagram>& under_way) {
    std::vector<std::uint8_t> buffer(must(host.core_buffer_size()));
    while (auto transmit = host.core_output(buffer)) {
      const auto end = buffer.begin() + static_cast<std::ptrdiff_t>(transmit->len);
      under_way.push_back({transmit->to, static_cast<porous::Ecn>(transmit->ecn), {buffer.begin(), end}});
    }
  }

  porous::Microseconds now_{0};
  std::size_t lose_ = 0;
  std::size_t sent_ = 0;
  std::vector<Datagram> to_client_;
  std::vector<Datagram> to_server_;
};

#endif
