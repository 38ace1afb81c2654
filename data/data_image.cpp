// See data_image.hpp. An image's name is its path below /proc and a random word that stands in the
// image too: on another host, or after the process's end, the path may be that of something else.
#include "data/data_image.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <iomanip>
#include <random>
#include <span>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace rubato::data {
namespace {

constexpr int seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
constexpr std::size_t alignment = 64;
constexpr const char* memory_name = "rubato-data";
constexpr std::array<char, 16> format{"rubato data 1"};

// In bytes from the image's begin.
struct Extent {
  std::uint64_t begin;
  std::uint64_t count;  // of elements
};

struct ImagePart {
  std::uint64_t classes;
  std::uint64_t height, width, channels;
  std::uint64_t holds_floats;
  Extent values;
  Extent labels;
};

struct ImageHeader {
  std::array<char, 16> format;
  Extent token;
  Extent asked_for;
  float scale;
  Extent mean;
  Extent deviation;
  std::uint64_t has_test;
  ImagePart train;
  ImagePart test;
};

[[noreturn]] void throw_error(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

std::string new_token() {
  std::random_device random;
  return std::to_string(random()) + std::to_string(random()) + std::to_string(random());
}

// What was asked for, and where: not what the files hold, nor what HOME and RUBATO_DATA are.
std::string asked_for(const DataOptions& options) {
  std::ostringstream text;
  text << std::hexfloat << std::filesystem::current_path() << ' ' << std::quoted(options.spec);
  text << " test " << std::quoted(options.test_spec.value_or(""));
  text << " every " << options.test_every.value_or(0);
  text << " label " << std::quoted(options.label_column.value_or(""));
  text << " mean";
  for (const float mean : options.mean) text << ' ' << mean;
  text << " deviation";
  for (const float deviation : options.deviation) text << ' ' << deviation;
  return text.str();
}

class ImageWriter {
 public:
  explicit ImageWriter(int descriptor) : descriptor_(descriptor), end_(sizeof(ImageHeader)) {}

  template <typename Value>
  Extent append(std::span<const Value> values) {
    end_ = (end_ + alignment - 1) / alignment * alignment;
    const Extent place{end_, values.size()};
    write(std::as_bytes(values), end_);
    end_ += values.size_bytes();
    return place;
  }
  Extent append(const std::string& text) { return append(std::span<const char>(text)); }

  ImagePart append(const Dataset& dataset) {
    const auto* held = dynamic_cast<const InMemoryDataset*>(&dataset);
    if (held == nullptr) throw std::logic_error("image of data that are not in memory");
    const SampleShape shape = held->shape();
    const auto append_values = [this](const auto& values) { return append(values); };
    return {.classes = held->classes(),
            .height = shape.height,
            .width = shape.width,
            .channels = shape.channels,
            .holds_floats = std::holds_alternative<std::span<const float>>(held->values()),
            .values = std::visit(append_values, held->values()),
            .labels = append(held->labels())};
  }

  void finish(const ImageHeader& header) {
    write(std::as_bytes(std::span(&header, 1)), 0);
    if (::fcntl(descriptor_, F_ADD_SEALS, seals) != 0) throw_error("cannot seal the data's image");
  }

 private:
  void write(std::span<const std::byte> bytes, std::uint64_t at) const {
    while (!bytes.empty()) {
      const auto count = ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(at));
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) throw_error("no memory for the data's image");
      bytes = bytes.subspan(static_cast<std::size_t>(count));
      at += static_cast<std::uint64_t>(count);
    }
  }

  int descriptor_;
  std::uint64_t end_;
};

void write_image(int descriptor, const DataOptions& options, const std::string& token) {
  const DataSource source = open_data(options);
  ImageWriter writer(descriptor);
  ImageHeader header{};
  header.format = format;
  header.token = writer.append(token);
  header.asked_for = writer.append(asked_for(options));
  header.scale = source.standardisation.scale;
  header.mean = writer.append(std::span(std::as_const(source.standardisation.mean)));
  header.deviation = writer.append(std::span(std::as_const(source.standardisation.deviation)));
  header.has_test = source.test != nullptr ? 1 : 0;
  header.train = writer.append(*source.train);
  if (source.test) header.test = writer.append(*source.test);
  writer.finish(header);
}

// A sealed memory of another process, mapped.
class Mapping {
 public:
  // Null if there is none of this name.
  static std::shared_ptr<const Mapping> open(const std::string& path) {
    if (!is_image(path)) return nullptr;  // to open something else may have consequences
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return nullptr;
    std::shared_ptr<const Mapping> mapping;
    struct stat status {};
    const int found = ::fcntl(descriptor, F_GET_SEALS);
    if (found >= 0 && (found & seals) == seals && ::fstat(descriptor, &status) == 0 &&
        static_cast<std::size_t>(status.st_size) >= sizeof(ImageHeader)) {
      const auto size = static_cast<std::size_t>(status.st_size);
      void* begin = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor, 0);
      if (begin != MAP_FAILED) mapping.reset(new Mapping(static_cast<std::byte*>(begin), size));
    }
    ::close(descriptor);
    return mapping;
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() { ::munmap(begin_, size_); }

  const ImageHeader& header() const { return *reinterpret_cast<const ImageHeader*>(begin_); }

  template <typename Value>
  std::span<const Value> at(const Extent& place) const {
    return {reinterpret_cast<const Value*>(begin_ + place.begin), place.count};
  }
  bool holds(const Extent& place, const std::string& text) const {
    return std::ranges::equal(at<char>(place), text);
  }

 private:
  Mapping(std::byte* begin, std::size_t size) : begin_(begin), size_(size) {}

  static bool is_image(const std::string& path) {
    std::error_code error;
    const auto target = std::filesystem::read_symlink(path, error).string();
    return !error && target.starts_with(std::string("/memfd:") + memory_name);
  }

  std::byte* begin_;
  std::size_t size_;
};

std::shared_ptr<const Dataset> dataset_of(const std::shared_ptr<const Mapping>& image,
                                          const ImagePart& part, const std::string& name,
                                          const Standardisation& standardisation) {
  using View = InMemoryDataset::ValuesView;
  const View values = part.holds_floats != 0 ? View(image->at<float>(part.values))
                                             : View(image->at<std::uint8_t>(part.values));
  return std::make_shared<InMemoryDataset>(
      name, SampleShape{part.height, part.width, part.channels}, part.classes, values,
      image->at<std::int32_t>(part.labels), standardisation, image);
}

std::vector<float> copied(std::span<const float> values) { return {values.begin(), values.end()}; }

}  // namespace

DataImage::DataImage(const DataOptions& options)
    : descriptor_(::memfd_create(memory_name, MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
  if (descriptor_ < 0) throw_error("no memory for the data's image");
  const std::string token = new_token();
  name_ =
      "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(descriptor_) + " " + token;
  try {
    write_image(descriptor_, options, token);
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

DataImage::~DataImage() { ::close(descriptor_); }

std::optional<DataSource> open_image(const std::string& name, const DataOptions& options) {
  const auto space = name.find(' ');
  if (space == std::string::npos) return std::nullopt;
  const auto image = Mapping::open(name.substr(0, space));
  if (!image) return std::nullopt;
  const ImageHeader& header = image->header();
  if (header.format != format || !image->holds(header.token, name.substr(space + 1)) ||
      !image->holds(header.asked_for, asked_for(options))) {
    return std::nullopt;
  }
  DataSource source{.name = options.spec,
                    .train = nullptr,
                    .test = nullptr,
                    .standardisation = {header.scale, copied(image->at<float>(header.mean)),
                                        copied(image->at<float>(header.deviation))}};
  source.train = dataset_of(image, header.train, source.name, source.standardisation);
  if (header.has_test != 0) {
    source.test = dataset_of(image, header.test, source.name, source.standardisation);
  }
  return source;
}

DataSource open_data(const DataOptions& options, const std::string& image_name) {
  auto source = open_image(image_name, options);
  return source ? std::move(*source) : open_data(options);
}

}  // namespace rubato::data
