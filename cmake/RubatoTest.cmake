# Two ways to register a test program:
#   rubato_test(<name> SOURCES ... LIBRARIES ...)              one process, one CTest entry per test case
#   rubato_mpi_test(<name> RANKS 1 2 3 4 5 SOURCES ... LIBRARIES ... [TIMEOUT seconds])
#                                                              one CTest entry per rank count: <name>.np<R>
# An MPI test program is told how many ranks to expect and fails if it was started with another number.
include(GoogleTest)
find_package(GTest 1.12 REQUIRED)

set(RUBATO_TEST_RANKS 1 2 3 4 5)
set(rubato_mpi_environment
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_mpi_yield_when_idle=1
  LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/cmake/leak_suppressions.txt:print_suppressions=0)

function(rubato_test_program name)
  cmake_parse_arguments(arg "" "" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES}
    rubato_compile_options rubato_warnings rubato_sanitizers)
  target_compile_definitions(${name} PRIVATE RUBATO_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
endfunction()

function(rubato_test name)
  rubato_test_program(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE GTest::gtest_main GTest::gmock)
  gtest_discover_tests(${name} TEST_PREFIX ${name}. DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 120)
endfunction()

function(rubato_mpi_test name)
  cmake_parse_arguments(arg "" "TIMEOUT" "RANKS;SOURCES;LIBRARIES" ${ARGN})
  if(NOT arg_RANKS)
    set(arg_RANKS ${RUBATO_TEST_RANKS})
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  rubato_test_program(${name} SOURCES ${arg_SOURCES} LIBRARIES ${arg_LIBRARIES})
  target_link_libraries(${name} PRIVATE rubato_mpi_test_main GTest::gtest GTest::gmock)
  foreach(ranks ${arg_RANKS})
    add_test(NAME ${name}.np${ranks}
      COMMAND ${MPIEXEC_EXECUTABLE} -q ${MPIEXEC_NUMPROC_FLAG} ${ranks} $<TARGET_FILE:${name}> --expect-ranks=${ranks})
    set_tests_properties(${name}.np${ranks} PROPERTIES
      PROCESSORS ${ranks} TIMEOUT ${arg_TIMEOUT} LABELS mpi ENVIRONMENT "${rubato_mpi_environment}")
  endforeach()
endfunction()
