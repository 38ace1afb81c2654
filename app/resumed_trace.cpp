// See resumed_trace.hpp. The digest in the checkpoint says that the traces differ; the copy in the
// run's directory can say where.
#include "app/resumed_trace.hpp"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>

#include "data/batch_trace.hpp"
#include "data/errors.hpp"

namespace rubato::app {
namespace {

std::string text_of(const data::BatchTrace& trace, const data::TraceRow& row) {
  std::string text = "batch " + std::to_string(row.batch_size);
  if (row.minibatch > 0) text += " in minibatches of " + std::to_string(row.minibatch);
  if (trace.is_sparse()) text += " from update " + std::to_string(row.update) + " on";
  if (row.epoch) text += " (epoch " + std::to_string(*row.epoch) + ")";
  return text;
}

}  // namespace

void require_same_trace(const std::filesystem::path& given, const std::filesystem::path& recorded) {
  const auto now = data::BatchTrace::from_csv(given);
  std::optional<data::BatchTrace> copy;
  try {
    copy = data::BatchTrace::from_csv(recorded);
  } catch (const std::exception&) {
    return;  // the checkpoint knows the trace's digest, and decides
  }
  const data::BatchTrace& then = *copy;
  const std::uint64_t both = std::min(now.rows(), then.rows());
  std::uint64_t row = 0;
  while (row < both && now.row(row) == then.row(row)) ++row;
  if (row == now.rows() && row == then.rows()) return;
  const auto batch_of = [row](const data::BatchTrace& trace) -> std::string {
    return row == trace.rows() ? "no such row" : text_of(trace, trace.row(row));
  };
  const auto& longer = row == now.rows() ? then : now;
  throw data::ContentError("the trace differs from the checkpoint's: " + longer.where(row) +
                           ": found " + batch_of(now) + " in " + now.name() + ", expected " +
                           batch_of(then) + " as in " + then.name() +
                           "; a run goes on with what it began with");
}

}  // namespace rubato::app
