// See crop_flip.hpp. The draws are one block of Philox4x32-10 (doi:10.1145/2063384.2063405) a
// sample.
#include "data/crop_flip.hpp"

#include <Random123/philox.h>

#include <algorithm>
#include <stdexcept>

namespace rubato::data {
namespace {

std::uint32_t low(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
std::uint32_t high(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32U); }

// One of -most, ..., most; all alike but for one part in 2^28.
std::ptrdiff_t shift(std::uint32_t word, std::size_t most) {
  const std::uint64_t places = 2 * most + 1;
  return static_cast<std::ptrdiff_t>(places * word >> 32U) - static_cast<std::ptrdiff_t>(most);
}

}  // namespace

Augmentation augmentation(const std::string& name) {
  if (name == "none") return Augmentation::none;
  if (name == "crop-flip") return Augmentation::crop_flip;
  throw std::invalid_argument("augment: found \"" + name + "\", expected none or crop-flip");
}

std::vector<std::string> augmentation_names() { return {"none", "crop-flip"}; }

CropFlip::CropFlip(SampleShape shape, const Standardisation& standardisation, std::uint64_t seed)
    : shape_(shape), seed_(seed), original_(shape.size()) {
  if (std::min(shape.height, shape.width) <= padding) {
    throw std::invalid_argument("--augment crop-flip: the samples have " +
                                std::to_string(shape.height) + " x " + std::to_string(shape.width) +
                                " pixels, expected images of more than " + std::to_string(padding) +
                                " x " + std::to_string(padding));
  }
  for (std::size_t x = 0; x < shape.width; ++x) {
    for (std::size_t channel = 0; channel < shape.channels; ++channel) {
      black_row_.push_back(standardised(0, standardisation, channel));
    }
  }
}

CropFlip::Choice CropFlip::choice(std::uint64_t epoch, std::uint64_t sample) const {
  constexpr std::uint32_t stream = 0x63726f70;  // "crop": apart from all other uses of Philox
  const auto words = r123::Philox4x32{}({low(sample), high(sample), low(epoch), stream},
                                        {low(seed_), high(seed_)});
  return {shift(words[0], padding), shift(words[1], padding), words[2] >> 31U != 0};
}

void CropFlip::apply(std::uint64_t epoch, std::span<const std::uint64_t> samples,
                     std::span<float> images) {
  const std::size_t row = shape_.width * shape_.channels;
  const auto height = static_cast<std::ptrdiff_t>(shape_.height);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    float* const image = images.data() + i * shape_.size();
    std::copy_n(image, shape_.size(), original_.data());
    const Choice chosen = choice(epoch, samples[i]);
    for (std::ptrdiff_t y = 0; y < height; ++y) {
      const std::ptrdiff_t from = y + chosen.down;
      float* const to = image + static_cast<std::size_t>(y) * row;
      if (from < 0 || from >= height) {
        std::ranges::copy(black_row_, to);
      } else {
        show_row(original_.data() + static_cast<std::size_t>(from) * row, chosen, to);
      }
    }
  }
}

void CropFlip::show_row(const float* from, const Choice& choice, float* to) const {
  const std::size_t channels = shape_.channels;
  const std::size_t beyond = static_cast<std::size_t>(std::abs(choice.right)) * channels;
  const std::size_t kept = black_row_.size() - beyond;
  // Where the image has moved to the left, zeros come in on the right, and the other way round.
  const bool is_left = choice.right > 0;
  std::copy_n(from + (is_left ? beyond : 0), kept, to + (is_left ? 0 : beyond));
  std::copy_n(black_row_.data(), beyond, to + (is_left ? kept : 0));
  if (!choice.is_mirrored) return;
  float* left = to;
  float* right = to + black_row_.size() - channels;
  for (; left < right; left += channels, right -= channels) {
    std::swap_ranges(left, left + channels, right);
  }
}

}  // namespace rubato::data
