# Completes hdf5::hdf5, as FindHDF5 has left it, where the library is the static one.
#
# Why the static one: Debian's shared library is linked with curl, for files in S3, and curl with
# some thirty more libraries. The loader brings them all into every rank, nearly 5 MB of memory, for
# nothing. FindHDF5 does not say what the static library needs in its turn; all of it is named here,
# and the linker leaves out what nobody calls (Debian's gcc tells it so by itself, clang does not).
get_target_property(rubato_hdf5 hdf5::hdf5 IMPORTED_LOCATION)
if(rubato_hdf5 MATCHES "\\.a$")
  set(rubato_hdf5_needs ${HDF5_C_LIBRARIES})
  list(REMOVE_ITEM rubato_hdf5_needs ${rubato_hdf5})
  set_property(TARGET hdf5::hdf5 PROPERTY INTERFACE_LINK_LIBRARIES ${rubato_hdf5_needs})
  set_property(TARGET hdf5::hdf5 PROPERTY INTERFACE_LINK_OPTIONS LINKER:--as-needed)
else()
  message(STATUS "HDF5 is a shared library, with all that it loads; in a build folder from before "
    "Rubato took the static one, configure with --fresh")
endif()
