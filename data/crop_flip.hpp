// Random crop and horizontal flip of training images: each is padded with zeros by `padding` pixels
// on all sides, cut back to its size at a random place, and mirrored with probability 1/2. The
// augmentation that CIFAR is usually trained with (He et al., arXiv:1512.03385, section 4.2).
//
// The zeros are those of the stored values, before they are standardised, as in torchvision's
// RandomCrop(size, padding) and RandomHorizontalFlip. What becomes of a sample depends on seed,
// epoch and its index in the data set alone: not on ranks, on minibatches or on the order of the
// epoch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/dataset.hpp"

namespace rubato::data {

enum class Augmentation { none, crop_flip };
Augmentation augmentation(const std::string& name);  // throws std::invalid_argument
std::vector<std::string> augmentation_names();       // "none", "crop-flip"

class CropFlip {
 public:
  static constexpr std::size_t padding = 4;  // pixels

  // `standardisation` is the one that the images were read with. Throws std::invalid_argument where
  // images are not larger than the padding: nothing might be left of them.
  CropFlip(SampleShape shape, const Standardisation& standardisation, std::uint64_t seed);

  // Changes the images of these samples (NHWC, samples.size() * shape.size()) in place. Allocates
  // nothing; one thread at a time.
  void apply(std::uint64_t epoch, std::span<const std::uint64_t> samples, std::span<float> images);

  // What happens to a sample: pixel (y, x) shows what was at (y + down, x + right) of the image or,
  // mirrored, at (y + down, width - 1 - x + right).
  struct Choice {
    std::ptrdiff_t down = 0;   // in [-padding, padding]
    std::ptrdiff_t right = 0;  // in [-padding, padding]
    bool is_mirrored = false;
  };
  Choice choice(std::uint64_t epoch, std::uint64_t sample) const;

 private:
  void show_row(const float* from, const Choice& choice, float* to) const;

  SampleShape shape_;
  std::uint64_t seed_;
  std::vector<float> black_row_;  // a row of zeros, standardised
  std::vector<float> original_;   // the image in hand
};

}  // namespace rubato::data
