// Labelled samples in memory, delivered by index as standardised channels-last images.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace rubato::data {

// Channels-last (NHWC). A plain feature vector is 1 x 1 x features.
struct SampleShape {
  std::size_t height = 1;
  std::size_t width = 1;
  std::size_t channels = 1;
  constexpr std::size_t size() const noexcept { return height * width * channels; }
  bool operator==(const SampleShape&) const = default;
};

// x is delivered as (x * scale - mean[c]) / deviation[c]; scale brings stored values to [0, 1].
struct Standardisation {
  float scale = 1;
  std::vector<float> mean;       // one per channel
  std::vector<float> deviation;  // one per channel, > 0
};

// The value as it is delivered.
float standardised(float value, const Standardisation& by, std::size_t channel);

class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual std::size_t size() const = 0;  // samples
  virtual SampleShape shape() const = 0;
  virtual std::size_t classes() const = 0;  // labels are 0 ... classes-1
  // Fills inputs[i * shape().size() ...] (NHWC) and labels[i] for the sample indices[i]. Safe from
  // several threads.
  virtual void read(std::span<const std::uint64_t> indices, std::span<float> inputs,
                    std::span<std::int32_t> labels) const = 0;
};

// Samples held as bytes or floats, NHWC, and a standardisation applied on reading.
class InMemoryDataset final : public Dataset {
 public:
  using Values = std::variant<std::vector<std::uint8_t>, std::vector<float>>;
  using ValuesView = std::variant<std::span<const std::uint8_t>, std::span<const float>>;

  // Both throw ContentError (naming `source`) if sizes or labels do not fit together.
  InMemoryDataset(const std::string& source, SampleShape shape, std::size_t classes, Values values,
                  std::vector<std::int32_t> labels, Standardisation standardisation);
  // Of values and labels that lie elsewhere, for as long as `keeper` lives.
  InMemoryDataset(const std::string& source, SampleShape shape, std::size_t classes,
                  ValuesView values, std::span<const std::int32_t> labels,
                  Standardisation standardisation, std::shared_ptr<const void> keeper);

  std::size_t size() const override { return labels_.size(); }
  SampleShape shape() const override { return shape_; }
  std::size_t classes() const override { return classes_; }
  void read(std::span<const std::uint64_t> indices, std::span<float> inputs,
            std::span<std::int32_t> labels) const override;

  const ValuesView& values() const noexcept { return values_; }  // as they are held
  std::span<const std::int32_t> labels() const noexcept { return labels_; }
  const Standardisation& standardisation() const noexcept { return standardisation_; }

 private:
  struct Held {
    Values values;
    std::vector<std::int32_t> labels;
  };
  InMemoryDataset(const std::string& source, SampleShape shape, std::size_t classes,
                  const std::shared_ptr<const Held>& held, Standardisation standardisation);
  template <class Value>
  void read_inputs(const Value* values, std::span<const std::uint64_t> indices,
                   float* inputs) const;

  SampleShape shape_;
  std::size_t classes_;
  std::shared_ptr<const void> keeper_;
  ValuesView values_;
  std::span<const std::int32_t> labels_;
  Standardisation standardisation_;
  std::vector<float> means_, deviations_;  // of each value of a sample
};

}  // namespace rubato::data
