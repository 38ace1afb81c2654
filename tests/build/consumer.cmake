# An outside project finds the installed package, links it and runs: install, configure, build, run.
set(prefix ${CMAKE_CURRENT_BINARY_DIR}/prefix)
set(consumer ${CMAKE_CURRENT_BINARY_DIR}/consumer)
set(consumer_flags "${CMAKE_CXX_FLAGS}")
if(RUBATO_SANITIZE)  # the libraries then need the sanitizers' runtime in every program
  string(APPEND consumer_flags " -fsanitize=address,undefined")
endif()
set(configure_consumer ${CMAKE_COMMAND} --fresh -G ${CMAKE_GENERATOR}
  -S ${CMAKE_CURRENT_SOURCE_DIR}/consumer
  -D CMAKE_PREFIX_PATH=${prefix}
  -D CMAKE_BUILD_TYPE=${CMAKE_BUILD_TYPE}
  -D CMAKE_C_COMPILER=${CMAKE_C_COMPILER}
  -D CMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}
  -D CMAKE_CXX_FLAGS=${consumer_flags})

add_test(NAME build.package.install
  COMMAND ${CMAKE_COMMAND} --install ${PROJECT_BINARY_DIR} --prefix ${prefix})
add_test(NAME build.package.configure COMMAND ${configure_consumer} -B ${consumer})
add_test(NAME build.package.build COMMAND ${CMAKE_COMMAND} --build ${consumer})
add_test(NAME build.package.run COMMAND ${consumer}/consumer)

set_tests_properties(build.package.install PROPERTIES
  FIXTURES_SETUP rubato_installed)
set_tests_properties(build.package.configure PROPERTIES
  FIXTURES_REQUIRED rubato_installed FIXTURES_SETUP consumer_configured)
set_tests_properties(build.package.build PROPERTIES
  FIXTURES_REQUIRED "rubato_installed;consumer_configured" FIXTURES_SETUP consumer_built)
set_tests_properties(build.package.run PROPERTIES FIXTURES_REQUIRED consumer_built)

# A project without the language C is told so, instead of meeting an error inside FindHDF5.
add_test(NAME build.package.asks_for_c
  COMMAND ${configure_consumer} -B ${consumer}_without_c -D CONSUMER_LANGUAGES=CXX)
set_tests_properties(build.package.asks_for_c PROPERTIES
  FIXTURES_REQUIRED rubato_installed PASS_REGULAR_EXPRESSION "Rubato needs the language C")

rubato_timeout(timeout 120)
set_tests_properties(
  build.package.install build.package.configure build.package.build build.package.run
  build.package.asks_for_c
  PROPERTIES TIMEOUT ${timeout})
# Others wait for these, so they begin first, beside a wide one: as wide themselves (RubatoTest).
set_tests_properties(build.package.install build.package.configure build.package.build
  PROPERTIES PROCESSORS 3)
