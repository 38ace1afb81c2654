# Install and export, so that an outside project can say find_package(Rubato) and link rubato::runtime.
include(CMakePackageConfigHelpers)

get_property(rubato_libraries GLOBAL PROPERTY RUBATO_LIBRARIES)
install(TARGETS ${rubato_libraries} EXPORT RubatoTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS rubato RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
foreach(folder collectives data nn optim runtime)
  install(DIRECTORY ${folder} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/rubato FILES_MATCHING PATTERN "*.hpp")
endforeach()
install(EXPORT RubatoTargets NAMESPACE rubato:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Rubato)

configure_package_config_file(cmake/RubatoConfig.cmake.in ${PROJECT_BINARY_DIR}/RubatoConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Rubato)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/RubatoConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/RubatoConfig.cmake ${PROJECT_BINARY_DIR}/RubatoConfigVersion.cmake
  cmake/FindOneDNN.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Rubato)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
