# rubato_library(<folder> SOURCES ... [PUBLIC targets...] [PRIVATE targets...])
# Makes the static library rubato_<folder>, known as rubato::<folder>, from one folder of the tree.
function(rubato_library folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;PUBLIC;PRIVATE")
  add_library(rubato_${folder} STATIC ${arg_SOURCES})
  add_library(rubato::${folder} ALIAS rubato_${folder})
  set_target_properties(rubato_${folder} PROPERTIES
    EXPORT_NAME ${folder}
    POSITION_INDEPENDENT_CODE ON)
  target_include_directories(rubato_${folder} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/rubato>)
  target_compile_features(rubato_${folder} PUBLIC cxx_std_20)
  target_link_libraries(rubato_${folder}
    PUBLIC ${arg_PUBLIC}
    PRIVATE ${arg_PRIVATE}
      $<BUILD_INTERFACE:rubato_compile_options>
      $<BUILD_INTERFACE:rubato_warnings>
      $<BUILD_INTERFACE:rubato_sanitizers>)
  set_property(GLOBAL APPEND PROPERTY RUBATO_LIBRARIES rubato_${folder})
endfunction()
