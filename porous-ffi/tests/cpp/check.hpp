// What the tests share: a condition that ends the program, and a host that is sure to be there.

#ifndef POROUS_TESTS_CHECK_HPP
#define POROUS_TESTS_CHECK_HPP

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "porous.hpp"

[[noreturn]] inline void fail(const char* file, int line, const char* what) {
  std::fprintf(stderr, "%s:%d: not true: %s\n", file, line, what);
  std::exit(1);
}

#define CHECK(condition)                                    \
  do {                                                      \
    if (!(condition)) fail(__FILE__, __LINE__, #condition); \
  } while (false)

/// The value of a call that must not fail.
template <class T>
T must(porous::Result<T> result) {
  if (!result) {
    std::fprintf(stderr, "porous: %s\n", result.status().text());
    std::exit(1);
  }
  return *std::move(result);
}

inline void must(porous::Status status) {
  if (!status) {
    std::fprintf(stderr, "porous: %s\n", status.text());
    std::exit(1);
  }
}

#endif
