// A checkpoint: the training state as one self-describing HDF5 file, which h5py opens.
//
//   /                      attributes: format, format_version, seed, rule; texts of the context
//   /identity              attributes: what a resumed run must share, as text
//   /cursor                attributes: update, row, epoch, position, minibatch, samples
//   /audit                 attributes: epoch, epoch_samples, epoch_digest, run_digest
//   /model/conv1.weight    float32, PyTorch's name and shape;
//                          attribute exact_exponent under the exact sum
//   /optimizer/momentum/conv1.weight
//   /elastic               attributes: the elastic optimizer's numbers (noise averages, progress,
//                          the inner optimizer's)
//
// libhdf5 builds the file as an image in memory; committed_file.hpp writes it, with a checksum that
// is verified before libhdf5 is given a byte of it again. Even then the loader believes nothing
// (checkpoint_hdf5.hpp, checkpoint_tensors.hpp): whatever is not in this list, or not exactly of
// the type and storage that the writer uses, is refused by name. There is no rank in a checkpoint,
// and no time but what the context says: equal checkpoints have equal bytes. The context is for
// people, and not part of the digest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "runtime/training_state.hpp"

namespace rubato::runtime {

struct ContextEntry {
  std::string name;
  std::string value;
  bool operator==(const ContextEntry&) const = default;
};

// DIRECTORY/checkpoints/ckpt-<update>.h5
std::filesystem::path checkpoint_path(const std::filesystem::path& directory, std::uint64_t update);

struct Checkpoint {
  TrainingState state;
  // What a run that goes on from here must have in common with the one that came here: data, trace,
  // model, kernels, by name and value.
  std::vector<ContextEntry> identity;
  std::vector<ContextEntry> context;  // for people: program, hosts, time
};

// The file's bytes. Throws WriteError where they cannot be made (a text of nearly 64 KiB or more).
std::vector<std::byte> encode_checkpoint(const Checkpoint& checkpoint);
// The way back. Throws data::ContentError naming `name` and what is wrong.
Checkpoint decode_checkpoint(std::span<const std::byte> bytes, const std::string& name);

// Throws WriteError.
void write_checkpoint(const std::filesystem::path& file, const Checkpoint& checkpoint);

// Throws data::MissingFileError, or data::ContentError naming the file and what is wrong with it.
Checkpoint read_checkpoint(const std::filesystem::path& file);

}  // namespace rubato::runtime
