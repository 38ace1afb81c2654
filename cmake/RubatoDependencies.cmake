# Every dependency comes from the distribution through find_package; nothing is fetched.
# What the installed libraries need of these is listed again in RubatoConfig.cmake.in.
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
set(MPI_CXX_SKIP_MPICXX ON)  # we use the C interface
find_package(MPI 3.0 REQUIRED COMPONENTS CXX)
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(Boost 1.74 REQUIRED COMPONENTS program_options)
set(HDF5_PREFER_PARALLEL OFF)
set(HDF5_USE_STATIC_LIBRARIES ON)
find_package(HDF5 REQUIRED COMPONENTS C)
include(RubatoHdf5)
find_package(ZLIB REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(Protobuf 3.12 REQUIRED)

find_path(Random123_INCLUDE_DIR Random123/philox.h)  # headers alone, without a CMake package
mark_as_advanced(Random123_INCLUDE_DIR)
if(NOT Random123_INCLUDE_DIR)
  message(FATAL_ERROR
    "Random123 is missing: no Random123/philox.h on the include path; "
    "on Debian install librandom123-dev")
endif()

set(RUBATO_HAS_ONEDNN OFF)
if(RUBATO_USE_ONEDNN)
  find_package(OneDNN 2.6)
  set(RUBATO_HAS_ONEDNN ${OneDNN_FOUND})
endif()
