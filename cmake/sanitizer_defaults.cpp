// What AddressSanitizer and LeakSanitizer shall do in a program of ours, compiled into it when
// RUBATO_SANITIZE is on.
//
// Open MPI and the libraries it loads keep some memory until the process ends, often allocated by
// plug-ins that are unloaded by then. We hold ourselves to no leaks and do not report theirs. The
// cost: a leak that passes through an Open MPI frame, as in a callback that MPI calls, goes unseen.
extern "C" {

const char* __asan_default_options();
const char* __lsan_default_options();
const char* __lsan_default_suppressions();
const char* __ubsan_default_options();

const char* __asan_default_options() {
  return "detect_stack_use_after_return=1:strict_string_checks=1";
}

const char* __lsan_default_options() { return "print_suppressions=0"; }

const char* __lsan_default_suppressions() {
  return "leak:libmpi\nleak:libopen-pal\nleak:libopen-rte\nleak:libpmix\nleak:libhwloc\n"
         "leak:libevent\nleak:libucp\nleak:libucs\nleak:libibverbs\nleak:mca_\n";
}

const char* __ubsan_default_options() { return "print_stacktrace=1"; }

}  // extern "C"
