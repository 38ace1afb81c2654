// Each C function of HDF5 is called in one place, and its result checked there.
#include "runtime/checkpoint_hdf5.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace rubato::runtime::hdf5 {

using data::check_hdf5;
using data::Hdf5Error;
using data::Hdf5Handle;

namespace {

constexpr std::size_t largest_text_bytes = 64 * 1024;
constexpr std::size_t largest_tensor_rank = 8;

Hdf5Handle scalar_space() {
  return {H5Screate(H5S_SCALAR), H5Sclose, "cannot create a scalar data space"};
}

Hdf5Handle text_type(std::size_t bytes) {
  Hdf5Handle type(H5Tcopy(H5T_C_S1), H5Tclose, "cannot create a text type");
  check_hdf5(H5Tset_size(type.id(), std::max<std::size_t>(bytes, 1)), "cannot size a text type");
  check_hdf5(H5Tset_strpad(type.id(), H5T_STR_NULLPAD), "cannot set a text type's padding");
  return type;
}

void write_attribute(const Hdf5Handle& object, const std::string& name, hid_t stored, hid_t given,
                     const void* value) {
  const Hdf5Handle space = scalar_space();
  const Hdf5Handle attribute(
      H5Acreate2(object.id(), name.c_str(), stored, space.id(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
      "cannot create attribute " + name);
  check_hdf5(H5Awrite(attribute.id(), given, value), "cannot write attribute " + name);
}

Hdf5Handle open_attribute(const Hdf5Handle& object, const std::string& name) {
  return {H5Aopen(object.id(), name.c_str(), H5P_DEFAULT), H5Aclose,
          "cannot open attribute " + name};
}

void require_scalar(const Hdf5Handle& attribute, H5T_class_t wanted, std::size_t largest_bytes,
                    const std::string& name) {
  const Hdf5Handle space(H5Aget_space(attribute.id()), H5Sclose, "attribute " + name);
  const Hdf5Handle type(H5Aget_type(attribute.id()), H5Tclose, "attribute " + name);
  if (H5Sget_simple_extent_npoints(space.id()) != 1 || H5Tget_class(type.id()) != wanted ||
      H5Tis_variable_str(type.id()) > 0 || H5Tget_size(type.id()) > largest_bytes) {
    throw Hdf5Error("attribute " + name + ": not a single value of the expected type");
  }
}

template <class T>
T read_number(const Hdf5Handle& object, const std::string& name, H5T_class_t wanted, hid_t type) {
  const Hdf5Handle attribute = open_attribute(object, name);
  require_scalar(attribute, wanted, sizeof(T), name);
  T value{};
  check_hdf5(H5Aread(attribute.id(), type, &value), "cannot read attribute " + name);
  return value;
}

NamedTensor read_tensor(const Hdf5Handle& group, const std::string& path) {
  const Hdf5Handle dataset = open_dataset(group, path);
  const Hdf5Handle space(H5Dget_space(dataset.id()), H5Sclose, "dataset " + path);
  const Hdf5Handle type(H5Dget_type(dataset.id()), H5Tclose, "dataset " + path);
  std::array<hsize_t, largest_tensor_rank> extents{};
  const int rank = H5Sget_simple_extent_ndims(space.id());
  if (rank < 0 || static_cast<std::size_t>(rank) > largest_tensor_rank ||
      H5Tequal(type.id(), H5T_IEEE_F32LE) <= 0) {
    throw Hdf5Error("dataset " + path + ": not a float32 array of at most 8 dimensions");
  }
  check_hdf5(H5Sget_simple_extent_dims(space.id(), extents.data(), nullptr), "dataset " + path);
  NamedTensor tensor{path, {extents.begin(), extents.begin() + rank}, {}};
  std::size_t elements = 1;
  for (std::size_t extent : tensor.shape) {
    if (__builtin_mul_overflow(elements, extent, &elements)) elements = SIZE_MAX;
  }
  if (H5Dget_storage_size(dataset.id()) / sizeof(float) != elements) {
    throw Hdf5Error("dataset " + path + ": its shape does not fit the bytes stored");
  }
  tensor.values.resize(elements);
  check_hdf5(
      H5Dread(dataset.id(), H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, tensor.values.data()),
      "cannot read dataset " + path);
  return tensor;
}

std::vector<std::string> link_names(const Hdf5Handle& group) {
  std::vector<std::string> names;
  const auto append = [](hid_t, const char* name, const H5L_info_t*, void* list) -> herr_t {
    static_cast<std::vector<std::string>*>(list)->emplace_back(name);
    return 0;
  };
  check_hdf5(H5Literate(group.id(), H5_INDEX_NAME, H5_ITER_INC, nullptr, append, &names),
             "cannot list a group");
  return names;
}

bool is_group(const Hdf5Handle& parent, const std::string& name) {
  H5L_info_t link{};
  check_hdf5(H5Lget_info(parent.id(), name.c_str(), &link, H5P_DEFAULT), "link " + name);
  if (link.type != H5L_TYPE_HARD) throw Hdf5Error("link " + name + ": only hard links are read");
  const Hdf5Handle object(H5Oopen(parent.id(), name.c_str(), H5P_DEFAULT), H5Oclose, name);
  return H5Iget_type(object.id()) == H5I_GROUP;
}

}  // namespace

Hdf5Handle create_group(const Hdf5Handle& parent, const std::string& name) {
  return {H5Gcreate2(parent.id(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose,
          "cannot create group " + name};
}

Hdf5Handle open_group(const Hdf5Handle& parent, const std::string& name) {
  return {H5Gopen2(parent.id(), name.c_str(), H5P_DEFAULT), H5Gclose, "cannot open group " + name};
}

Hdf5Handle open_dataset(const Hdf5Handle& parent, const std::string& path) {
  return {H5Dopen2(parent.id(), path.c_str(), H5P_DEFAULT), H5Dclose,
          "cannot open dataset " + path};
}

void write_tensor(const Hdf5Handle& group, const NamedTensor& tensor) {
  const std::vector<hsize_t> extents(tensor.shape.begin(), tensor.shape.end());
  const Hdf5Handle space(
      H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr), H5Sclose,
      "cannot create the data space of " + tensor.name);
  const Hdf5Handle dataset(H5Dcreate2(group.id(), tensor.name.c_str(), H5T_IEEE_F32LE, space.id(),
                                      H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                           H5Dclose, "cannot create dataset " + tensor.name);
  check_hdf5(
      H5Dwrite(dataset.id(), H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, tensor.values.data()),
      "cannot write dataset " + tensor.name);
}

std::vector<NamedTensor> read_tensors(const Hdf5Handle& group) {
  std::vector<NamedTensor> tensors;
  for (const std::string& name : link_names(group)) {
    if (!is_group(group, name)) {
      tensors.push_back(read_tensor(group, name));
      continue;
    }
    const Hdf5Handle inner = open_group(group, name);
    for (const std::string& inner_name : link_names(inner)) {
      if (is_group(inner, inner_name)) {
        throw Hdf5Error("group " + name + "/" + inner_name + ": deeper than expected");
      }
      tensors.push_back(read_tensor(group, name + "/" + inner_name));
    }
  }
  return tensors;
}

void write_text(const Hdf5Handle& object, const std::string& name, const std::string& value) {
  const Hdf5Handle type = text_type(value.size());
  write_attribute(object, name, type.id(), type.id(), value.c_str());
}

void write_unsigned(const Hdf5Handle& object, const std::string& name, std::uint64_t value) {
  write_attribute(object, name, H5T_STD_U64LE, H5T_NATIVE_UINT64, &value);
}

void write_integer(const Hdf5Handle& object, const std::string& name, std::int32_t value) {
  write_attribute(object, name, H5T_STD_I32LE, H5T_NATIVE_INT32, &value);
}

void write_real(const Hdf5Handle& object, const std::string& name, double value) {
  write_attribute(object, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &value);
}

std::string read_text(const Hdf5Handle& object, const std::string& name) {
  const Hdf5Handle attribute = open_attribute(object, name);
  require_scalar(attribute, H5T_STRING, largest_text_bytes, name);
  const Hdf5Handle type(H5Aget_type(attribute.id()), H5Tclose, "attribute " + name);
  std::string value(H5Tget_size(type.id()), '\0');
  check_hdf5(H5Aread(attribute.id(), type.id(), value.data()), "cannot read attribute " + name);
  value.erase(std::find(value.begin(), value.end(), '\0'), value.end());
  return value;
}

std::uint64_t read_unsigned(const Hdf5Handle& object, const std::string& name) {
  return read_number<std::uint64_t>(object, name, H5T_INTEGER, H5T_NATIVE_UINT64);
}

std::int32_t read_integer(const Hdf5Handle& object, const std::string& name) {
  return read_number<std::int32_t>(object, name, H5T_INTEGER, H5T_NATIVE_INT32);
}

double read_real(const Hdf5Handle& object, const std::string& name) {
  return read_number<double>(object, name, H5T_FLOAT, H5T_NATIVE_DOUBLE);
}

std::vector<std::string> attribute_names(const Hdf5Handle& object) {
  std::vector<std::string> names;
  const auto append = [](hid_t, const char* name, const H5A_info_t*, void* list) -> herr_t {
    static_cast<std::vector<std::string>*>(list)->emplace_back(name);
    return 0;
  };
  check_hdf5(H5Aiterate2(object.id(), H5_INDEX_NAME, H5_ITER_INC, nullptr, append, &names),
             "cannot list attributes");
  return names;
}

bool has_attribute(const Hdf5Handle& object, const std::string& name) {
  const htri_t found = H5Aexists(object.id(), name.c_str());
  check_hdf5(found, "cannot look for attribute " + name);
  return found > 0;
}

}  // namespace rubato::runtime::hdf5
