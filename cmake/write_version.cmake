# Writes version.hpp, called by RubatoVersion.cmake: cmake -D template=... -D header=... ... -P
# A source tree that is no git clone, or a machine without git, gives the revision "unknown".
execute_process(
  COMMAND git describe --always --dirty --abbrev=12 --exclude *
  WORKING_DIRECTORY ${source_dir}
  OUTPUT_VARIABLE revision OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET
  RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  set(revision unknown)
endif()
string(REPLACE "\"" "\\\"" flags "${flags}")
configure_file(${template} ${header} @ONLY)  # leaves an unchanged file alone
