/* Uses two libraries of Rust, of which each unwinds and has memory of its own. */
#include "porous.h"

uint32_t other_sum(uint32_t end);

int main(void) {
  static const uint8_t seed[32] = {1};
  porous_config config;
  porous_host *host;
  porous_blob *blob;
  if (porous_config_init(&config, sizeof config, POROUS_PRESET_DEFAULT) || porous_core_new(&config, seed, &host)) {
    return 1;
  }
  if (other_sum(5) != 10 || porous_blob_copy("bytes", 5, &blob)) {
    return 2;
  }
  porous_blob_free(blob);
  return porous_host_free(host) == POROUS_OK ? 0 : 3;
}
