# rubato_generate_version(<target>)
# Lets the sources of <target> include "runtime/version.hpp": the version and git revision of this
# build, its compiler, build type and flags. The revision is read at every build, not at configure
# time, so that it cannot go stale; the header is rewritten, and its users recompiled, only when
# something in it changed.
function(rubato_generate_version target)
  set(header ${PROJECT_BINARY_DIR}/generated/runtime/version.hpp)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
  list(JOIN RUBATO_COMPILE_OPTIONS " " options)
  string(STRIP "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${build_type}} ${options}" flags)
  add_custom_target(${target}_version
    COMMAND ${CMAKE_COMMAND}
      -D "template=${PROJECT_SOURCE_DIR}/cmake/version.hpp.in" -D "header=${header}"
      -D "source_dir=${PROJECT_SOURCE_DIR}" -D "version=${PROJECT_VERSION}"
      -D "compiler=${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}"
      -D "build_type=${CMAKE_BUILD_TYPE}" -D "flags=${flags}"
      -P ${PROJECT_SOURCE_DIR}/cmake/write_version.cmake
    BYPRODUCTS ${header}
    COMMENT "Looking up the git revision"
    VERBATIM)
  add_dependencies(${target} ${target}_version)
  target_include_directories(${target} PRIVATE ${PROJECT_BINARY_DIR}/generated)
endfunction()
