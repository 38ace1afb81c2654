// Preloaded into a program: write() takes at most 1000 bytes, and every third call is interrupted.
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

extern "C" ssize_t write(int descriptor, const void* bytes, size_t count) {
  using Write = ssize_t (*)(int, const void*, size_t);
  static const auto real_write = reinterpret_cast<Write>(::dlsym(RTLD_NEXT, "write"));
  static int calls = 0;
  if (++calls % 3 == 0) {
    errno = EINTR;
    return -1;
  }
  constexpr size_t most_bytes = 1000;
  return real_write(descriptor, bytes, std::min(count, most_bytes));
}
