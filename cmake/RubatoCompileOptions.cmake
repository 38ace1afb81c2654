# Compile options as INTERFACE targets, linked privately by every target of this project.
#
# Bit-for-bit results forbid two freedoms: contracting a*b+c into one rounding (it depends on how the compiler
# schedules) and -ffast-math (it reorders sums). Hot loops get -O3 in every optimised build type: at -O2 g++ 12 leaves
# them scalar.
add_library(rubato_compile_options INTERFACE)
target_compile_features(rubato_compile_options INTERFACE cxx_std_20)
target_compile_options(rubato_compile_options INTERFACE
  -ffp-contract=off
  -fno-fast-math
  $<$<NOT:$<CONFIG:Debug>>:-O3>
  -fno-math-errno
  -fvisibility-inlines-hidden)
if(RUBATO_ARCH AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  target_compile_options(rubato_compile_options INTERFACE -march=${RUBATO_ARCH})
endif()

add_library(rubato_warnings INTERFACE)
target_compile_options(rubato_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor -Woverloaded-virtual
  -Wcast-align -Wformat=2 -Wimplicit-fallthrough
  $<$<BOOL:${RUBATO_WARNINGS_AS_ERRORS}>:-Werror>)

add_library(rubato_sanitizers INTERFACE)
if(RUBATO_SANITIZE)
  target_compile_options(rubato_sanitizers INTERFACE
    -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -g)
  target_link_options(rubato_sanitizers INTERFACE -fsanitize=address,undefined)
  target_compile_definitions(rubato_sanitizers INTERFACE _GLIBCXX_ASSERTIONS)
endif()
