# Two ways to register a test program:
#   rubato_test(<name> SOURCES ... LIBRARIES ... [TIMEOUT seconds])
#     one process, one CTest entry per test case: <name>.<suite>.<case>
#   rubato_mpi_test(<name> [RANKS 1 2 3 4 5] SOURCES ... LIBRARIES ... [TIMEOUT seconds])
#     one CTest entry per number of ranks: <name>.np<R>
# An MPI test program is told how many ranks to expect and fails if it was started with another
# number. PROCESSORS keeps a parallel ctest from starting more beside one that fills the cores.
include(GoogleTest)
find_package(GTest 1.12 REQUIRED)

set(RUBATO_TEST_RANKS 1 2 3 4 5)

# Time limits are meant for an optimised build on two cores; slow build types get more.
set(RUBATO_TIMEOUT_FACTOR 1)
if(RUBATO_SANITIZE OR CMAKE_BUILD_TYPE STREQUAL "Debug")
  set(RUBATO_TIMEOUT_FACTOR 5)
endif()
math(EXPR rubato_case_limit "60 * ${RUBATO_TIMEOUT_FACTOR}")

# For every test that starts mpirun: it may run as root (in containers), on fewer cores than ranks,
# unbound; and a single test case that hangs is named before CTest's TIMEOUT ends the whole program.
# HWLOC_COMPONENTS: a start would look for ten X displays, 5 s where "localhost" does not resolve.
set(rubato_mpi_environment
  OMPI_ALLOW_RUN_AS_ROOT=1
  OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  OMPI_MCA_rmaps_base_oversubscribe=1
  OMPI_MCA_hwloc_base_binding_policy=none
  OMPI_MCA_mpi_yield_when_idle=1
  HWLOC_COMPONENTS=-gl
  RUBATO_TEST_TIME_LIMIT=${rubato_case_limit})

function(rubato_timeout variable seconds)
  if(NOT seconds)
    set(seconds 120)
  endif()
  math(EXPR limit "${seconds} * ${RUBATO_TIMEOUT_FACTOR}")
  set(${variable} ${limit} PARENT_SCOPE)
endfunction()

function(rubato_test_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBRARIES")
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} GTest::gmock
    rubato_compile_options rubato_warnings rubato_sanitizers)
  target_compile_definitions(${name} PRIVATE RUBATO_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  set_target_properties(${name} PROPERTIES RUBATO_COMPILES_FAST ON)
  # More than half of a test file's compile time is GoogleTest's headers.
  list(LENGTH arg_SOURCES files)
  if(files GREATER 3)
    target_precompile_headers(${name} PRIVATE <gmock/gmock.h> <gtest/gtest.h>)
  endif()
endfunction()

function(rubato_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "SOURCES;LIBRARIES")
  rubato_timeout(timeout "${arg_TIMEOUT}")
  rubato_test_program(${name} SOURCES ${arg_SOURCES} LIBRARIES ${arg_LIBRARIES})
  target_link_libraries(${name} PRIVATE GTest::gtest_main)
  gtest_discover_tests(${name}
    TEST_PREFIX ${name}. NO_PRETTY_VALUES DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT ${timeout})
endfunction()

function(rubato_mpi_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "RANKS;SOURCES;LIBRARIES")
  if(NOT arg_RANKS)
    set(arg_RANKS ${RUBATO_TEST_RANKS})
  endif()
  rubato_timeout(timeout "${arg_TIMEOUT}")
  rubato_test_program(${name} SOURCES ${arg_SOURCES} LIBRARIES ${arg_LIBRARIES})
  target_link_libraries(${name} PRIVATE rubato_mpi_test_main)
  foreach(ranks ${arg_RANKS})
    add_test(NAME ${name}.np${ranks}
      COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks}
        $<TARGET_FILE:${name}> --expect-ranks=${ranks})
    set_tests_properties(${name}.np${ranks} PROPERTIES
      PROCESSORS ${ranks} TIMEOUT ${timeout} LABELS mpi
      ENVIRONMENT "${rubato_mpi_environment}")
  endforeach()
endfunction()
