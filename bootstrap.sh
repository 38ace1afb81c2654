#!/bin/bash
# Builds, tests and demonstrates Rubato on Debian 12, from nothing but a clone: ./bootstrap.sh help
#
# Every command first looks which packages are missing; only to install those it needs root and a
# network. A stage that goes well costs one line; one that fails shows what its log says about it.
# The logs stay in build/logs.
set -euo pipefail
cd "$(dirname "$0")"

readonly logs=build/logs
readonly fuzz_seconds=${FUZZ_SECONDS:-60}

usage() {
  cat <<'END'
usage: ./bootstrap.sh demo    build the command; train the digits on 2 ranks, the batch size growing
       ./bootstrap.sh test    build everything (release) and run all tests
       ./bootstrap.sh build   build everything (release); the command is build/release/app/rubato
       ./bootstrap.sh check   both compilers without a warning, formatting, sanitizers, fuzzing
       ./bootstrap.sh bench   build the measurements and run all of them; the results stay in
                              build/bench/results. With --quick each runs for a moment only
       ./bootstrap.sh help    this text

Missing Debian packages are installed with apt-get, as root or through sudo.
JOBS=2 is the number of compilers at a time (default: one per core, fewer where memory is short),
FUZZ_SECONDS=60 the time that check gives each fuzz target.
END
}

say() { printf '%s%s%s\n' "$bold" "$*" "$plain"; }
fail() { printf '%sbootstrap.sh: %s%s\n' "$red" "$*" "$plain" >&2; }

use_colour_on_a_terminal() {
  bold='' red='' plain=''
  if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
    bold=$'\e[1m' red=$'\e[31m' plain=$'\e[0m'
  fi
}

# Compilers at a time: one per core, but each wants about 1.5 GiB of memory.
default_jobs() {
  local cores room
  cores=$(nproc)
  room=$(awk '/^MemAvailable:/ { print int($2 / (1.5 * 1024 * 1024)) }' /proc/meminfo)
  if [ "${room:-$cores}" -lt "$cores" ]; then cores=$room; fi
  if [ "$cores" -lt 1 ]; then cores=1; fi
  echo "$cores"
}

# Open MPI refuses to run as root, and to start more ranks than cores, unless told otherwise. And
# its hwloc looks for X displays, which costs 5 s a start where "localhost" does not resolve.
prepare_mpi() {
  if [ "$(id -u)" = 0 ]; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  fi
  export OMPI_MCA_rmaps_base_oversubscribe=1 HWLOC_COMPONENTS=${HWLOC_COMPONENTS:--gl}
}

# --- packages -------------------------------------------------------------------------------------

readonly build_packages=(
  g++ cmake ninja-build               # compiler and build tools
  libopenmpi-dev openmpi-bin          # MPI
  libeigen3-dev libdnnl-dev           # matrix products, convolutions
  libhdf5-dev libssl-dev              # checkpoints and their digests
  zlib1g-dev nlohmann-json3-dev       # data sets, machine-readable output
  librandom123-dev                    # counter-based random numbers
  libboost-program-options-dev        # command line
  libprotobuf-dev protobuf-compiler   # event files for TensorBoard
)
readonly test_packages=(
  libgtest-dev libgmock-dev python3
  python3-protobuf                    # reads event files back
  iproute2 strace                     # several hosts on one machine; faults in system calls
  gnuplot-nox                         # the plots of reports; an optional dependency of the command
)
readonly check_packages=(clang clang-format libclang-rt-14-dev llvm)
readonly bench_packages=(libbenchmark-dev python3)

is_installed() {
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# install_missing REASON PACKAGE...
install_missing() {
  local reason=$1 package missing=() as_root=()
  shift
  if ! command -v dpkg-query >/dev/null; then
    say "This is not Debian, so nothing is installed here; $reason takes what Debian calls: $*"
    return
  fi
  for package in "$@"; do
    is_installed "$package" || missing+=("$package")
  done
  if [ ${#missing[@]} = 0 ]; then return; fi

  say "Missing for $reason: ${missing[*]}"
  if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo >/dev/null; then
      fail "installing them needs root, and there is no sudo; run this as root:" \
        "apt-get install --no-install-recommends ${missing[*]}"
      exit 1
    fi
    as_root=(sudo)
  fi
  stage 'update the package lists' "${as_root[@]}" apt-get -q update
  stage "install ${#missing[@]} packages" "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -q -y --no-install-recommends install "${missing[@]}"
}

# --- stages ---------------------------------------------------------------------------------------

# stage NAME COMMAND...: runs the command quietly; ends this script with the log's tail if it fails.
stage() {
  local name=$1 log=$logs/${1//[^a-zA-Z0-9]/-}.log start=$SECONDS status=0 progress=''
  shift
  mkdir -p "$logs"
  printf '%-44s' "  $name"
  if [ -t 1 ]; then
    show_progress "$name" "$log" &
    progress=$!
  fi
  "$@" >"$log" 2>&1 </dev/null || status=$?
  if [ -n "$progress" ]; then
    kill "$progress"
    wait "$progress" 2>/dev/null || true
    printf '\r\e[K%-44s' "  $name"
  fi
  if [ $status = 0 ]; then
    printf '%5d s\n' $((SECONDS - start))
    return
  fi
  printf ' %sfailed%s after %d s\n' "$red" "$plain" $((SECONDS - start))
  if grep -q '^The following tests FAILED' "$log"; then
    failed_tests "$log"
  else
    tail -n 40 "$log"
  fi
  fail "\"$name\" failed; all of its output is in $log"
  exit 1
}

# How far a build or the tests have come, each second: the last "[12/345]" or "12/345" of the log.
# It ends with the script, also where that is killed by itself.
show_progress() { # show_progress NAME LOG
  while sleep 1 && kill -0 $$ 2>/dev/null; do
    printf '\r%-44s%s' "  $1" \
      "$(tail -n 20 "$2" 2>/dev/null | sed -nE 's|^ *\[?([0-9]+/[0-9]+).*|\1|p' | tail -n 1)"
  done
}

# The output of the tests that failed, at most 60 lines of each, and ctest's own summary.
failed_tests() {
  awk '/^ *[0-9]+\/[0-9]+ Test +#/ { shown = /\*\*\*/ && !/\*\*\*Skipped/ ? 60 : 0 }
       /^ +Start +[0-9]+: / { shown = 0 }
       /% tests passed/ { shown = 1e9 }
       shown-- > 0' "$1"
}

build() { # build PRESET [TARGET]
  local preset=$1 only=()
  if [ $# -gt 1 ]; then only=(--target "$2"); fi
  stage "configure $preset" cmake --preset "$preset"
  stage "build $preset" cmake --build --preset "$preset" -j "$jobs" "${only[@]}"
}

# ctest itself fails if a test failed or none was found. Its verdict closes the output.
run_tests() { # run_tests PRESET
  stage "test $1" ctest --preset "$1"
  skipped_tests "build/$1/Testing/Temporary/LastTest.log"
  grep '% tests passed' "$logs/test-$1.log"
}

# A test that cannot run here says why in a line of its own.
skipped_tests() {
  sed -n 's/^skipped: /  skipped: /p' "$1" | sort -u
}

# --- commands -------------------------------------------------------------------------------------

demo() {
  install_missing 'building' "${build_packages[@]}"
  stage 'configure release' cmake --preset release -D RUBATO_BUILD_TESTS=OFF
  stage 'build the command' cmake --build --preset release -j "$jobs" --target rubato
  examples/demo.sh build/release/app/rubato
}

build_everything() {
  install_missing 'building and testing' "${build_packages[@]}" "${test_packages[@]}"
  build release
  say 'Built: build/release/app/rubato'
}

test_everything() {
  install_missing 'building and testing' "${build_packages[@]}" "${test_packages[@]}"
  build release
  run_tests release
}

check() {
  install_missing 'checking' "${build_packages[@]}" "${test_packages[@]}" "${bench_packages[@]}" \
    "${check_packages[@]}"
  stage 'formatting' check_formatting
  build dev
  build clang
  build sanitize
  run_tests sanitize
  build fuzz rubato_fuzzers
  fuzz
  say 'All checks passed.'
}

check_formatting() {
  git ls-files -z '*.cpp' '*.hpp' | xargs -0 clang-format --dry-run --Werror &&
    python3 -B tests/build/check_sizes.py .
}

# New inputs of interest go to the target's corpus in build/, one that breaks it beside the target.
fuzz() {
  local target found=0
  for target in build/fuzz/fuzzers/*; do
    if [ ! -f "$target" ] || [ ! -x "$target" ]; then continue; fi
    found=1
    stage "fuzz ${target##*/} for $fuzz_seconds s" "$target" -max_total_time="$fuzz_seconds" \
      -rss_limit_mb=4096 -timeout=20 -artifact_prefix="$target-" "$target.corpus"
  done
  if [ $found = 0 ]; then
    fail 'there is no fuzz target in build/fuzz/fuzzers'
    exit 1
  fi
}

# Of the options of bench/run_all.py, --quick is the one of interest. The distribution's Python comes
# first: it has the distribution's PyTorch, which is not installed for this.
bench() { # bench [OPTION...]
  install_missing 'measuring' "${build_packages[@]}" "${bench_packages[@]}"
  build bench
  PATH=/usr/bin:$PATH python3 -B bench/run_all.py --build build/bench "$@"
}

use_colour_on_a_terminal
prepare_mpi
jobs=${JOBS:-$(default_jobs)}
case ${1:-help} in
  demo) demo ;;
  test) test_everything ;;
  build) build_everything ;;
  check) check ;;
  bench) bench "${@:2}" ;;
  help | -h | --help) usage ;;
  *)
    fail "unknown command '$1'"
    usage >&2
    exit 64
    ;;
esac
