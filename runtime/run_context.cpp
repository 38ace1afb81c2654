// Values as text: they are read by people, and compared for equality.
#include "runtime/run_context.hpp"

#include <gnu/libc-version.h>

#include <ctime>
#include <sstream>
#include <string>

#include "nn/backend.hpp"
#include "runtime/version.hpp"

namespace rubato::runtime {

namespace {

template <class T>
std::string joined(const std::vector<T>& items) {
  std::ostringstream text;
  for (std::size_t i = 0; i < items.size(); ++i) text << (i > 0 ? ", " : "") << items[i];
  return text.str();
}

std::string describe_kernels(const RunOptions& options) {
  const nn::Kernels kernels = nn::kernels(nn::backend(options.backend));
  return kernels.backend + ", " + kernels.version + ", " + kernels.isa;
}

std::string describe(const data::Standardisation& standardisation) {
  return "x * " + joined(std::vector{standardisation.scale}) + " - (" +
         joined(standardisation.mean) + ") / (" + joined(standardisation.deviation) + ")";
}

std::string now_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::string text(sizeof "2000-01-01T00:00:00Z", '\0');
  text.resize(std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts));
  return text;
}

}  // namespace

std::vector<ContextEntry> run_context(const RunOptions& options,
                                      const collectives::Topology& topology,
                                      const data::DataSource& source) {
  return {{"version", std::string(version)},
          {"revision", std::string(revision)},
          {"compiler", std::string(compiler)},
          {"build_type", std::string(build_type)},
          {"flags", std::string(flags)},
          {"kernels", describe_kernels(options)},
          {"started", now_utc()},
          {"hosts", joined(topology.hosts())},
          {"ranks_per_host", joined(topology.ranks_per_node())},
          {"data", source.name},
          {"standardisation", describe(source.standardisation)},
          {"model", options.model},
          {"configuration", options.configuration}};
}

std::vector<collectives::NamedValue> agreed_values(const RunOptions& options,
                                                   const data::DataSource& source) {
  return {{"the version of Rubato", std::string(version) + " " + std::string(revision)},
          {"the compiler", std::string(compiler) + " " + std::string(flags)},
          {"the C library", ::gnu_get_libc_version()},
          {"the kernels", describe_kernels(options)},
          {"the options", options.configuration},
          {"the number of training samples", std::to_string(source.train->size())},
          {"the data's standardisation", describe(source.standardisation)}};
}

}  // namespace rubato::runtime
