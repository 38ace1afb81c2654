// What AddressSanitizer and LeakSanitizer shall do in a program of ours, compiled into it when
// RUBATO_SANITIZE is on.
//
// Open MPI and the libraries it loads keep some memory until the process ends. We hold ourselves to
// no leaks and do not report theirs. They are recognised by their names, so a plug-in must not be
// unloaded before the leaks are counted: dlclose does nothing here. Of what they print into memory
// (vasprintf, which we do not use) only the C library's frame is known. The cost: a leak that
// passes through an Open MPI frame, as in a callback that MPI calls, goes unseen.
//
// GCC 12's LeakSanitizer takes the memory of a thread's variables of a plug-in for one with a
// header as of glibc 2.19 if it happens to begin 16 bytes into a page, reads where that points, and
// dies. It is not told of such memory (intercept_tls_get_addr).
extern "C" {

int dlclose(void*) noexcept;
const char* __asan_default_options();
const char* __lsan_default_options();
const char* __lsan_default_suppressions();
const char* __ubsan_default_options();

int dlclose(void*) noexcept { return 0; }

const char* __asan_default_options() {
  return "detect_stack_use_after_return=1:strict_string_checks=1:intercept_tls_get_addr=0";
}

const char* __lsan_default_options() { return "print_suppressions=0"; }

const char* __lsan_default_suppressions() {
  return "leak:libmpi\nleak:libopen-pal\nleak:libopen-rte\nleak:libpmix\nleak:libhwloc\n"
         "leak:libevent\nleak:libucp\nleak:libucs\nleak:libibverbs\nleak:mca_\nleak:vasprintf\n";
}

const char* __ubsan_default_options() { return "print_stacktrace=1"; }

}  // extern "C"
