// The few HDF5 operations that a checkpoint needs, one function each. All throw data::Hdf5Error
// naming the object.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/hdf5_handle.hpp"
#include "runtime/training_state.hpp"

namespace rubato::runtime::hdf5 {

data::Hdf5Handle create_group(const data::Hdf5Handle& parent, const std::string& name);
data::Hdf5Handle open_group(const data::Hdf5Handle& parent, const std::string& name);
data::Hdf5Handle open_dataset(const data::Hdf5Handle& parent, const std::string& path);

// A tensor's name is its path below the group; its groups exist.
void write_tensor(const data::Hdf5Handle& group, const NamedTensor& tensor);
// All float32 datasets below the group, two levels deep at most, sorted by name.
std::vector<NamedTensor> read_tensors(const data::Hdf5Handle& group);

void write_text(const data::Hdf5Handle& object, const std::string& name, const std::string& value);
void write_unsigned(const data::Hdf5Handle& object, const std::string& name, std::uint64_t value);
void write_integer(const data::Hdf5Handle& object, const std::string& name, std::int32_t value);
void write_real(const data::Hdf5Handle& object, const std::string& name, double value);

std::string read_text(const data::Hdf5Handle& object, const std::string& name);
std::uint64_t read_unsigned(const data::Hdf5Handle& object, const std::string& name);
std::int32_t read_integer(const data::Hdf5Handle& object, const std::string& name);
double read_real(const data::Hdf5Handle& object, const std::string& name);

std::vector<std::string> attribute_names(const data::Hdf5Handle& object);  // sorted
bool has_attribute(const data::Hdf5Handle& object, const std::string& name);

}  // namespace rubato::runtime::hdf5
