// Samples that are the numbers from 0 on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "data/dataset.hpp"

namespace rubato::runtime {

// Sample i has one feature, i, and label i mod 2.
class CountedSamples final : public data::Dataset {
 public:
  explicit CountedSamples(std::size_t size) : size_(size) {}
  std::size_t size() const override { return size_; }
  data::SampleShape shape() const override { return {}; }
  std::size_t classes() const override { return 2; }
  void read(std::span<const std::uint64_t> indices, std::span<float> inputs,
            std::span<std::int32_t> labels) const override {
    for (std::size_t i = 0; i < indices.size(); ++i) {
      inputs[i] = static_cast<float>(indices[i]);
      labels[i] = static_cast<std::int32_t>(indices[i] % 2);
    }
  }

 private:
  std::size_t size_;
};

}  // namespace rubato::runtime
