// The subcommands of `rubato`. Each receives main's own argc and argv (argv[1] is the command's
// name, its arguments follow), returns the exit code of the process, and lets exceptions pass: main
// explains those that reach it, and commands that run under MPI hand argc and argv on to
// collectives::run_session.
#pragma once

namespace rubato::app {

int train(int argc, char** argv);
int launch(int argc, char** argv);
int prove(int argc, char** argv);
int evaluate(int argc, char** argv);
int study(int argc, char** argv);
int report(int argc, char** argv);
int plan(int argc, char** argv);
int trace(int argc, char** argv);
int checkpoint(int argc, char** argv);
int doctor(int argc, char** argv);

}  // namespace rubato::app
