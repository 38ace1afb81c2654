// A checkpoint: the training state as one self-describing HDF5 file, which h5py opens.
//
//   /                      attributes: format, format_version, seed, rule, and the run's context
//   (provenance, as text) /cursor                attributes: update, row, epoch, position,
//   minibatch, samples /model/conv1.weight    float32, PyTorch's name and shape; attribute
//   exact_exponent under the exact sum /optimizer/momentum/conv1.weight /elastic attributes: the
//   elastic optimizer's numbers (noise averages, progress, inner optimizer's)
//
// libhdf5 builds the file as an image in memory; committed_file.hpp writes it, with a checksum that
// is verified before libhdf5 is given a byte of it again. There is no rank in it: the context is
// for people, and not part of the digest.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "runtime/training_state.hpp"

namespace rubato::runtime {

struct ContextEntry {
  std::string name;
  std::string value;
};

// DIRECTORY/checkpoints/ckpt-<update>.h5
std::filesystem::path checkpoint_path(const std::filesystem::path& directory, std::uint64_t update);

// Throws WriteError.
void write_checkpoint(const std::filesystem::path& file, const TrainingState& state,
                      const std::vector<ContextEntry>& context);

// Throws data::MissingFileError, or data::ContentError naming the file and what is wrong with it.
TrainingState read_checkpoint(const std::filesystem::path& file);

}  // namespace rubato::runtime
