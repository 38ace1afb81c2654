#!/bin/bash
# Stands in for ssh when mpirun starts its daemons (plm_rsh_agent):
#   launch_agent.sh [OPTIONS] HOST WORD...
# The words are joined and given to a shell, as ssh does, in HOST's network and under its name. A
# job's mark stays behind, as all of the environment does under ssh.
set -euo pipefail
while [[ $1 == -* ]]; do
  case $1 in
    -l | -o | -p) shift 2 ;; # ssh's options that have a value
    *) shift ;;
  esac
done
host=$1
shift
unset RUBATO_JOB
exec ip netns exec "$host" unshare --uts -- /bin/bash -c "hostname $host; $*"
