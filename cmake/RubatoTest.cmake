# Three ways to register tests:
#   rubato_test(<name> SOURCES ... LIBRARIES ... [TIMEOUT seconds])
#     one process, one CTest entry per test case: <name>.<suite>.<case>
#   rubato_mpi_test(<name> [RANKS 1 2 3 4 5] SOURCES ... LIBRARIES ... [TIMEOUT seconds]
#     [MOSTLY_WAITS])
#     one CTest entry per number of ranks: <name>.np<R>
#   rubato_command_test(<name> <script> [argument...] [PROCESSORS n] [TIMEOUT seconds]
#     [LABELS ...] [ENVIRONMENT variable=value...] [KILL_AT_ONCE])
#     a Python script of this folder, which runs programs; exit status 77 means skipped
# An MPI test program is told how many ranks to expect and fails if it was started with another
# number. PROCESSORS is what a test takes of ctest's jobs: six in the presets, three times the cores
# of a small machine, since half of a test's time is waiting. One that MOSTLY_WAITS, for real
# seconds, takes one. COST lets the wide ones begin first: left to the end, they would run one at a
# time with nothing beside them. ctest gives free jobs to any test that fits, and a wide one has to
# wait while there are narrower ones. So what begins first, wide ones and what others depend on,
# takes three jobs, half of them, whatever its ranks; six only to measure speed with nothing beside.
include(GoogleTest)
find_package(GTest 1.12 REQUIRED)

set(RUBATO_TEST_RANKS 1 2 3 4 5)

# Time limits are meant for an optimised build on two cores; slow build types get more.
set(RUBATO_TIMEOUT_FACTOR 1)
if(RUBATO_SANITIZE OR CMAKE_BUILD_TYPE STREQUAL "Debug")
  set(RUBATO_TIMEOUT_FACTOR 5)
endif()
math(EXPR rubato_case_limit "60 * ${RUBATO_TIMEOUT_FACTOR}")

# Temporary files in memory, where that has 1 GiB of room: thousands of flushes need not wait for a
# disk, which others may use as well. Not with sanitizers: LeakSanitizer itself crashes at the end
# of a program whose Open MPI has its session there.
set(rubato_test_environment "")
execute_process(COMMAND df -P -k /dev/shm
  OUTPUT_VARIABLE rubato_shared_memory ERROR_QUIET RESULT_VARIABLE rubato_df_result)
if(NOT RUBATO_SANITIZE AND rubato_df_result EQUAL 0
    AND rubato_shared_memory MATCHES "\n[^ ]+ +[0-9]+ +[0-9]+ +([0-9]+) "
    AND CMAKE_MATCH_1 GREATER 1048576)
  set(rubato_test_environment TMPDIR=/dev/shm)
endif()

# For every test that starts mpirun: it may run as root (in containers), on fewer cores than ranks,
# unbound; and a single test case that hangs is named before CTest's TIMEOUT ends the whole program.
# GTEST_BRIEF: what a long program says of its failures is not lost in what it says of the rest.
# HWLOC_COMPONENTS: a start would look for ten X displays, 5 s where "localhost" does not resolve.
# Half of the tests' time is the kernel's, most of it for pages that are touched for the first time,
# which a virtual machine may take 40 us for. So mpirun does without the shared memory in which PMIx
# would keep what ranks ask about the job, which it fills with zeros (PMIX_MCA_gds), and what a test
# frees it gets again without asking the kernel (GLIBC_TUNABLES).
set(rubato_gib 1073741824)
set(rubato_keep_memory
  glibc.malloc.mmap_threshold=${rubato_gib}:glibc.malloc.trim_threshold=${rubato_gib})
set(rubato_mpi_environment
  ${rubato_test_environment}
  OMPI_ALLOW_RUN_AS_ROOT=1
  OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  OMPI_MCA_rmaps_base_oversubscribe=1
  OMPI_MCA_hwloc_base_binding_policy=none
  OMPI_MCA_mpi_yield_when_idle=1
  GTEST_BRIEF=1
  HWLOC_COMPONENTS=-gl
  PMIX_MCA_gds=hash
  GLIBC_TUNABLES=${rubato_keep_memory}
  RUBATO_TEST_TIME_LIMIT=${rubato_case_limit})

# For the scripts, besides.
set(rubato_command_environment
  ${rubato_mpi_environment}
  RUBATO_COMMAND=$<TARGET_FILE:rubato>
  RUBATO_MPIEXEC=${MPIEXEC_EXECUTABLE}
  RUBATO_TIME_FACTOR=${RUBATO_TIMEOUT_FACTOR}
  RUBATO_RUN_ON_HOSTS=${PROJECT_SOURCE_DIR}/tests/cluster/run_on_hosts.sh)

# When a rank fails, mpirun gives the others a second after SIGCONT and one after SIGTERM. Tests of
# many failures do without: a failure that all ranks agreed on is told before any of them ends.
set(rubato_kill_at_once OMPI_MCA_odls_base_sigkill_timeout=0)

function(rubato_timeout variable seconds)
  if(NOT seconds)
    set(seconds 120)
  endif()
  math(EXPR limit "${seconds} * ${RUBATO_TIMEOUT_FACTOR}")
  set(${variable} ${limit} PARENT_SCOPE)
endfunction()

# What a test of so many ranks takes of ctest's jobs: no more than half.
function(rubato_processors variable ranks)
  if(ranks GREATER 3)
    set(ranks 3)
  endif()
  set(${variable} ${ranks} PARENT_SCOPE)
endfunction()

function(rubato_test_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBRARIES")
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} GTest::gmock
    rubato_compile_options rubato_warnings rubato_sanitizers)
  target_compile_definitions(${name} PRIVATE RUBATO_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  set_target_properties(${name} PROPERTIES RUBATO_COMPILES_FAST ON)
  # More than half of a test file's compile time is GoogleTest's headers. They fit where MPI's
  # definitions are the same, of which a test without MPI knows nothing.
  target_compile_definitions(${name} PRIVATE
    $<TARGET_PROPERTY:MPI::MPI_CXX,INTERFACE_COMPILE_DEFINITIONS>)
  target_precompile_headers(${name} REUSE_FROM rubato_mpi_test_main)
  list(LENGTH arg_SOURCES files)
  if(files GREATER 3)
    rubato_compile_together(${name})
  endif()
endfunction()

function(rubato_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "SOURCES;LIBRARIES")
  rubato_timeout(timeout "${arg_TIMEOUT}")
  rubato_test_program(${name} SOURCES ${arg_SOURCES} LIBRARIES ${arg_LIBRARIES})
  target_link_libraries(${name} PRIVATE GTest::gtest_main)
  set(properties TIMEOUT ${timeout})
  if(rubato_test_environment)
    list(APPEND properties ENVIRONMENT ${rubato_test_environment})
  endif()
  gtest_discover_tests(${name}
    TEST_PREFIX ${name}. NO_PRETTY_VALUES DISCOVERY_TIMEOUT 60 PROPERTIES ${properties})
endfunction()

function(rubato_mpi_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "MOSTLY_WAITS" "TIMEOUT" "RANKS;SOURCES;LIBRARIES")
  if(NOT arg_RANKS)
    set(arg_RANKS ${RUBATO_TEST_RANKS})
  endif()
  rubato_timeout(timeout "${arg_TIMEOUT}")
  rubato_test_program(${name} SOURCES ${arg_SOURCES} LIBRARIES ${arg_LIBRARIES})
  target_link_libraries(${name} PRIVATE rubato_mpi_test_main)
  foreach(ranks ${arg_RANKS})
    rubato_processors(processors ${ranks})
    if(arg_MOSTLY_WAITS)
      set(processors 1)
    endif()
    add_test(NAME ${name}.np${ranks}
      COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks}
        $<TARGET_FILE:${name}> --expect-ranks=${ranks})
    set_tests_properties(${name}.np${ranks} PROPERTIES
      PROCESSORS ${processors} COST ${processors} TIMEOUT ${timeout} LABELS mpi
      ENVIRONMENT "${rubato_mpi_environment}")
  endforeach()
endfunction()

function(rubato_command_test name script)
  cmake_parse_arguments(
    PARSE_ARGV 2 arg "KILL_AT_ONCE" "PROCESSORS;TIMEOUT" "LABELS;ENVIRONMENT")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)  # of each wait a script itself says what did not come
  endif()
  rubato_timeout(timeout ${arg_TIMEOUT})
  set(labels mpi ${arg_LABELS})
  set(environment ${rubato_command_environment} ${arg_ENVIRONMENT})
  if(arg_KILL_AT_ONCE)
    list(APPEND environment ${rubato_kill_at_once})
  endif()
  if(NOT arg_PROCESSORS)
    set(arg_PROCESSORS 1)
  endif()
  add_test(NAME ${name}
    COMMAND Python3::Interpreter -B ${CMAKE_CURRENT_SOURCE_DIR}/${script}
      ${arg_UNPARSED_ARGUMENTS})
  set_tests_properties(${name} PROPERTIES
    SKIP_RETURN_CODE 77 PROCESSORS ${arg_PROCESSORS} COST ${arg_PROCESSORS} TIMEOUT ${timeout}
    LABELS "${labels}" ENVIRONMENT "${environment}")
endfunction()
