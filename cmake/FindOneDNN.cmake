# Finds oneDNN and defines DNNL::dnnl.
#
# Why not the package's own dnnl-config.cmake: on Debian 12 it stops with an error unless the OpenCL
# headers are installed, which a program for CPUs never includes. DNNL::dnnl brings along GNU OpenMP
# (libgomp), the thread library that Debian's oneDNN is linked to: a program that sets its number of
# threads must talk to that one, whatever its compiler.
find_path(OneDNN_INCLUDE_DIR oneapi/dnnl/dnnl.hpp)
find_library(OneDNN_LIBRARY dnnl)
find_library(OneDNN_GOMP_LIBRARY NAMES gomp libgomp.so.1
  HINTS ${CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES})
mark_as_advanced(OneDNN_INCLUDE_DIR OneDNN_LIBRARY OneDNN_GOMP_LIBRARY)

if(OneDNN_INCLUDE_DIR)
  file(STRINGS ${OneDNN_INCLUDE_DIR}/oneapi/dnnl/dnnl_version.h version_lines
    REGEX "#define DNNL_VERSION_(MAJOR|MINOR|PATCH) ")
  list(TRANSFORM version_lines REPLACE ".* ([0-9]+)$" "\\1" OUTPUT_VARIABLE version_numbers)
  list(JOIN version_numbers "." OneDNN_VERSION)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(OneDNN
  REQUIRED_VARS OneDNN_LIBRARY OneDNN_INCLUDE_DIR OneDNN_GOMP_LIBRARY
  VERSION_VAR OneDNN_VERSION)

if(OneDNN_FOUND AND NOT TARGET DNNL::dnnl)
  add_library(DNNL::dnnl UNKNOWN IMPORTED)
  set_target_properties(DNNL::dnnl PROPERTIES
    IMPORTED_LOCATION ${OneDNN_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${OneDNN_INCLUDE_DIR}
    INTERFACE_LINK_LIBRARIES ${OneDNN_GOMP_LIBRARY})
endif()
