// See trace_make.hpp.
#include "app/trace_make.hpp"

#include <algorithm>
#include <functional>
#include <sstream>
#include <vector>

#include "app/failure.hpp"
#include "app/option_value.hpp"
#include "app/spelling.hpp"
#include "app/trace_shape.hpp"
#include "data/batch_trace.hpp"
#include "data/trace_reader.hpp"

namespace rubato::app {
namespace {

constexpr std::uint64_t most_rows = 10'000'000;

using Rows = std::vector<std::uint64_t>;

struct Shape {
  std::string name;
  std::vector<std::string> options;  // beside --rows
  std::function<Rows(const Options&)> make;
};

std::uint64_t required(const Options& options, const std::string& name) {
  if (const auto value = options.integer_if(name)) return *value;
  throw UsageError("trace make " + options.positionals()[0] + ": give --" + name + " N");
}

std::uint64_t highest(const Options& options, std::uint64_t first) {
  return options.integer_if("most").value_or(std::min(first, data::most_batch_size / 16) * 16);
}

Rows parse_sizes(const Options& options) {
  const auto list = options.text_if("batch-sizes");
  if (!list) throw UsageError("trace make steps: give --batch-sizes N,N,...");
  Rows sizes;
  std::istringstream words(*list + ",");
  for (std::string word; std::getline(words, word, ',');) {
    const auto size = parse_whole<std::uint64_t>(word);
    if (!size || *size == 0) {
      throw UsageError("--batch-sizes " + *list + ": found \"" + word +
                       "\", expected whole numbers of at least 1 with commas between");
    }
    sizes.push_back(*size);
  }
  return sizes;
}

Rows make_random_walk(const Options& options) {
  const auto minibatch = options.integer("minibatch");
  const auto first = required(options, "batch-size");
  if (first % minibatch != 0) {
    throw UsageError("--batch-size " + std::to_string(first) +
                     ": expected a multiple of the minibatch (" + std::to_string(minibatch) + ")");
  }
  const auto jump = std::min(options.integer("jump"), data::most_batch_size);
  return random_walk_trace({.rows = options.integer("rows"),
                            .minibatch = minibatch,
                            .first = first,
                            .least = options.integer_if("least").value_or(minibatch),
                            .most = highest(options, first),
                            .jump = jump,
                            .seed = options.integer("seed")});
}

std::vector<Shape> shapes() {
  return {{"constant",
           {"batch-size"},
           [](const Options& options) {
             return constant_trace(options.integer("rows"), required(options, "batch-size"));
           }},
          {"steps",
           {"batch-sizes"},
           [](const Options& options) {
             return step_trace(options.integer("rows"), parse_sizes(options));
           }},
          {"doubling",
           {"batch-size", "every", "most"},
           [](const Options& options) {
             const auto first = required(options, "batch-size");
             return doubling_trace(options.integer("rows"), first, required(options, "every"),
                                   highest(options, first));
           }},
          {"random-walk",
           {"batch-size", "least", "most", "minibatch", "jump", "seed"},
           make_random_walk}};
}

Shape find_shape(const std::string& name) {
  std::vector<std::string> names;
  const auto all = shapes();
  for (const auto& shape : all) names.push_back(shape.name);
  require_choice("shape", name, names);
  return *std::find_if(all.begin(), all.end(),
                       [&](const Shape& shape) { return shape.name == name; });
}

void refuse_foreign_options(const Options& options, const Shape& shape) {
  for (const auto& other : shapes()) {
    for (const auto& name : other.options) {
      const auto& own = shape.options;
      const bool is_own = std::find(own.begin(), own.end(), name) != own.end();
      if (is_own || !options.is_given(name)) continue;
      throw UsageError("--" + name + " does not apply to the shape " + shape.name);
    }
  }
}

}  // namespace

std::string make_trace(const Options& options) {
  const Shape shape = find_shape(options.positionals()[0]);
  refuse_foreign_options(options, shape);
  if (required(options, "rows") > most_rows) {
    throw UsageError("--rows " + std::to_string(options.integer("rows")) + ": expected at most " +
                     std::to_string(most_rows));
  }
  const Rows rows = shape.make(options);
  data::BatchTrace::from_rows(rows);  // throws for sizes that a trace cannot hold
  std::string text = "# made by: rubato trace make " + shape.name + "\nstep,batchsize\n";
  for (std::size_t row = 0; row < rows.size(); ++row) {
    text += std::to_string(row) + "," + std::to_string(rows[row]) + "\n";
  }
  return text;
}

}  // namespace rubato::app
