# rubato_generate_messages(<target> <file.proto>...)
# Lets the sources of <target> include "<folder>/<file>.pb.h", made from messages of this folder.
# What is generated is compiled without our warnings, and seen by <target> alone.
function(rubato_generate_messages target)
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${PROJECT_SOURCE_DIR}
    OUTPUT_VARIABLE folder)
  set(generated ${PROJECT_BINARY_DIR}/messages)
  file(MAKE_DIRECTORY ${generated}/${folder})
  foreach(file ${ARGN})
    cmake_path(REMOVE_EXTENSION file OUTPUT_VARIABLE name)
    set(outputs ${generated}/${folder}/${name}.pb.cc ${generated}/${folder}/${name}.pb.h)
    add_custom_command(
      OUTPUT ${outputs}
      COMMAND protobuf::protoc --cpp_out=${generated} --proto_path=${PROJECT_SOURCE_DIR}
        ${CMAKE_CURRENT_SOURCE_DIR}/${file}
      DEPENDS ${file}
      COMMENT "Generating ${folder}/${name}.pb.h"
      VERBATIM)
    set_source_files_properties(${generated}/${folder}/${name}.pb.cc PROPERTIES COMPILE_OPTIONS -w)
    target_sources(${target} PRIVATE ${outputs})
  endforeach()
  target_include_directories(${target} SYSTEM PRIVATE ${generated})
endfunction()
