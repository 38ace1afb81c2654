# Every dependency comes from the distribution through find_package; nothing is fetched.
# This file is installed too: RubatoConfig.cmake includes it, so both sides look for the same things.
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(MPI 3.0 REQUIRED COMPONENTS CXX)
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(Boost 1.74 REQUIRED COMPONENTS program_options)
set(HDF5_PREFER_PARALLEL OFF)
find_package(HDF5 REQUIRED COMPONENTS C)
find_package(ZLIB REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(nlohmann_json 3.11 REQUIRED)
if(RUBATO_USE_ONEDNN)
  find_package(OpenMP QUIET COMPONENTS CXX)  # oneDNN's threads; we hold it to one
  find_package(dnnl 2.6 QUIET CONFIG)
endif()
