// The state's parts and their places in the file. Reading expects exactly what writing made.
#include "runtime/checkpoint.hpp"

#include <algorithm>
#include <set>

#include "data/errors.hpp"
#include "data/hdf5_handle.hpp"
#include "runtime/checkpoint_hdf5.hpp"
#include "runtime/committed_file.hpp"

namespace rubato::runtime {

namespace {

constexpr std::uint64_t format_version = 2;
constexpr const char* format_name = "rubato-checkpoint";
constexpr const char* exponent_attribute = "exact_exponent";

// The cursor's fields by name, for both directions.
template <class Cursor, class Visit>
void for_each_field(Cursor& cursor, const Visit& visit) {
  visit("update", cursor.update);
  visit("row", cursor.row);
  visit("epoch", cursor.epoch);
  visit("position", cursor.position);
  visit("minibatch", cursor.minibatch);
  visit("samples", cursor.samples);
}

template <class Audit, class Visit>
void for_each_audit_field(Audit& audit, const Visit& visit) {
  visit("epoch", audit.epoch);
  visit("epoch_samples", audit.epoch_samples);
  visit("epoch_digest", audit.epoch_digest);
  visit("run_digest", audit.run_digest);
}

std::string group_of(const std::string& tensor) {
  const std::size_t slash = tensor.find('/');
  return slash == std::string::npos ? std::string() : tensor.substr(0, slash);
}

void write_tensors(const data::Hdf5Handle& file, const std::string& group_name,
                   const std::vector<NamedTensor>& tensors) {
  const data::Hdf5Handle group = hdf5::create_group(file, group_name);
  std::set<std::string> made;
  for (const NamedTensor& tensor : tensors) {
    const std::string part = group_of(tensor.name);
    if (!part.empty() && made.insert(part).second) hdf5::create_group(group, part);
    hdf5::write_tensor(group, tensor);
  }
}

// The attributes of an object but for those named, all text.
std::vector<ContextEntry> read_texts(const data::Hdf5Handle& object,
                                     const std::vector<std::string>& others) {
  std::vector<ContextEntry> entries;
  for (const std::string& name : hdf5::attribute_names(object)) {
    if (std::find(others.begin(), others.end(), name) != others.end()) continue;
    entries.push_back({name, hdf5::read_text(object, name)});
  }
  return entries;
}

Checkpoint read_all(const data::Hdf5Handle& file) {
  if (hdf5::read_text(file, "format") != format_name) {
    throw data::Hdf5Error("attribute format: expected " + std::string(format_name));
  }
  if (const auto version = hdf5::read_unsigned(file, "format_version"); version != format_version) {
    throw data::Hdf5Error("format version " + std::to_string(version) + "; this program reads " +
                          std::to_string(format_version));
  }
  Checkpoint checkpoint;
  TrainingState& state = checkpoint.state;
  state.seed = hdf5::read_unsigned(file, "seed");
  state.rule = hdf5::read_text(file, "rule");
  const data::Hdf5Handle cursor = hdf5::open_group(file, "cursor");
  for_each_field(state.cursor, [&](const char* name, std::uint64_t& value) {
    value = hdf5::read_unsigned(cursor, name);
  });
  const data::Hdf5Handle audit = hdf5::open_group(file, "audit");
  for_each_audit_field(state.audit, [&](const char* name, std::uint64_t& value) {
    value = hdf5::read_unsigned(audit, name);
  });
  state.model = hdf5::read_tensors(hdf5::open_group(file, "model"));
  state.optimizer = hdf5::read_tensors(hdf5::open_group(file, "optimizer"));
  const data::Hdf5Handle elastic = hdf5::open_group(file, "elastic");
  for (const std::string& name : hdf5::attribute_names(elastic)) {
    state.scalars.push_back({name, hdf5::read_real(elastic, name)});
  }
  const data::Hdf5Handle model = hdf5::open_group(file, "model");
  for (const NamedTensor& tensor : state.model) {
    const data::Hdf5Handle dataset = hdf5::open_dataset(model, tensor.name);
    if (!hdf5::has_attribute(dataset, exponent_attribute)) continue;
    state.exact_exponents.push_back({tensor.name, hdf5::read_integer(dataset, exponent_attribute)});
  }
  checkpoint.identity = read_texts(hdf5::open_group(file, "identity"), {});
  checkpoint.context = read_texts(file, {"format", "format_version", "seed", "rule"});
  return checkpoint;
}

}  // namespace

std::filesystem::path checkpoint_path(const std::filesystem::path& directory,
                                      std::uint64_t update) {
  return directory / "checkpoints" / ("ckpt-" + std::to_string(update) + ".h5");
}

std::vector<std::byte> encode_checkpoint(const Checkpoint& checkpoint) {
  const TrainingState& state = checkpoint.state;
  const data::Hdf5Handle image = data::create_hdf5_image();
  hdf5::write_text(image, "format", format_name);
  hdf5::write_unsigned(image, "format_version", format_version);
  hdf5::write_unsigned(image, "seed", state.seed);
  hdf5::write_text(image, "rule", state.rule);
  for (const ContextEntry& entry : checkpoint.context) {
    hdf5::write_text(image, entry.name, entry.value);
  }
  const data::Hdf5Handle identity = hdf5::create_group(image, "identity");
  for (const ContextEntry& entry : checkpoint.identity) {
    hdf5::write_text(identity, entry.name, entry.value);
  }
  const data::Hdf5Handle cursor = hdf5::create_group(image, "cursor");
  for_each_field(state.cursor, [&](const char* name, std::uint64_t value) {
    hdf5::write_unsigned(cursor, name, value);
  });
  const data::Hdf5Handle audit = hdf5::create_group(image, "audit");
  for_each_audit_field(state.audit, [&](const char* name, std::uint64_t value) {
    hdf5::write_unsigned(audit, name, value);
  });
  write_tensors(image, "model", state.model);
  write_tensors(image, "optimizer", state.optimizer);
  const data::Hdf5Handle elastic = hdf5::create_group(image, "elastic");
  for (const optim::NamedScalar& scalar : state.scalars) {
    hdf5::write_real(elastic, scalar.name, scalar.value);
  }
  const data::Hdf5Handle model = hdf5::open_group(image, "model");
  for (const NamedExponent& unit : state.exact_exponents) {
    hdf5::write_integer(hdf5::open_dataset(model, unit.name), exponent_attribute, unit.exponent);
  }
  return data::hdf5_image_bytes(image);
}

Checkpoint decode_checkpoint(std::span<const std::byte> bytes, const std::string& name) {
  try {
    return read_all(data::open_hdf5_image(bytes, name));
  } catch (const data::Hdf5Error& error) {
    throw data::ContentError(name + ": not a checkpoint: " + error.what());
  }
}

void write_checkpoint(const std::filesystem::path& file, const Checkpoint& checkpoint) {
  commit_file_with_checksum(file, encode_checkpoint(checkpoint));
}

Checkpoint read_checkpoint(const std::filesystem::path& file) {
  return decode_checkpoint(read_checked_file(file), file.string());
}

}  // namespace rubato::runtime
