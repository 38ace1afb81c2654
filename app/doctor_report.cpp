// See doctor_report.hpp.
#include "app/doctor_report.hpp"

#include <algorithm>
#include <iomanip>
#include <map>
#include <nlohmann/json.hpp>

namespace rubato::app {
namespace {

using Hosts = std::map<std::string, std::vector<RankFacts>>;

Hosts hosts_of(const Diagnosis& diagnosis) {
  Hosts hosts;
  for (const auto& facts : diagnosis.ranks) hosts[facts.host].push_back(facts);
  return hosts;
}

// "0-3,8"
std::string ranges(const std::vector<int>& numbers) {
  std::string text;
  for (std::size_t begin = 0; begin < numbers.size();) {
    std::size_t end = begin + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    if (!text.empty()) text += ',';
    text += std::to_string(numbers[begin]);
    if (end > begin + 1) text.append("-").append(std::to_string(numbers[end - 1]));
    begin = end;
  }
  return text;
}

void print_host(std::ostream& out, const std::string& host, const std::vector<RankFacts>& ranks) {
  const auto& first = ranks.front();
  out << "host " << host << ": " << ranks.size() << (ranks.size() == 1 ? " rank, " : " ranks, ")
      << first.online_cores << " cores; " << first.shared_directory << ' '
      << (first.shared_free_bytes >> 20U) << " of " << (first.shared_bytes >> 20U) << " MiB free\n";
  for (const auto& facts : ranks) {
    const bool is_bound = facts.cores.size() < facts.online_cores;
    out << "  rank " << facts.rank << (is_bound ? ": bound to core " : ": free on cores ")
        << ranges(facts.cores) << '\n';
  }
}

void print_finding(std::ostream& out, bool is_broken, const std::string& problem,
                   const std::string& remedy) {
  out << (is_broken ? "  broken: " : "  note: ") << problem << "\n    to do: " << remedy << '\n';
}

nlohmann::ordered_json as_json(const CheckResult& check) {
  return {{"name", check.name},
          {"ok", check.problem.empty()},
          {"measured", check.measured},
          {"problem", check.problem},
          {"remedy", check.remedy}};
}

nlohmann::ordered_json as_json(const std::string& host, const std::vector<RankFacts>& ranks) {
  const auto& first = ranks.front();
  nlohmann::ordered_json document{{"host", host},
                                  {"cores", first.online_cores},
                                  {"shared_directory", first.shared_directory},
                                  {"shared_bytes", first.shared_bytes},
                                  {"shared_free_bytes", first.shared_free_bytes},
                                  {"oversubscribed", ranks.size() > first.online_cores},
                                  {"ranks", nlohmann::json::array()}};
  for (const auto& facts : ranks) {
    document["ranks"].push_back({{"rank", facts.rank}, {"cores", facts.cores}});
  }
  return document;
}

}  // namespace

bool Diagnosis::is_broken() const {
  return std::any_of(placement.begin(), placement.end(),
                     [](const Finding& finding) { return finding.is_broken; }) ||
         std::any_of(checks.begin(), checks.end(),
                     [](const CheckResult& check) { return !check.problem.empty(); });
}

void print_text(std::ostream& out, const Diagnosis& diagnosis) {
  const auto& first = diagnosis.ranks.front();
  out << "MPI: " << first.mpi << ", thread level " << diagnosis.thread_level << ", "
      << diagnosis.ranks.size() << (diagnosis.ranks.size() == 1 ? " rank" : " ranks")
      << "\nkernels: " << first.kernels << "\nHDF5: " << first.hdf5 << '\n';
  for (const auto& [host, ranks] : hosts_of(diagnosis)) print_host(out, host, ranks);
  for (const auto& finding : diagnosis.placement) {
    print_finding(out, finding.is_broken, finding.problem, finding.remedy);
  }
  out << "self-test:\n";
  for (const auto& check : diagnosis.checks) {
    out << "  " << (check.problem.empty() ? "ok  " : "BAD ") << std::left << std::setw(36)
        << check.name << std::right << check.measured << '\n';
    if (!check.problem.empty()) print_finding(out, true, check.problem, check.remedy);
  }
  out << (diagnosis.is_broken() ? "something is broken: see above\n" : "all is well\n");
}

void print_json(std::ostream& out, const Diagnosis& diagnosis) {
  const auto& first = diagnosis.ranks.front();
  nlohmann::ordered_json document{{"ok", !diagnosis.is_broken()},
                                  {"mpi", first.mpi},
                                  {"thread_level", diagnosis.thread_level},
                                  {"ranks", diagnosis.ranks.size()},
                                  {"kernels", first.kernels},
                                  {"hdf5", first.hdf5},
                                  {"hosts", nlohmann::json::array()},
                                  {"findings", nlohmann::json::array()},
                                  {"checks", nlohmann::json::array()}};
  for (const auto& [host, ranks] : hosts_of(diagnosis)) {
    document["hosts"].push_back(as_json(host, ranks));
  }
  for (const auto& finding : diagnosis.placement) {
    document["findings"].push_back(
        {{"broken", finding.is_broken}, {"problem", finding.problem}, {"remedy", finding.remedy}});
  }
  for (const auto& check : diagnosis.checks) document["checks"].push_back(as_json(check));
  out << document.dump(1) << '\n';
}

}  // namespace rubato::app
