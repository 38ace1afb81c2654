# rubato_fuzz_target(<name> SOURCES ... LIBRARIES ... [CORPUS folder])
# A libFuzzer program, built where RUBATO_BUILD_FUZZERS is on (clang only) and run by
# `./bootstrap.sh check`. It lands in <build>/fuzzers/<name>, the files of its seed corpus in
# <build>/fuzzers/<name>.corpus. The target rubato_fuzzers builds all of them.
if(RUBATO_BUILD_FUZZERS)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR
      "RUBATO_BUILD_FUZZERS needs clang, the compiler is ${CMAKE_CXX_COMPILER_ID}: "
      "use `cmake --preset fuzz`")
  endif()
  add_custom_target(rubato_fuzzers)
endif()

function(rubato_fuzz_target name)
  if(NOT RUBATO_BUILD_FUZZERS)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "CORPUS" "SOURCES;LIBRARIES")
  set(folder ${PROJECT_BINARY_DIR}/fuzzers)
  add_executable(${name} ${arg_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${folder})
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES}
    rubato_compile_options rubato_warnings rubato_sanitizers)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  file(MAKE_DIRECTORY ${folder}/${name}.corpus)
  if(arg_CORPUS)
    file(COPY ${arg_CORPUS}/ DESTINATION ${folder}/${name}.corpus)
  endif()
  add_dependencies(rubato_fuzzers ${name})
endfunction()
