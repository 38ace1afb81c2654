// See hdf5_reader.hpp.
#include "data/hdf5_reader.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "data/errors.hpp"
#include "data/file_bytes.hpp"
#include "data/hdf5_handle.hpp"
#include "data/huge_pages.hpp"

namespace rubato::data {
namespace {

constexpr std::uint64_t most_hdf5_bytes = std::uint64_t{64} << 30U;
constexpr std::uint64_t most_expansion = 1032;  // of DEFLATE
constexpr int most_rank = 4;

[[noreturn]] void refuse(const std::string& object, const std::string& problem) {
  throw ContentError(object + ": " + problem);
}

bool has_link(const Hdf5Handle& parent, const char* name) {
  return H5Lexists(parent.id(), name, H5P_DEFAULT) > 0;
}

// A soft link could lead anywhere, an external one out of the file.
void check_hard_link(const Hdf5Handle& parent, const char* name, const std::string& object) {
  if (!has_link(parent, name))
    refuse(object, "not there, expected a group or dataset of this name");
  H5L_info_t info{};
  check_hdf5(H5Lget_info(parent.id(), name, &info, H5P_DEFAULT), object);
  if (info.type != H5L_TYPE_HARD)
    refuse(object, "found a soft or external link, expected the object itself");
}

Hdf5Handle open_group(const Hdf5Handle& parent, const char* name, const std::string& object) {
  check_hard_link(parent, name, object);
  return {H5Gopen2(parent.id(), name, H5P_DEFAULT), H5Gclose, object};
}

bool is_one_of(hid_t type, std::initializer_list<hid_t> allowed) {
  return std::any_of(allowed.begin(), allowed.end(),
                     [type](hid_t known) { return H5Tequal(type, known) > 0; });
}

bool is_byte(hid_t type) { return is_one_of(type, {H5T_STD_U8LE, H5T_STD_U8BE}); }

bool is_float(hid_t type) {
  return is_one_of(type, {H5T_IEEE_F32LE, H5T_IEEE_F32BE, H5T_IEEE_F64LE, H5T_IEEE_F64BE});
}

bool is_integer(hid_t type) {
  return is_one_of(type, {H5T_STD_U8LE, H5T_STD_I8LE, H5T_STD_U16LE, H5T_STD_I16LE, H5T_STD_U32LE,
                          H5T_STD_I32LE, H5T_STD_U64LE, H5T_STD_I64LE, H5T_STD_U16BE, H5T_STD_I16BE,
                          H5T_STD_U32BE, H5T_STD_I32BE, H5T_STD_U64BE, H5T_STD_I64BE});
}

// One dataset, checked on opening.
class CheckedDataset {
 public:
  CheckedDataset(const Hdf5Handle& group, const char* name, const std::string& path,
                 std::uint64_t file_bytes)
      : object_((check_hard_link(group, name, path), path)),
        dataset_(H5Dopen2(group.id(), name, H5P_DEFAULT), H5Dclose, path),
        type_(H5Dget_type(dataset_.id()), H5Tclose, path) {
    read_sizes();
    const Hdf5Handle creation(H5Dget_create_plist(dataset_.id()), H5Pclose, path);
    check_filters(creation);
    check_storage(creation, file_bytes);
  }

  const std::string& object() const { return object_; }
  hid_t type() const { return type_.id(); }
  const std::vector<std::size_t>& sizes() const { return sizes_; }

  template <typename Value>
  std::vector<Value> read(hid_t memory_type) const {
    auto values = zeros_in_huge_pages<Value>(count_);
    check_hdf5(H5Dread(dataset_.id(), memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()),
               object_);
    return values;
  }

 private:
  void read_sizes() {
    const Hdf5Handle space(H5Dget_space(dataset_.id()), H5Sclose, object_);
    const int rank = H5Sget_simple_extent_ndims(space.id());
    if (rank < 1 || rank > most_rank) {
      refuse(object_, "found " + std::to_string(rank) + " dimensions, expected 1 to 4");
    }
    std::array<hsize_t, most_rank> sizes{};
    check_hdf5(H5Sget_simple_extent_dims(space.id(), sizes.data(), nullptr), object_);
    sizes_.assign(sizes.begin(), sizes.begin() + rank);
    for (const std::size_t size : sizes_) {
      if (size == 0) refuse(object_, "found an empty dimension, expected at least 1");
      if (__builtin_mul_overflow(count_, size, &count_))
        refuse(object_, "its size exceeds 64 bits");
    }
  }

  void check_filters(const Hdf5Handle& creation) const {
    const int filters = H5Pget_nfilters(creation.id());
    for (int i = 0; i < filters; ++i) {
      unsigned flags = 0;
      std::size_t values = 0;
      const H5Z_filter_t filter = H5Pget_filter2(creation.id(), static_cast<unsigned>(i), &flags,
                                                 &values, nullptr, 0, nullptr, nullptr);
      if (filter != H5Z_FILTER_DEFLATE && filter != H5Z_FILTER_SHUFFLE &&
          filter != H5Z_FILTER_FLETCHER32) {
        refuse(object_, "found filter " + std::to_string(filter) +
                            ", expected none but deflate (gzip), shuffle and fletcher32");
      }
    }
  }

  // What is promised must be there: byte for byte, or as far as DEFLATE can compress it.
  void check_storage(const Hdf5Handle& creation, std::uint64_t file_bytes) const {
    const H5D_layout_t layout = H5Pget_layout(creation.id());
    const bool is_chunked = layout == H5D_CHUNKED;
    if (!is_chunked && layout != H5D_CONTIGUOUS && layout != H5D_COMPACT) {
      refuse(object_, "found virtual storage, expected the values in the file itself");
    }
    if (H5Pget_external_count(creation.id()) != 0) {
      refuse(object_, "found external storage, expected the values in the file itself");
    }
    const std::uint64_t stored = H5Dget_storage_size(dataset_.id());
    std::uint64_t promised = 0;
    const bool is_too_large =
        __builtin_mul_overflow(count_, H5Tget_size(type_.id()), &promised) || stored > file_bytes ||
        (is_chunked ? promised / most_expansion > stored : promised != stored) ||
        (is_chunked && chunk_bytes(creation) / most_expansion > file_bytes);
    if (is_too_large) {
      refuse(object_, "its header promises " + std::to_string(promised) + " bytes, but " +
                          std::to_string(stored) + " are stored in a file of " +
                          std::to_string(file_bytes));
    }
  }

  std::uint64_t chunk_bytes(const Hdf5Handle& creation) const {
    std::array<hsize_t, most_rank> chunk{};
    const int rank = H5Pget_chunk(creation.id(), most_rank, chunk.data());
    std::uint64_t bytes = H5Tget_size(type_.id());
    for (int i = 0; i < std::min(rank, most_rank); ++i) {
      if (__builtin_mul_overflow(bytes, chunk[static_cast<std::size_t>(i)], &bytes)) {
        refuse(object_, "the size of its chunks exceeds 64 bits");
      }
    }
    return bytes;
  }

  std::string object_;
  Hdf5Handle dataset_;
  Hdf5Handle type_;
  std::vector<std::size_t> sizes_;
  std::size_t count_ = 1;
};

SampleShape shape_of(const CheckedDataset& images) {
  const std::vector<std::size_t>& sizes = images.sizes();
  if (sizes.size() == 2) return {1, 1, sizes[1]};
  if (sizes.size() == 3) return {sizes[1], sizes[2], 1};
  if (sizes.size() == 4) return {sizes[2], sizes[3], sizes[1]};
  refuse(images.object(), "found 1 dimension, expected [N,F], [N,H,W] or [N,C,H,W]");
}

InMemoryDataset::Values read_values(const CheckedDataset& images) {
  if (is_byte(images.type())) return images.read<std::uint8_t>(H5T_NATIVE_UINT8);
  if (!is_float(images.type())) {
    refuse(images.object(), "found another type, expected unsigned bytes or 32- or 64-bit floats");
  }
  std::vector<float> values = images.read<float>(H5T_NATIVE_FLOAT);
  const auto bad =
      std::find_if(values.begin(), values.end(), [](float value) { return !std::isfinite(value); });
  if (bad != values.end()) {
    const auto at = static_cast<std::size_t>(bad - values.begin());
    refuse(images.object(), "found a value that is not finite in sample " +
                                std::to_string(at / (values.size() / images.sizes()[0])));
  }
  return values;
}

std::vector<std::int32_t> read_labels(const CheckedDataset& labels, std::size_t samples) {
  if (labels.sizes().size() != 1 || labels.sizes()[0] != samples) {
    refuse(labels.object(), "found " + std::to_string(labels.sizes().size()) + " dimensions and " +
                                std::to_string(labels.sizes()[0]) +
                                " labels, expected 1 dimension and " + std::to_string(samples) +
                                ", one label for each image");
  }
  if (!is_integer(labels.type())) refuse(labels.object(), "found another type, expected integers");
  const auto values = labels.read<std::int64_t>(H5T_NATIVE_INT64);
  std::vector<std::int32_t> result;
  result.reserve(values.size());
  for (const std::int64_t value : values) {
    if (value < 0 || value > most_label) {
      refuse(labels.object(), "found label " + std::to_string(value) + " of sample " +
                                  std::to_string(result.size()) + ", expected 0 to " +
                                  std::to_string(most_label));
    }
    result.push_back(static_cast<std::int32_t>(value));
  }
  return result;
}

RawSamples read_part(const Hdf5Handle& file, const char* part, const std::string& name,
                     std::uint64_t file_bytes) {
  const std::string path = name + ": /" + part;
  const Hdf5Handle group = open_group(file, part, path);
  const CheckedDataset images(group, "images", path + "/images", file_bytes);
  const CheckedDataset labels(group, "labels", path + "/labels", file_bytes);
  RawSamples samples{name + ":/" + part, shape_of(images), {}, {}};
  samples.labels = read_labels(labels, images.sizes()[0]);
  samples.values = read_values(images);
  to_channels_last(samples.values, samples.shape);
  return samples;
}

}  // namespace

Hdf5Samples parse_hdf5(std::span<const std::byte> bytes, const std::string& name) try {
  const Hdf5Handle file = open_hdf5_image(bytes, name);
  Hdf5Samples samples{read_part(file, "train", name, bytes.size()), std::nullopt};
  if (has_link(file, "test")) samples.test = read_part(file, "test", name, bytes.size());
  return samples;
} catch (const Hdf5Error& error) {
  throw ContentError(error.what());
}

Hdf5Samples read_hdf5(const std::filesystem::path& file) {
  return parse_hdf5(read_file(file, most_hdf5_bytes), file.string());
}

}  // namespace rubato::data
