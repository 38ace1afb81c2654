// The few HDF5 operations that a checkpoint needs, one function each: groups, members, attributes.
// All throw data::Hdf5Error naming the object.
//
// Reading trusts nothing, not even a file whose checksum is right: a checksum can be made by
// anyone. Links are followed one component at a time, and only hard ones: others could lead out of
// the file. Types are exactly those that the writing functions use. Names and counts are bounded,
// and what is declared is checked before memory is taken for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "data/hdf5_handle.hpp"

namespace rubato::runtime::hdf5 {

inline constexpr std::size_t most_attributes = 4096;    // of one object
inline constexpr std::size_t most_members = 65536;      // of one group
inline constexpr std::size_t longest_name = 255;        // of printable ASCII, without a slash
inline constexpr std::size_t longest_text = 64 * 1024;  // bytes of a text attribute

data::Hdf5Handle create_group(const data::Hdf5Handle& parent, const std::string& name);

// A member of a group by its own name; `path` is what messages call it.
data::Hdf5Handle open_group(const data::Hdf5Handle& parent, const std::string& name,
                            const std::string& path);
data::Hdf5Handle open_group(const data::Hdf5Handle& parent, const std::string& name);
// A group or a dataset: is_group tells.
data::Hdf5Handle open_member(const data::Hdf5Handle& parent, const std::string& name,
                             const std::string& path);
bool is_group(const data::Hdf5Handle& object);

std::vector<std::string> member_names(const data::Hdf5Handle& group);      // sorted
std::vector<std::string> attribute_names(const data::Hdf5Handle& object);  // sorted
bool has_attribute(const data::Hdf5Handle& object, const std::string& name);

// Throws if `found` holds a name that is not among `known`: 'KIND "name": found ..., expected ...'.
void require_known(const std::vector<std::string>& found,
                   std::initializer_list<std::string_view> known, const std::string& kind);

// A text may be as long as an object header can hold, a little less than `longest_text`.
void write_text(const data::Hdf5Handle& object, const std::string& name, const std::string& value);
void write_unsigned(const data::Hdf5Handle& object, const std::string& name, std::uint64_t value);
void write_integer(const data::Hdf5Handle& object, const std::string& name, std::int32_t value);
void write_real(const data::Hdf5Handle& object, const std::string& name, double value);

std::string read_text(const data::Hdf5Handle& object, const std::string& name);
std::uint64_t read_unsigned(const data::Hdf5Handle& object, const std::string& name);
std::int32_t read_integer(const data::Hdf5Handle& object, const std::string& name);
double read_real(const data::Hdf5Handle& object, const std::string& name);

}  // namespace rubato::runtime::hdf5
