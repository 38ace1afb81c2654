# Install and export, so that an outside project can say find_package(Rubato) and link
# rubato::runtime, or a folder below it. The headers lie in include/rubato/<folder>.
include(CMakePackageConfigHelpers)
set(rubato_package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/Rubato)

get_property(rubato_libraries GLOBAL PROPERTY RUBATO_LIBRARIES)
install(TARGETS ${rubato_libraries}
  EXPORT RubatoTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS rubato RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY collectives data nn optim runtime
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/rubato
  FILES_MATCHING PATTERN "*.hpp")
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

install(EXPORT RubatoTargets NAMESPACE rubato:: DESTINATION ${rubato_package_folder})
configure_package_config_file(
  cmake/RubatoConfig.cmake.in ${PROJECT_BINARY_DIR}/RubatoConfig.cmake
  INSTALL_DESTINATION ${rubato_package_folder})
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/RubatoConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(
  FILES
    ${PROJECT_BINARY_DIR}/RubatoConfig.cmake
    ${PROJECT_BINARY_DIR}/RubatoConfigVersion.cmake
    cmake/FindOneDNN.cmake
    cmake/RubatoHdf5.cmake
  DESTINATION ${rubato_package_folder})
