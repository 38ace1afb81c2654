// Hostile checkpoints behind a checksum that is right: either a state that fits into its file and
// survives being written again, or a ContentError.
//
// Changed bytes are not the input: libhdf5 1.10 itself crashes on them within seconds, which only
// the checksum prevents. Instead the input is a list of changes that libhdf5 makes to a good
// checkpoint: links of every kind, groups in groups, datasets of absurd types, shapes and storage,
// attributes of the wrong type, in the wrong place, or missing. Each change is an operation's
// number, a place, and what it takes.
#include <hdf5.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "data/errors.hpp"
#include "runtime/checkpoint.hpp"
#include "tests/runtime/example_state.hpp"

namespace {

using rubato::runtime::Checkpoint;

const std::array<const char*, 12> places{
    "/",        "/model",         "/optimizer",       "/optimizer/momentum",
    "/cursor",  "/audit",         "/identity",        "/elastic",
    "/model/x", "/model/fc.bias", "/model/fc.weight", "/optimizer/momentum/fc.bias"};
const std::array<const char*, 8> names{"x",      "y",    "model",  "exact_exponent",
                                       "update", "rule", "format", "a\x1b\tb"};

class Input {
 public:
  explicit Input(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
  bool is_empty() const { return bytes_.empty(); }
  std::uint8_t byte() {
    if (bytes_.empty()) return 0;
    const std::uint8_t value = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return value;
  }
  const char* place() { return places[byte() % places.size()]; }
  const char* name() { return names[byte() % names.size()]; }
  std::string path() {
    const std::string parent = place();
    return (parent == "/" ? parent : parent + "/") + name();
  }
  // Small, or with few bits set anywhere.
  hsize_t extent() {
    const std::uint8_t value = byte();
    return value < 200 ? value % 20 : hsize_t{1} << (value % 64U);
  }

 private:
  std::span<const std::uint8_t> bytes_;
};

hid_t type_of(Input& input) {
  switch (input.byte() % 11) {
    case 0:
      return H5Tcopy(H5T_STD_U64LE);
    case 1:
      return H5Tcopy(H5T_IEEE_F64LE);
    case 2:
      return H5Tcopy(H5T_STD_I32LE);
    case 3:
      return H5Tvlen_create(H5T_IEEE_F32LE);
    case 4:
      return H5Tcopy(H5T_STD_REF_OBJ);
    case 5:
      return H5Tcreate(H5T_OPAQUE, 1U + input.byte());
    case 6: {
      const hid_t text = H5Tcopy(H5T_C_S1);
      H5Tset_size(text, input.byte() % 2 == 0 ? H5T_VARIABLE : 1U + input.byte());
      return text;
    }
    case 7: {
      const hsize_t extent = 1 + input.byte() % 8U;
      return H5Tarray_create2(H5T_IEEE_F32LE, 1, &extent);
    }
    case 8: {
      const hid_t compound = H5Tcreate(H5T_COMPOUND, 8);
      H5Tinsert(compound, "a", 0, H5T_IEEE_F32LE);
      return compound;
    }
    case 9:
      return H5Tcopy(H5T_IEEE_F32BE);
    default:
      return H5Tcopy(H5T_IEEE_F32LE);
  }
}

hid_t space_of(Input& input) {
  const std::uint8_t rank = input.byte() % 12;
  if (rank == 11) return H5Screate(H5S_NULL);
  if (rank == 0) return H5Screate(H5S_SCALAR);
  std::array<hsize_t, 12> extents{};
  for (std::uint8_t axis = 0; axis < rank; ++axis) extents[axis] = input.extent();
  return H5Screate_simple(rank, extents.data(), nullptr);
}

hid_t storage_of(Input& input, hid_t space) {
  const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
  std::array<hsize_t, 12> chunk{};
  chunk.fill(1);
  const int rank = H5Sget_simple_extent_ndims(space);
  switch (input.byte() % 6) {
    case 0:
      H5Pset_layout(properties, H5D_COMPACT);
      break;
    case 1:
      H5Pset_chunk(properties, rank, chunk.data());
      break;
    case 2:
      H5Pset_chunk(properties, rank, chunk.data());
      H5Pset_deflate(properties, 1);
      break;
    case 3:
      H5Pset_external(properties, "/etc/hostname", 0, H5F_UNLIMITED);
      break;
    case 4:
      H5Pset_virtual(properties, space, "/etc/hostname", "/x", space);
      break;
    default:
      break;
  }
  return properties;
}

// Small datasets get values; what is declared without them costs libhdf5 nothing.
void add_dataset(hid_t file, Input& input) {
  const std::string path = input.path();
  const hid_t type = type_of(input);
  const hid_t space = space_of(input);
  const hid_t properties = storage_of(input, space);
  const hid_t dataset =
      H5Dcreate2(file, path.c_str(), type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
  const hssize_t elements = H5Sget_simple_extent_npoints(space);
  const bool is_plain = H5Tequal(type, H5T_IEEE_F32LE) > 0 && elements > 0 && elements <= 4096;
  if (dataset >= 0 && is_plain && input.byte() % 2 == 0) {
    const std::vector<float> values(4096, 1);
    H5Dwrite(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  }
  if (dataset >= 0) H5Dclose(dataset);
  H5Pclose(properties);
  H5Sclose(space);
  H5Tclose(type);
}

void add_attribute(hid_t file, Input& input) {
  const char* place = input.place();
  const char* name = input.name();
  const hid_t type = type_of(input);
  const std::array<hsize_t, 1> extent{input.extent() % 1024};
  const hid_t space =
      input.byte() % 4 == 0 ? H5Screate_simple(1, extent.data(), nullptr) : H5Screate(H5S_SCALAR);
  H5Adelete_by_name(file, place, name, H5P_DEFAULT);
  const hid_t attribute =
      H5Acreate_by_name(file, place, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  if (attribute >= 0) H5Aclose(attribute);
  H5Sclose(space);
  H5Tclose(type);
}

void apply_change(hid_t file, Input& input) {
  switch (input.byte() % 10) {
    case 0:
      H5Ldelete(file, input.place(), H5P_DEFAULT);
      break;
    case 1:
      H5Lcreate_hard(file, input.place(), file, input.path().c_str(), H5P_DEFAULT, H5P_DEFAULT);
      break;
    case 2:
      H5Lcreate_soft(input.place(), file, input.path().c_str(), H5P_DEFAULT, H5P_DEFAULT);
      break;
    case 3:
      H5Lcreate_external("/etc/hostname", input.place(), file, input.path().c_str(), H5P_DEFAULT,
                         H5P_DEFAULT);
      break;
    case 4:
      H5Lmove(file, input.place(), file, input.path().c_str(), H5P_DEFAULT, H5P_DEFAULT);
      break;
    case 5: {
      const hid_t group =
          H5Gcreate2(file, input.path().c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
      if (group >= 0) H5Gclose(group);
      break;
    }
    case 6: {
      const char* place = input.place();
      H5Adelete_by_name(file, place, input.name(), H5P_DEFAULT);
      break;
    }
    case 7: {
      const hid_t type = type_of(input);
      H5Tcommit2(file, input.path().c_str(), type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
      H5Tclose(type);
      break;
    }
    case 8:
      add_attribute(file, input);
      break;
    default:
      add_dataset(file, input);
  }
}

std::vector<std::byte> changed(std::span<const std::byte> bytes, Input input) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_core(access, 1U << 16U, /*backing_store=*/0);
  H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_LATEST);
  H5Pset_file_image(access, const_cast<std::byte*>(bytes.data()), bytes.size());
  const hid_t file = H5Fopen("fuzz", H5F_ACC_RDWR, access);
  for (int change = 0; change < 8 && !input.is_empty(); ++change) apply_change(file, input);
  H5Fflush(file, H5F_SCOPE_GLOBAL);
  std::vector<std::byte> result(static_cast<std::size_t>(H5Fget_file_image(file, nullptr, 0)));
  H5Fget_file_image(file, result.data(), result.size());
  H5Fclose(file);
  H5Pclose(access);
  return result;
}

void require_sane(const Checkpoint& checkpoint, std::size_t file_bytes) {
  std::size_t bytes = 0;
  for (const auto* tensors : {&checkpoint.state.model, &checkpoint.state.optimizer}) {
    for (const auto& tensor : *tensors) {
      std::size_t elements = 1;
      for (const std::size_t extent : tensor.shape) elements *= extent;
      if (elements != tensor.values.size()) std::abort();
      bytes += elements * sizeof(float);
    }
  }
  if (bytes > file_bytes) std::abort();
  const Checkpoint again =
      rubato::runtime::decode_checkpoint(rubato::runtime::encode_checkpoint(checkpoint), "again");
  if (state_digest(again.state) != state_digest(checkpoint.state)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const std::vector<std::byte> good = rubato::runtime::encode_checkpoint(
      {rubato::runtime::example_state(), {{"data", "digits"}}, {{"hosts", "a, b"}}});
  const std::vector<std::byte> hostile = changed(good, Input({bytes, size}));
  try {
    require_sane(rubato::runtime::decode_checkpoint(hostile, "input"), hostile.size());
  } catch (const rubato::data::ContentError&) {
  }
  return 0;
}
