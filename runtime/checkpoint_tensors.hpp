// Groups of float32 tensors in a checkpoint: /model, one level, and /optimizer, where each kind of
// state has a group of its own.
//
// A tensor's dataset has the tensor's shape (rank 0 to 8), and its values lie in the file in one
// piece, without filters, external or virtual storage. No tensor lies partly outside the file, and
// all of them together are no larger than it: whatever headers promise, reading takes no more
// memory than the file has bytes. All throw data::Hdf5Error naming the dataset.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "data/hdf5_handle.hpp"
#include "runtime/training_state.hpp"

namespace rubato::runtime {

// A tensor's name is its path below the group: "fc.weight", or "momentum/fc.weight". An exponent is
// an attribute of the tensor that it names.
void write_tensors(const data::Hdf5Handle& file, const std::string& group,
                   const std::vector<NamedTensor>& tensors,
                   const std::vector<NamedExponent>& exponents);

// About what the tensors take in an image, from above: for data::Hdf5Image.
std::size_t image_bytes(const std::vector<NamedTensor>& tensors);

class TensorReader {
 public:
  // Of a file of so many bytes.
  explicit TensorReader(std::uint64_t file_bytes)
      : file_bytes_(file_bytes), bytes_left_(file_bytes) {}

  // The tensors of a group, sorted by name: directly in it (levels 1), or also in groups directly
  // in it (levels 2). Tensors may have exponents only where there is a list to put them into.
  std::vector<NamedTensor> read(const data::Hdf5Handle& file, const std::string& group, int levels,
                                std::vector<NamedExponent>* exponents);

 private:
  struct Target {
    std::string path;  // "/optimizer"
    std::vector<NamedTensor> tensors;
    std::vector<NamedExponent>* exponents;
  };
  void read_group(const data::Hdf5Handle& group, const std::string& prefix, int levels,
                  Target& target);
  NamedTensor read_tensor(const data::Hdf5Handle& dataset, const std::string& name,
                          const std::string& path);
  void check_storage(const data::Hdf5Handle& dataset, std::uint64_t elements,
                     const std::string& path);

  std::uint64_t file_bytes_;
  std::uint64_t bytes_left_;  // for tensors not read yet
};

}  // namespace rubato::runtime
