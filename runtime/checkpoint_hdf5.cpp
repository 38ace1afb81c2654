// Each C function of HDF5 is called in one place, and its result checked there.
#include "runtime/checkpoint_hdf5.hpp"

#include <algorithm>

#include "data/in_quotes.hpp"

namespace rubato::runtime::hdf5 {

using data::check_hdf5;
using data::Hdf5Error;
using data::Hdf5Handle;
using data::in_quotes;

namespace {

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
      "cannot create attribute " + in_quotes(name));
  check_hdf5(H5Awrite(attribute.id(), given, value), "cannot write attribute " + in_quotes(name));
}

// An attribute that is there and holds one value, and the value's type.
struct ScalarAttribute {
  ScalarAttribute(const Hdf5Handle& object, const std::string& name)
      : what("attribute " + in_quotes(name)),
        attribute(H5Aopen(object.id(), name.c_str(), H5P_DEFAULT), H5Aclose, what),
        type(H5Aget_type(attribute.id()), H5Tclose, what) {
    const Hdf5Handle space(H5Aget_space(attribute.id()), H5Sclose, what);
    if (H5Sget_simple_extent_type(space.id()) != H5S_SCALAR) {
      throw Hdf5Error(what + ": found an array, expected a single value");
    }
  }

  void read(hid_t memory_type, void* value) const {
    check_hdf5(H5Aread(attribute.id(), memory_type, value), what);
  }

  std::string what;
  Hdf5Handle attribute;
  Hdf5Handle type;
};

template <class Number>
Number read_number(const Hdf5Handle& object, const std::string& name, hid_t stored, hid_t memory,
                   const std::string& kind) {
  const ScalarAttribute attribute(object, name);
  if (H5Tequal(attribute.type.id(), stored) <= 0) {
    throw Hdf5Error(attribute.what + ": found another type, expected " + kind);
  }
  Number value{};
  attribute.read(memory, &value);
  return value;
}

bool is_plain(std::string_view name) {
  const auto is_plain_letter = [](char letter) {
    return letter >= ' ' && letter <= '~' && letter != '/';
  };
  return !name.empty() && name.size() <= longest_name && name != "." && name != ".." &&
         std::all_of(name.begin(), name.end(), is_plain_letter);
}

// Collects names until there are more than the limit, which ends the iteration.
struct NameList {
  std::vector<std::string> names;
  std::size_t limit;
  bool is_over = false;

  herr_t add(const char* name) {
    is_over = names.size() == limit;
    if (!is_over) names.emplace_back(name);
    return is_over ? 1 : 0;
  }

  std::vector<std::string> checked(const std::string& kind) && {
    if (is_over) {
      throw Hdf5Error("found more than " + std::to_string(limit) + " " + kind +
                      " of one object, expected at most so many");
    }
    for (const std::string& name : names) {
      if (!is_plain(name)) {
        throw Hdf5Error(kind + ": found the name " + in_quotes(name) +
                        ", expected at most 255 printable letters without a slash");
      }
    }
    std::sort(names.begin(), names.end());
    return std::move(names);
  }
};

}  // namespace

Hdf5Handle create_group(const Hdf5Handle& parent, const std::string& name) {
  return {H5Gcreate2(parent.id(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose,
          "cannot create group " + in_quotes(name)};
}

Hdf5Handle open_member(const Hdf5Handle& parent, const std::string& name, const std::string& path) {
  const htri_t is_there = H5Lexists(parent.id(), name.c_str(), H5P_DEFAULT);
  check_hdf5(is_there, path);
  if (is_there == 0) throw Hdf5Error(path + ": not there");
  H5L_info_t link{};
  check_hdf5(H5Lget_info(parent.id(), name.c_str(), &link, H5P_DEFAULT), path);
  if (link.type != H5L_TYPE_HARD) {
    throw Hdf5Error(path + ": found a soft or external link, expected the object itself");
  }
  return {H5Oopen(parent.id(), name.c_str(), H5P_DEFAULT), H5Oclose, path};
}

Hdf5Handle open_group(const Hdf5Handle& parent, const std::string& name, const std::string& path) {
  Hdf5Handle object = open_member(parent, name, path);
  if (!is_group(object)) throw Hdf5Error(path + ": found another object, expected a group");
  return object;
}

Hdf5Handle open_group(const Hdf5Handle& parent, const std::string& name) {
  return open_group(parent, name, "/" + name);
}

bool is_group(const Hdf5Handle& object) { return H5Iget_type(object.id()) == H5I_GROUP; }

std::vector<std::string> member_names(const Hdf5Handle& group) {
  NameList list{{}, most_members};
  const auto add = [](hid_t, const char* name, const H5L_info_t*, void* names) -> herr_t {
    return static_cast<NameList*>(names)->add(name);
  };
  check_hdf5(H5Literate(group.id(), H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, add, &list),
             "cannot list a group");
  return std::move(list).checked("members");
}

std::vector<std::string> attribute_names(const Hdf5Handle& object) {
  NameList list{{}, most_attributes};
  const auto add = [](hid_t, const char* name, const H5A_info_t*, void* names) -> herr_t {
    return static_cast<NameList*>(names)->add(name);
  };
  check_hdf5(H5Aiterate2(object.id(), H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, add, &list),
             "cannot list attributes");
  return std::move(list).checked("attributes");
}

bool has_attribute(const Hdf5Handle& object, const std::string& name) {
  const htri_t found = H5Aexists(object.id(), name.c_str());
  check_hdf5(found, "cannot look for attribute " + in_quotes(name));
  return found > 0;
}

void require_known(const std::vector<std::string>& found,
                   std::initializer_list<std::string_view> known, const std::string& kind) {
  for (const std::string& name : found) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      throw Hdf5Error(kind + " " + in_quotes(name) + ": found where none of this name is expected");
    }
  }
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
  const ScalarAttribute attribute(object, name);
  const bool is_text = H5Tget_class(attribute.type.id()) == H5T_STRING &&
                       H5Tis_variable_str(attribute.type.id()) == 0;
  const std::size_t bytes = H5Tget_size(attribute.type.id());
  if (!is_text || bytes > longest_text) {
    throw Hdf5Error(attribute.what +
                    ": found another type, expected text of fixed length, at most " +
                    std::to_string(longest_text) + " bytes");
  }
  std::string value(bytes, '\0');
  attribute.read(attribute.type.id(), value.data());
  value.erase(std::find(value.begin(), value.end(), '\0'), value.end());
  return value;
}

std::uint64_t read_unsigned(const Hdf5Handle& object, const std::string& name) {
  return read_number<std::uint64_t>(object, name, H5T_STD_U64LE, H5T_NATIVE_UINT64,
                                    "an unsigned 64-bit integer");
}

std::int32_t read_integer(const Hdf5Handle& object, const std::string& name) {
  return read_number<std::int32_t>(object, name, H5T_STD_I32LE, H5T_NATIVE_INT32,
                                   "a 32-bit integer");
}

double read_real(const Hdf5Handle& object, const std::string& name) {
  return read_number<double>(object, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, "a 64-bit float");
}

}  // namespace rubato::runtime::hdf5
