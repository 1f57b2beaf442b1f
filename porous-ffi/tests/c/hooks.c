/* All memory of the library comes from the program, and goes back to it. For a library with the feature `hooks`. */
#define POROUS_WITH_HOOKS
#include "check.h"

/* What is given and was not taken back. One thread calls the library here. */
typedef struct account {
  size_t bytes;
  size_t blocks;
} account;

static void *give(void *user, size_t size, size_t align) {
  account *books = (account *)user;
  /* A size that aligned_alloc takes. */
  void *memory = aligned_alloc(align, (size + align - 1) / align * align);
  HOLDS(size > 0 && memory != NULL);
  books->bytes += size;
  books->blocks++;
  return memory;
}

static void take(void *user, void *memory, size_t size, size_t align) {
  account *books = (account *)user;
  HOLDS(align > 0 && books->bytes >= size && books->blocks > 0);
  books->bytes -= size;
  books->blocks--;
  free(memory);
}

int main(void) {
  static account books;
  porous_config config = preset(POROUS_PRESET_DEFAULT);
  porous_host *host;
  account before;
  IS(porous_check_abi(POROUS_ABI), POROUS_OK);
  IS(porous_set_allocator(NULL, take, &books), POROUS_ERR_NULL);
  IS(porous_set_allocator(give, NULL, &books), POROUS_ERR_NULL);
  IS(porous_set_allocator(give, take, &books), POROUS_OK);
  IS(porous_set_allocator(give, take, &books), POROUS_ERR_BUSY);
  before = books;
  host = core_host(&config, 1);
  HOLDS(books.bytes > before.bytes && books.blocks > before.blocks);
  IS(porous_listen(host, POROUS_LISTEN_OPEN), POROUS_OK);
  IS(porous_host_free(host), POROUS_OK);
  HOLDS(books.bytes == before.bytes && books.blocks == before.blocks);
  printf("the program gave all memory\n");
  return 0;
}
