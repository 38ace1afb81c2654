# Compile options as INTERFACE targets, linked privately by every target of this project.
#
# Bit-for-bit results forbid two freedoms: contracting a*b+c into one rounding (whether it happens
# depends on how the compiler schedules) and -ffast-math (it reorders sums). Hot loops get -O3 in
# every optimised build type: at -O2 g++ 12 leaves them scalar.
set(RUBATO_COMPILE_OPTIONS)
if(RUBATO_ARCH AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  list(APPEND RUBATO_COMPILE_OPTIONS -march=${RUBATO_ARCH})
endif()
if(RUBATO_SANITIZE)
  list(APPEND RUBATO_COMPILE_OPTIONS -O1)  # half the time to compile
elseif(NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
  list(APPEND RUBATO_COMPILE_OPTIONS -O3)
endif()
# Last, so that no other option brings back what they forbid. -fno-fast-math also means
# -fmath-errno, with which a loop that takes square roots stays scalar.
list(APPEND RUBATO_COMPILE_OPTIONS -fno-fast-math -fno-math-errno -ffp-contract=off)

add_library(rubato_compile_options INTERFACE)
target_compile_features(rubato_compile_options INTERFACE cxx_std_20)
target_compile_options(rubato_compile_options INTERFACE
  ${RUBATO_COMPILE_OPTIONS} -fvisibility-inlines-hidden)
# Test programs and the command set this property: their own code is not hot, and compiles in two
# thirds of the time.
if(NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
  target_compile_options(rubato_compile_options INTERFACE
    $<$<BOOL:$<TARGET_PROPERTY:RUBATO_COMPILES_FAST>>:-O1>)
endif()

# rubato_compile_together(<target>): where RUBATO_UNITY_BUILD is on, many files at a time, in
# half of the time: much of it goes into headers and templates that they share. Not for hot loops,
# neither whole folders of them nor single files (rubato_compile_alone): what is inlined there shall
# not depend on a neighbour. Names in anonymous namespaces differ within such a target
# (tests/build/check_names.py).
function(rubato_compile_together target)
  set_target_properties(${target} PROPERTIES
    UNITY_BUILD ${RUBATO_UNITY_BUILD} UNITY_BUILD_BATCH_SIZE 16)
endfunction()

# rubato_compile_alone(<file>...): not with the others of this folder.
function(rubato_compile_alone)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

add_library(rubato_warnings INTERFACE)
target_compile_options(rubato_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor
  -Woverloaded-virtual -Wcast-align -Wformat=2 -Wimplicit-fallthrough
  # At -O1 g++ 12 takes the sum of two strings for a write beyond the first.
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<BOOL:$<TARGET_PROPERTY:RUBATO_COMPILES_FAST>>>:
    -Wno-array-bounds -Wno-stringop-overflow>
  # A local name may be that of something in a file that is compiled together with it.
  $<$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>:-Wno-shadow>
  $<$<BOOL:${RUBATO_WARNINGS_AS_ERRORS}>:-Werror>)

# Programs also carry sanitizer_defaults.cpp, so that they behave alike under ctest, mpirun and by
# hand.
add_library(rubato_sanitizers INTERFACE)
if(RUBATO_SANITIZE)
  target_compile_options(rubato_sanitizers INTERFACE
    -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -g)
  target_link_options(rubato_sanitizers INTERFACE -fsanitize=address,undefined)
  target_compile_definitions(rubato_sanitizers INTERFACE _GLIBCXX_ASSERTIONS)
  set(is_program $<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>)
  target_sources(rubato_sanitizers INTERFACE
    $<${is_program}:${CMAKE_CURRENT_LIST_DIR}/sanitizer_defaults.cpp>)
endif()
if(RUBATO_BUILD_FUZZERS)
  target_compile_options(rubato_sanitizers INTERFACE -fsanitize=fuzzer-no-link)
endif()
