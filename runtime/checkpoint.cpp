// The state's parts and their places in the file. Reading expects exactly what writing made.
#include "runtime/checkpoint.hpp"

#include <algorithm>

#include "data/errors.hpp"
#include "data/hdf5_handle.hpp"
#include "runtime/checkpoint_hdf5.hpp"
#include "runtime/checkpoint_tensors.hpp"
#include "runtime/committed_file.hpp"
#include "runtime/errors.hpp"

namespace rubato::runtime {

namespace {

constexpr std::uint64_t format_version = 2;
constexpr const char* format_name = "rubato-checkpoint";

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

// An object's attributes as text, but for those that are known by other names.
std::vector<ContextEntry> read_texts(const data::Hdf5Handle& object,
                                     const std::vector<std::string>& known) {
  std::vector<ContextEntry> entries;
  for (const std::string& name : hdf5::attribute_names(object)) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    entries.push_back({name, hdf5::read_text(object, name)});
  }
  return entries;
}

// A group of attributes alone.
data::Hdf5Handle open_list(const data::Hdf5Handle& file, const std::string& name) {
  data::Hdf5Handle group = hdf5::open_group(file, name);
  hdf5::require_known(hdf5::member_names(group), {}, "/" + name + ": member");
  return group;
}

void check_format(const data::Hdf5Handle& file) {
  if (hdf5::read_text(file, "format") != format_name) {
    throw data::Hdf5Error("attribute \"format\": found another name, expected " +
                          std::string(format_name));
  }
  const std::uint64_t version = hdf5::read_unsigned(file, "format_version");
  if (version == format_version) return;
  throw data::Hdf5Error("found format version " + std::to_string(version) +
                        ", this program reads version " + std::to_string(format_version) +
                        (version > format_version ? "; use a newer program"
                                                  : "; use the program that wrote the file"));
}

void read_lists(const data::Hdf5Handle& file, Checkpoint& checkpoint) {
  TrainingState& state = checkpoint.state;
  const data::Hdf5Handle cursor = open_list(file, "cursor");
  hdf5::require_known(hdf5::attribute_names(cursor),
                      {"update", "row", "epoch", "position", "minibatch", "samples"},
                      "/cursor: attribute");
  for_each_field(state.cursor, [&](const char* name, std::uint64_t& value) {
    value = hdf5::read_unsigned(cursor, name);
  });
  const data::Hdf5Handle audit = open_list(file, "audit");
  hdf5::require_known(hdf5::attribute_names(audit),
                      {"epoch", "epoch_samples", "epoch_digest", "run_digest"},
                      "/audit: attribute");
  for_each_audit_field(state.audit, [&](const char* name, std::uint64_t& value) {
    value = hdf5::read_unsigned(audit, name);
  });
  const data::Hdf5Handle elastic = open_list(file, "elastic");
  for (const std::string& name : hdf5::attribute_names(elastic)) {
    state.scalars.push_back({name, hdf5::read_real(elastic, name)});
  }
  checkpoint.identity = read_texts(open_list(file, "identity"), {});
}

Checkpoint read_all(const data::Hdf5Handle& file, std::uint64_t file_bytes) {
  check_format(file);
  hdf5::require_known(hdf5::member_names(file),
                      {"identity", "cursor", "audit", "model", "optimizer", "elastic"}, "member");
  Checkpoint checkpoint;
  TrainingState& state = checkpoint.state;
  state.seed = hdf5::read_unsigned(file, "seed");
  state.rule = hdf5::read_text(file, "rule");
  checkpoint.context = read_texts(file, {"format", "format_version", "seed", "rule"});
  read_lists(file, checkpoint);
  TensorReader tensors(file_bytes);
  state.model = tensors.read(file, "model", /*levels=*/1, &state.exact_exponents);
  state.optimizer = tensors.read(file, "optimizer", /*levels=*/2, /*exponents=*/nullptr);
  return checkpoint;
}

void write_texts(const data::Hdf5Handle& object, const std::vector<ContextEntry>& entries) {
  for (const ContextEntry& entry : entries) hdf5::write_text(object, entry.name, entry.value);
}

// Texts and everything else but the tensors fit here.
constexpr std::size_t image_bytes_of_the_rest = std::size_t{1} << 20U;

std::vector<std::byte> write_all(const Checkpoint& checkpoint) {
  const TrainingState& state = checkpoint.state;
  data::Hdf5Image built(image_bytes(state.model) + image_bytes(state.optimizer) +
                        image_bytes_of_the_rest);
  const data::Hdf5Handle& image = built.file();
  hdf5::write_text(image, "format", format_name);
  hdf5::write_unsigned(image, "format_version", format_version);
  hdf5::write_unsigned(image, "seed", state.seed);
  hdf5::write_text(image, "rule", state.rule);
  write_texts(image, checkpoint.context);
  write_texts(hdf5::create_group(image, "identity"), checkpoint.identity);
  const data::Hdf5Handle cursor = hdf5::create_group(image, "cursor");
  for_each_field(state.cursor, [&](const char* name, std::uint64_t value) {
    hdf5::write_unsigned(cursor, name, value);
  });
  const data::Hdf5Handle audit = hdf5::create_group(image, "audit");
  for_each_audit_field(state.audit, [&](const char* name, std::uint64_t value) {
    hdf5::write_unsigned(audit, name, value);
  });
  write_tensors(image, "model", state.model, state.exact_exponents);
  write_tensors(image, "optimizer", state.optimizer, {});
  const data::Hdf5Handle elastic = hdf5::create_group(image, "elastic");
  for (const optim::NamedScalar& scalar : state.scalars) {
    hdf5::write_real(elastic, scalar.name, scalar.value);
  }
  return built.take_bytes();
}

}  // namespace

std::filesystem::path checkpoint_path(const std::filesystem::path& directory,
                                      std::uint64_t update) {
  return directory / "checkpoints" / ("ckpt-" + std::to_string(update) + ".h5");
}

std::vector<std::byte> encode_checkpoint(const Checkpoint& checkpoint) {
  try {
    return write_all(checkpoint);
  } catch (const data::Hdf5Error& error) {
    throw WriteError(std::string("cannot make a checkpoint: ") + error.what());
  }
}

Checkpoint decode_checkpoint(std::span<const std::byte> bytes, const std::string& name) {
  try {
    return read_all(data::open_hdf5_image(bytes, "its content"), bytes.size());
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
