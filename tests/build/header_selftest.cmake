# Every header of the library folders compiles alone. A source of the same name, which begins with
# it (check_layering.py), shows that; this is for headers without one. Where RUBATO_UNITY_BUILD
# compiles sources together it is left to the presets that compile each alone, dev and clang. The
# object library is no part of the normal build; the test builds it.
set(selftest_sources "")
foreach(folder collectives data nn optim runtime)
  file(GLOB headers CONFIGURE_DEPENDS
    RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/${folder}/*.hpp)
  foreach(header IN LISTS headers)
    string(REPLACE ".hpp" ".cpp" own_source ${PROJECT_SOURCE_DIR}/${header})
    if(EXISTS ${own_source})
      continue()
    endif()
    set(source ${CMAKE_CURRENT_BINARY_DIR}/headers/${header}.cpp)
    file(CONFIGURE OUTPUT ${source} CONTENT "#include \"${header}\"\n")
    list(APPEND selftest_sources ${source})
  endforeach()
endforeach()

add_library(rubato_header_selftest OBJECT EXCLUDE_FROM_ALL ${selftest_sources})
target_link_libraries(rubato_header_selftest PRIVATE
  rubato::runtime rubato::optim rubato::nn rubato::data rubato::collectives
  rubato_compile_options rubato_warnings rubato_sanitizers)
set_target_properties(rubato_header_selftest PROPERTIES RUBATO_COMPILES_FAST ON)

add_test(NAME build.headers_compile_alone
  COMMAND ${CMAKE_COMMAND} --build ${PROJECT_BINARY_DIR} --target rubato_header_selftest)
rubato_timeout(timeout 600)
set_tests_properties(build.headers_compile_alone PROPERTIES
  TIMEOUT ${timeout} PROCESSORS 3 COST 9 RESOURCE_LOCK build_tree)  # long: first
