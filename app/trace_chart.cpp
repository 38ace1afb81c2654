// See trace_chart.hpp.
#include "app/trace_chart.hpp"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <sstream>
#include <vector>

namespace rubato::app {
namespace {

constexpr std::uint64_t most_columns = 60;
constexpr int lines = 10;
constexpr double logarithmic_from = 8;

std::vector<std::uint64_t> columns_of(const data::BatchTrace& trace) {
  const std::uint64_t count = std::min(trace.rows(), most_columns);
  std::vector<std::uint64_t> columns(count, 0);
  for (std::uint64_t row = 0; row < trace.rows(); ++row) {
    auto& column = columns[row * count / trace.rows()];
    column = std::max(column, trace.batch_size(row));
  }
  return columns;
}

// Batch sizes between a smallest and a largest, and lines 1 ... `lines`, which stand for them.
class Scale {
 public:
  Scale(std::uint64_t least, std::uint64_t most)
      : least_(static_cast<double>(least)),
        most_(static_cast<double>(most)),
        is_logarithmic_(most_ / least_ >= logarithmic_from) {}

  bool is_logarithmic() const { return is_logarithmic_; }

  int line_of(std::uint64_t batch_size) const {
    const auto size = static_cast<double>(batch_size);
    const double share = is_logarithmic_  ? std::log(size / least_) / std::log(most_ / least_)
                         : most_ > least_ ? (size - least_) / (most_ - least_)
                                          : 1;
    return 1 + static_cast<int>(std::lround(share * (lines - 1)));
  }

  // The batch size that a line stands for.
  double size_at(int line) const {
    const double share = static_cast<double>(line - 1) / (lines - 1);
    return is_logarithmic_ ? least_ * std::pow(most_ / least_, share)
                           : least_ + (most_ - least_) * share;
  }

 private:
  double least_;
  double most_;
  bool is_logarithmic_;
};

}  // namespace

std::string draw(const data::BatchTrace& trace) {
  const auto columns = columns_of(trace);
  const Scale scale(*std::min_element(columns.begin(), columns.end()), trace.largest());
  std::ostringstream text;
  for (int line = lines; line >= 1; --line) {
    text << std::setw(10) << std::lround(scale.size_at(line)) << " |";
    for (const auto size : columns) text << (scale.line_of(size) >= line ? '#' : ' ');
    text << '\n';
  }
  const std::string last_row = std::to_string(trace.rows() - 1);
  const std::size_t width = std::max(columns.size(), last_row.size() + 2);
  text << std::string(11, ' ') << '+' << std::string(width, '-') << '\n'
       << std::string(12, ' ') << '0' << std::setw(static_cast<int>(width) - 1) << last_row
       << "  row" << (scale.is_logarithmic() ? ", batch size on a logarithmic scale" : "") << '\n';
  return text.str();
}

}  // namespace rubato::app
