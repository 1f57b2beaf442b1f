/* A server and a client in one program, over UDP: the client says hello, and the server says it back. */
#include "porous.h"

#include <stdio.h>
#include <stdlib.h>

static porous_status must(porous_status status) {
  if (status < 0) {
    fprintf(stderr, "porous: %s\n", porous_status_text(status));
    exit(1);
  }
  return status;
}

static porous_host *bound(uint32_t preset) {
  porous_config config;
  porous_host *host;
  must(porous_config_init(&config, sizeof config, preset));
  must(porous_udp_bind(&config, "127.0.0.1:0", &host));
  return host;
}

/* Says back what has come. */
static void serve(porous_host *server) {
  porous_event event = {0};
  event.size = sizeof event;
  must(porous_udp_step(server));
  while (must(porous_poll_event(server, &event))) {
    if (event.type == POROUS_EVENT_READABLE) {
      porous_received what;
      char packet[64];
      while (must(porous_receive(server, event.peer, &what, packet, sizeof packet))) {
        must(porous_send(server, event.peer, what.channel, POROUS_RELIABLE, packet, (size_t)what.len));
      }
    }
  }
}

/* Says hello; returns 1 when it was said back. */
static int talk(porous_host *client) {
  porous_event event = {0};
  event.size = sizeof event;
  must(porous_udp_wait(client, 1000));
  while (must(porous_poll_event(client, &event))) {
    if (event.type == POROUS_EVENT_CONNECTED) {
      must(porous_send(client, event.peer, 0, POROUS_RELIABLE, "hello", 5));
    } else if (event.type == POROUS_EVENT_READABLE) {
      porous_received what;
      char packet[64];
      must(porous_receive(client, event.peer, &what, packet, sizeof packet));
      printf("%.*s\n", (int)what.len, packet);
      return 1;
    }
  }
  return 0;
}

int main(void) {
  porous_host *server, *client;
  porous_address address;
  porous_peer peer;
  must(porous_check_abi(POROUS_ABI));
  server = bound(POROUS_PRESET_DEFAULT);
  client = bound(POROUS_PRESET_CLIENT);
  must(porous_listen(server, POROUS_LISTEN_OPEN));
  must(porous_udp_address(server, &address));
  must(porous_connect(client, &address, &peer));
  while (!talk(client)) {
    serve(server);
  }
  must(porous_host_free(client));
  must(porous_host_free(server));
  return 0;
}
