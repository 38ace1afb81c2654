// CIFAR-10, binary version: records of one label byte and 3072 pixel bytes, channel by channel
// (red, green, blue), 32 x 32 each.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "data/raw_samples.hpp"

namespace rubato::data {

// Appends the records of one file's content, channels last. Throws ContentError.
void append_cifar10(std::span<const std::byte> bytes, const std::string& name, RawSamples& samples);

RawSamples read_cifar10(const std::vector<std::filesystem::path>& files);

}  // namespace rubato::data
