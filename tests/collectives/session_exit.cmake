# cmake -DRANKS=N -DWAY=... -DCODE=N -DMESSAGE=REGEX -DLAUNCHER=mpirun -DPROBE=PROGRAM -P session_exit.cmake
# Runs the probe on RANKS ranks. It must end with CODE within 3 seconds and print exactly one line that
# matches MESSAGE; no line may begin with "rubato:" beside it.
string(TIMESTAMP begin "%s%f")
execute_process(
  COMMAND ${LAUNCHER} -q -n ${RANKS} ${PROBE} ${WAY}
  TIMEOUT 20 RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE errors)
string(TIMESTAMP end "%s%f")
math(EXPR milliseconds "(${end} - ${begin}) / 1000")

string(REGEX MATCHALL "rubato: [^\n]*" messages "${output}${errors}")
list(LENGTH messages count)
message("exit code ${code} after ${milliseconds} ms; messages: ${messages}")
if(NOT code STREQUAL CODE)
  message(SEND_ERROR "expected exit code ${CODE}; standard error was:\n${errors}")
endif()
if(milliseconds GREATER 3000)
  message(SEND_ERROR "the job must end within 3000 ms")
endif()
if(MESSAGE AND NOT (count EQUAL 1 AND messages MATCHES "${MESSAGE}"))
  message(SEND_ERROR "expected one message like '${MESSAGE}'; standard error was:\n${errors}")
elseif(NOT MESSAGE AND NOT count EQUAL 0)
  message(SEND_ERROR "expected no message")
endif()
