# Every header of the library folders compiles alone. A source of the same name, which begins with
# it (check_layering.py), shows that; this is for headers without one. Where RUBATO_UNITY_BUILD
# compiles sources together, to be quick, both are left to the presets that compile each alone, dev
# and clang: to build those is the test.
if(RUBATO_UNITY_BUILD)
  return()
endif()

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

add_library(rubato_header_selftest OBJECT ${selftest_sources})
target_link_libraries(rubato_header_selftest PRIVATE
  rubato::runtime rubato::optim rubato::nn rubato::data rubato::collectives
  rubato_compile_options rubato_warnings rubato_sanitizers)
set_target_properties(rubato_header_selftest PROPERTIES RUBATO_COMPILES_FAST ON)
