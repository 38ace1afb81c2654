// See checkpoint_tensors.hpp. Reading walks the group; each dataset's type, shape and storage are
// checked, in this order, before memory is taken for its values.
#include "runtime/checkpoint_tensors.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "runtime/checkpoint_hdf5.hpp"

namespace rubato::runtime {

using data::check_hdf5;
using data::Hdf5Error;
using data::Hdf5Handle;

namespace {

constexpr std::size_t highest_rank = 8;
constexpr const char* exponent_attribute = "exact_exponent";

[[noreturn]] void refuse(const std::string& path, const std::string& problem) {
  throw Hdf5Error(path + ": " + problem);
}

std::string part_of(const std::string& tensor) {
  const std::size_t slash = tensor.find('/');
  return slash == std::string::npos ? std::string() : tensor.substr(0, slash);
}

// No time of creation: the same state gives the same bytes. No fill values: all are written.
Hdf5Handle creation_properties() {
  Hdf5Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "dataset properties");
  check_hdf5(H5Pset_obj_track_times(properties.id(), /*track_times=*/0), "dataset properties");
  check_hdf5(H5Pset_fill_time(properties.id(), H5D_FILL_TIME_NEVER), "dataset properties");
  return properties;
}

Hdf5Handle write_tensor(const Hdf5Handle& group, const NamedTensor& tensor,
                        const Hdf5Handle& properties) {
  const std::string what = "cannot write dataset " + tensor.name;
  const std::vector<hsize_t> extents(tensor.shape.begin(), tensor.shape.end());
  const Hdf5Handle space(
      H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr), H5Sclose, what);
  Hdf5Handle dataset(H5Dcreate2(group.id(), tensor.name.c_str(), H5T_IEEE_F32LE, space.id(),
                                H5P_DEFAULT, properties.id(), H5P_DEFAULT),
                     H5Dclose, what);
  check_hdf5(
      H5Dwrite(dataset.id(), H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, tensor.values.data()),
      what);
  return dataset;
}

std::vector<std::size_t> read_shape(const Hdf5Handle& dataset, const std::string& path) {
  const Hdf5Handle space(H5Dget_space(dataset.id()), H5Sclose, path);
  const int rank = H5Sget_simple_extent_ndims(space.id());
  const bool is_array = H5Sget_simple_extent_type(space.id()) != H5S_NULL;
  if (!is_array || rank < 0 || static_cast<std::size_t>(rank) > highest_rank) {
    refuse(path, "found " + (is_array ? std::to_string(rank) : std::string("no")) +
                     " dimensions, expected at most 8");
  }
  std::array<hsize_t, highest_rank> extents{};
  check_hdf5(H5Sget_simple_extent_dims(space.id(), extents.data(), nullptr), path);
  return {extents.begin(), extents.begin() + rank};
}

std::uint64_t element_count(const std::vector<std::size_t>& shape, const std::string& path) {
  std::uint64_t elements = 1;
  for (const std::size_t extent : shape) {
    if (extent == 0) refuse(path, "found an empty dimension, expected at least 1");
    if (__builtin_mul_overflow(elements, extent, &elements)) {
      refuse(path, "its shape has more elements than 64 bits can count");
    }
  }
  return elements;
}

}  // namespace

void write_tensors(const Hdf5Handle& file, const std::string& group_name,
                   const std::vector<NamedTensor>& tensors,
                   const std::vector<NamedExponent>& exponents) {
  const Hdf5Handle group = hdf5::create_group(file, group_name);
  const Hdf5Handle properties = creation_properties();
  std::set<std::string> parts;
  for (const NamedTensor& tensor : tensors) {
    const std::string part = part_of(tensor.name);
    if (!part.empty() && parts.insert(part).second) hdf5::create_group(group, part);
    const Hdf5Handle dataset = write_tensor(group, tensor, properties);
    for (const NamedExponent& unit : exponents) {
      if (unit.name != tensor.name) continue;
      hdf5::write_integer(dataset, exponent_attribute, unit.exponent);
    }
  }
}

std::size_t image_bytes(const std::vector<NamedTensor>& tensors) {
  constexpr std::size_t header_bytes = 1024;  // of a dataset: object header, name, link
  std::size_t bytes = 0;
  for (const NamedTensor& tensor : tensors) {
    bytes += header_bytes + tensor.values.size() * sizeof(float);
  }
  return bytes;
}

std::vector<NamedTensor> TensorReader::read(const Hdf5Handle& file, const std::string& group,
                                            int levels, std::vector<NamedExponent>* exponents) {
  Target target{"/" + group, {}, exponents};
  read_group(hdf5::open_group(file, group), "", levels, target);
  return std::move(target.tensors);
}

void TensorReader::read_group(const Hdf5Handle& group, const std::string& prefix, int levels,
                              Target& target) {
  hdf5::require_known(hdf5::attribute_names(group), {}, target.path + ": attribute");
  for (const std::string& member : hdf5::member_names(group)) {
    const std::string name = prefix + member;
    const std::string path = target.path + "/" + name;
    const Hdf5Handle object = hdf5::open_member(group, member, path);
    if (hdf5::is_group(object)) {
      if (levels == 1) refuse(path, "found a group, expected a dataset");
      read_group(object, name + "/", levels - 1, target);
      continue;
    }
    target.tensors.push_back(read_tensor(object, name, path));
    const std::vector<std::string> attributes = hdf5::attribute_names(object);
    if (target.exponents == nullptr) {
      hdf5::require_known(attributes, {}, path + ": attribute");
    } else if (!attributes.empty()) {
      hdf5::require_known(attributes, {exponent_attribute}, path + ": attribute");
      target.exponents->push_back({name, hdf5::read_integer(object, exponent_attribute)});
    }
  }
}

NamedTensor TensorReader::read_tensor(const Hdf5Handle& dataset, const std::string& name,
                                      const std::string& path) {
  if (H5Iget_type(dataset.id()) != H5I_DATASET) {
    refuse(path, "found another object, expected a dataset");
  }
  const Hdf5Handle type(H5Dget_type(dataset.id()), H5Tclose, path);
  if (H5Tequal(type.id(), H5T_IEEE_F32LE) <= 0) {
    refuse(path, "found values of another type, expected 32-bit floats, little-endian");
  }
  NamedTensor tensor{name, read_shape(dataset, path), {}};
  const std::uint64_t elements = element_count(tensor.shape, path);
  check_storage(dataset, elements, path);
  tensor.values.resize(elements);
  check_hdf5(
      H5Dread(dataset.id(), H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, tensor.values.data()),
      path);
  return tensor;
}

void TensorReader::check_storage(const Hdf5Handle& dataset, std::uint64_t elements,
                                 const std::string& path) {
  const Hdf5Handle creation(H5Dget_create_plist(dataset.id()), H5Pclose, path);
  if (H5Pget_layout(creation.id()) != H5D_CONTIGUOUS) {
    refuse(path, "found chunked, compact or virtual storage, expected the values in one piece");
  }
  if (H5Pget_external_count(creation.id()) != 0) {
    refuse(path, "found external storage, expected the values in the file itself");
  }
  if (H5Pget_nfilters(creation.id()) != 0) refuse(path, "found a filter, expected none");
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(elements, sizeof(float), &bytes)) {
    refuse(path, "its shape has more bytes than 64 bits can count");
  }
  const std::uint64_t stored = H5Dget_storage_size(dataset.id());
  if (stored != bytes) {
    refuse(path, "its shape takes " + std::to_string(bytes) + " bytes, but " +
                     std::to_string(stored) + " are stored");
  }
  const haddr_t offset = H5Dget_offset(dataset.id());
  if (bytes > file_bytes_ || offset > file_bytes_ - bytes) {
    refuse(path, "its " + std::to_string(bytes) + " bytes do not lie within the file's " +
                     std::to_string(file_bytes_));
  }
  if (bytes > bytes_left_) {
    refuse(path, "the tensors up to this one take more bytes than the file has, which are " +
                     std::to_string(file_bytes_));
  }
  bytes_left_ -= bytes;
}

}  // namespace rubato::runtime
