// See cifar_reader.hpp.
#include "data/cifar_reader.hpp"

#include <array>
#include <cstdint>

#include "data/errors.hpp"
#include "data/file_bytes.hpp"

namespace rubato::data {
namespace {

constexpr SampleShape shape{32, 32, 3};
constexpr std::size_t record_bytes = 1 + shape.height * shape.width * shape.channels;
constexpr unsigned classes = 10;
constexpr std::uint64_t most_cifar_bytes = std::uint64_t{4} << 30U;

void append_pixels(std::span<const std::byte> record, std::vector<std::uint8_t>& values) {
  constexpr std::size_t plane = shape.height * shape.width;
  std::array<std::uint8_t, shape.size()> pixels{};
  for (std::size_t i = 0; i < plane; ++i) {
    for (std::size_t c = 0; c < shape.channels; ++c) {
      pixels[i * shape.channels + c] = std::to_integer<std::uint8_t>(record[c * plane + i]);
    }
  }
  values.insert(values.end(), pixels.begin(), pixels.end());
}

}  // namespace

void append_cifar10(std::span<const std::byte> bytes, const std::string& name,
                    RawSamples& samples) {
  if (bytes.empty() || bytes.size() % record_bytes != 0) {
    throw ContentError(name + ": found " + std::to_string(bytes.size()) +
                       " bytes, expected a multiple of " + std::to_string(record_bytes) +
                       " (a label and 3 x 32 x 32 pixels for each image)");
  }
  auto& values = std::get<std::vector<std::uint8_t>>(samples.values);
  for (std::size_t at = 0; at < bytes.size(); at += record_bytes) {
    const auto label = std::to_integer<unsigned>(bytes[at]);
    if (label >= classes) {
      throw ContentError(name + ": found label " + std::to_string(label) + " at byte " +
                         std::to_string(at) + ", expected 0 to 9");
    }
    samples.labels.push_back(static_cast<std::int32_t>(label));
    append_pixels(bytes.subspan(at + 1, shape.size()), values);
  }
}

RawSamples read_cifar10(const std::vector<std::filesystem::path>& files) {
  RawSamples samples{files.front().parent_path().string(), shape, std::vector<std::uint8_t>{}, {}};
  for (const std::filesystem::path& file : files) {
    append_cifar10(read_file(file, most_cifar_bytes), file.string(), samples);
  }
  return samples;
}

}  // namespace rubato::data
