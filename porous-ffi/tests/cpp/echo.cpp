// A server and a client in one program, over UDP: the client says hello, and the server says it back.

#include <cstdio>
#include <cstdlib>

#include "porous.hpp"

using namespace std::chrono_literals;

namespace {

void must(porous::Status status) {
  if (!status) {
    std::fprintf(stderr, "porous: %s\n", status.text());
    std::exit(1);
  }
}

template <class T>
T must(porous::Result<T> result) {
  must(result.status());
  return *std::move(result);
}

/// Says back what has come.
void serve(porous::Host& server) {
  must(server.step());
  for (auto& event : server.events()) {
    if (event.type() != porous::EventType::readable) continue;
    while (auto packet = server.receive(event.peer())) {
      must(server.send(event.peer(), packet->channel(), packet->mode(), *packet));
    }
  }
}

/// Says hello; true when it was said back.
bool talk(porous::Host& client) {
  must(client.wait(1ms));
  for (auto& event : client.events()) {
    if (event.type() == porous::EventType::connected) {
      must(client.send(event.peer(), 0, porous::Mode::reliable, "hello"));
    }
    while (auto packet = client.receive(event.peer())) {
      std::printf("%.*s\n", static_cast<int>(packet->size()), packet->text().data());
      return true;
    }
  }
  return false;
}

}  // namespace

int main() {
  must(porous::check_abi());
  auto server = must(porous::Host::bind(porous::Config(), "127.0.0.1:0"));
  auto client = must(porous::Host::bind(porous::Config(porous::Preset::client), "127.0.0.1:0"));
  must(server.listen(porous::Listen::open));
  must(client.connect(must(server.address())));
  for (int turn = 0; turn < 10000; ++turn) {
    if (talk(client)) return 0;
    serve(server);
  }
  std::fprintf(stderr, "nothing was said back\n");
  return 1;
}
