# cmake -DRANKS=N -DWAY=... -DCODE=N -DMESSAGE=REGEX -DLAUNCHER=mpirun -DPROBE=PROGRAM
#       -P session_exit.cmake
# Runs the probe on RANKS ranks. It must end with CODE and print exactly one line that matches
# MESSAGE (none if that is empty), within 3 seconds more than a run that ends well takes.
function(run_probe way)
  string(TIMESTAMP begin "%s%f")
  execute_process(
    COMMAND ${LAUNCHER} -q -n ${RANKS} ${PROBE} ${way}
    TIMEOUT 20 RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE errors)
  string(TIMESTAMP end "%s%f")
  math(EXPR milliseconds "(${end} - ${begin}) / 1000")
  set(code "${code}" PARENT_SCOPE)
  set(text "${output}${errors}" PARENT_SCOPE)
  set(milliseconds ${milliseconds} PARENT_SCOPE)
endfunction()

run_probe(0)
set(usual_milliseconds ${milliseconds})
run_probe(${WAY})
string(REGEX MATCHALL "rubato: [^\n]*" messages "${text}")
list(LENGTH messages count)
message("exit code ${code}, ${milliseconds} ms (a good run: ${usual_milliseconds}): ${messages}")

if(NOT code STREQUAL CODE)
  message(SEND_ERROR "expected exit code ${CODE}; the job printed:\n${text}")
endif()
math(EXPR limit "${usual_milliseconds} + 3000")
if(milliseconds GREATER limit)
  message(SEND_ERROR "the job must end within ${limit} ms")
endif()
if(MESSAGE AND NOT (count EQUAL 1 AND messages MATCHES "${MESSAGE}"))
  message(SEND_ERROR "expected one message like '${MESSAGE}'; the job printed:\n${text}")
elseif(NOT MESSAGE AND NOT count EQUAL 0)
  message(SEND_ERROR "expected no message")
endif()
