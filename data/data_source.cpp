// See data_source.hpp. Each kind of source is one row of a table: its name, its line of help, its
// settings, and the function that reads it. What is common to all comes after: the test set, the
// standardisation, the number of classes.
#include "data/data_source.hpp"

#include <algorithm>
#include <functional>
#include <stdexcept>

#include "data/cifar_reader.hpp"
#include "data/csv_reader.hpp"
#include "data/data_spec.hpp"
#include "data/digits.hpp"
#include "data/errors.hpp"
#include "data/hdf5_reader.hpp"
#include "data/idx_reader.hpp"
#include "data/in_quotes.hpp"
#include "data/raw_samples.hpp"
#include "data/synthetic.hpp"
#include "data/usual_places.hpp"

namespace rubato::data {
namespace {

namespace fs = std::filesystem;

struct Opened {
  RawSamples train;
  std::optional<RawSamples> test;
  std::optional<Standardisation> usual;  // the constants that everybody uses for this set
  std::size_t classes = 0;               // 0: as many as the labels show
};

Opened from_split(Split split, std::optional<Standardisation> usual, std::size_t classes) {
  return {std::move(split.train), std::move(split.test), std::move(usual), classes};
}

// The kinds.

Opened open_digits(const DataSpec&, const DataOptions&) {
  return from_split(read_digits(), digits_standardisation(), 10);
}

Opened open_synthetic(const DataSpec& spec, const DataOptions&) {
  SyntheticOptions options;
  const auto number = [&](const char* key, std::uint64_t standard) {
    const auto setting = spec.settings.find(key);
    if (setting == spec.settings.end()) return standard;
    return parse_whole_number(setting->second, std::string("synthetic ") + key, 0,
                              std::uint64_t{1} << 62U);
  };
  options.samples = number("samples", options.samples);
  options.classes = number("classes", options.classes);
  options.seed = number("seed", options.seed);
  const auto shape = spec.settings.find("shape");
  if (shape != spec.settings.end()) options.shape = parse_shape(shape->second, "synthetic shape");
  return from_split(make_synthetic(options), std::nullopt, options.classes);
}

Opened open_idx_directory(const fs::path& directory, const std::string& advice) {
  const auto part = [&](const std::string& name) {
    const fs::path images = find_file(directory, name + "-images-idx3-ubyte", advice);
    return read_idx(images, find_file(directory, name + "-labels-idx1-ubyte", advice));
  };
  Opened opened{part("train"), std::nullopt, std::nullopt, 0};
  const bool has_test = has_file(directory, "t10k-images-idx3-ubyte") ||
                        has_file(directory, "t10k-labels-idx1-ubyte");
  if (has_test) opened.test = part("t10k");
  return opened;
}

constexpr const char* idx_files =
    "train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte and "
    "t10k-labels-idx1-ubyte (each may end in .gz)";

Opened open_idx(const DataSpec& spec, const DataOptions&) {
  return open_idx_directory(spec.place, std::string("idx:DIR expects ") + idx_files + " in DIR");
}

std::vector<fs::path> places_of(const DataSpec& spec) {
  return spec.place.empty() ? usual_places(spec.kind) : std::vector<fs::path>{spec.place};
}

Opened open_mnist_like(const DataSpec& spec, const std::string& advice, Standardisation usual) {
  const fs::path directory = find_directory(places_of(spec), "train-images-idx3-ubyte", advice);
  Opened opened = open_idx_directory(directory, advice);
  opened.usual = std::move(usual);
  opened.classes = 10;
  return opened;
}

Opened open_mnist(const DataSpec& spec, const DataOptions&) {
  const std::string advice = std::string("take the files ") + idx_files +
                             " from http://yann.lecun.com/exdb/mnist or a mirror, put them into "
                             "~/.cache/rubato/mnist, or name their directory: mnist:DIR";
  return open_mnist_like(spec, advice, {1.0F / 255.0F, {0.1307F}, {0.3081F}});
}

Opened open_fashion_mnist(const DataSpec& spec, const DataOptions&) {
  const std::string advice =
      std::string("on Debian: apt-get install dataset-fashion-mnist; elsewhere put the files ") +
      idx_files + " into ~/.cache/rubato/fashion-mnist, or name their directory: fashion-mnist:DIR";
  return open_mnist_like(spec, advice, {1.0F / 255.0F, {0.2860F}, {0.3530F}});
}

Opened open_cifar10(const DataSpec& spec, const DataOptions&) {
  constexpr const char* subfolder = "cifar-10-batches-bin";
  const std::string advice =
      "unpack https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz (data_batch_1.bin to "
      "data_batch_5.bin and test_batch.bin) into ~/.cache/rubato/cifar10, or name its directory: "
      "cifar10:DIR";
  std::vector<fs::path> places;
  for (const fs::path& place : places_of(spec)) {
    places.push_back(place);
    places.push_back(place / subfolder);
  }
  const fs::path directory = find_directory(places, "data_batch_1.bin", advice);
  std::vector<fs::path> batches;
  for (const char digit : {'1', '2', '3', '4', '5'}) {
    batches.push_back(find_file(directory, std::string("data_batch_") + digit + ".bin", advice));
  }
  return {read_cifar10(batches), read_cifar10({find_file(directory, "test_batch.bin", advice)}),
          Standardisation{1.0F / 255.0F, {0.4914F, 0.4822F, 0.4465F}, {0.2470F, 0.2435F, 0.2616F}},
          10};
}

Opened open_csv(const DataSpec& spec, const DataOptions& options) {
  CsvOptions csv{std::nullopt, options.label_column};
  const auto shape = spec.settings.find("shape");
  if (shape != spec.settings.end()) csv.shape = parse_shape(shape->second, "csv shape");
  return {read_csv(spec.place, csv), std::nullopt, std::nullopt, 0};
}

Opened open_hdf5(const DataSpec& spec, const DataOptions&) {
  Hdf5Samples samples = read_hdf5(spec.place);
  return {std::move(samples.train), std::move(samples.test), std::nullopt, 0};
}

enum class Place { none, optional, required };

struct Kind {
  std::string name;
  std::string help;
  Place place;
  std::vector<std::string> settings;
  std::function<Opened(const DataSpec&, const DataOptions&)> open;
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> table = {
      {"digits",
       "digits: 1797 handwritten digits of 8x8 pixels, built in",
       Place::none,
       {},
       open_digits},
      {"synthetic",
       "synthetic[:samples=N,shape=CxHxW,classes=K,seed=S]: a made-up task that can be learnt",
       Place::none,
       {"samples", "shape", "classes", "seed"},
       open_synthetic},
      {"mnist", "mnist[:DIR]: MNIST as IDX files", Place::optional, {}, open_mnist},
      {"fashion-mnist",
       "fashion-mnist[:DIR]: Fashion-MNIST as IDX files",
       Place::optional,
       {},
       open_fashion_mnist},
      {"cifar10", "cifar10[:DIR]: CIFAR-10, binary version", Place::optional, {}, open_cifar10},
      {"idx", "idx:DIR: IDX files named as MNIST's, plain or .gz", Place::required, {}, open_idx},
      {"csv",
       "csv:FILE[,shape=CxHxW]: rows of numbers, the label last or in --label-column",
       Place::required,
       {"shape"},
       open_csv},
      {"hdf5",
       "hdf5:FILE: /train/images, /train/labels and the same under /test",
       Place::required,
       {},
       open_hdf5},
  };
  return table;
}

// What is common to all.

const Kind& find_kind(const std::string& name) {
  std::string names;
  for (const Kind& kind : kinds()) {
    if (kind.name == name) return kind;
    names += (names.empty() ? "" : ", ") + kind.name;
  }
  throw std::invalid_argument("data: found " + in_quotes(name) + ", expected one of " + names);
}

Opened open_spec(const std::string& text, const DataOptions& options) {
  const Kind& kind = find_kind(data_spec_kind(text));
  const DataSpec spec = parse_data_spec(text, kind.settings);
  if (kind.place == Place::none && !spec.place.empty()) {
    throw std::invalid_argument("data: found " + in_quotes(spec.place) + " after " + kind.name +
                                ", expected " + kind.help);
  }
  if (kind.place == Place::required && spec.place.empty()) {
    throw std::invalid_argument("data: found " + kind.name + " without a place, expected " +
                                kind.help);
  }
  return kind.open(spec, options);
}

void check_options(const DataOptions& options) {
  const auto is_csv = [](const std::string& spec) { return data_spec_kind(spec) == "csv"; };
  if (options.label_column && !is_csv(options.spec) &&
      !(options.test_spec && is_csv(*options.test_spec))) {
    throw std::invalid_argument("label-column: only csv has columns, the data are " + options.spec);
  }
  if (options.test_spec && options.test_every) {
    throw std::invalid_argument("test-every and a test source of its own: expected one of the two");
  }
}

// The test set that was asked for, in place of the source's own.
void choose_test_set(Opened& opened, const DataOptions& options) {
  if (options.test_every) {
    if (opened.test) {
      throw std::invalid_argument("test-every: " + options.spec + " has a test set of its own");
    }
    Split split = split_every(opened.train, *options.test_every);
    opened.train = std::move(split.train);
    opened.test = std::move(split.test);
  } else if (options.test_spec) {
    if (opened.classes == 0) opened.classes = count_classes(opened.train);
    Opened other = open_spec(*options.test_spec, options);
    opened.test = other.test ? std::move(*other.test) : std::move(other.train);
  }
  if (opened.test && opened.test->shape != opened.train.shape) {
    throw ContentError(opened.test->source + ": its samples have another shape than those of " +
                       opened.train.source);
  }
}

std::size_t classes_of(const Opened& opened) {
  if (opened.classes > 0) return opened.classes;
  return std::max(count_classes(opened.train), opened.test ? count_classes(*opened.test) : 0);
}

// In place of those that the data have; one for each channel, or one for all.
void replace(std::vector<float>& constants, const std::vector<float>& given,
             const std::string& option) {
  if (given.empty()) return;
  if (given.size() != 1 && given.size() != constants.size()) {
    throw std::invalid_argument(option + ": found " + std::to_string(given.size()) +
                                " numbers, expected one, or one for each of the " +
                                std::to_string(constants.size()) + " channels");
  }
  for (std::size_t c = 0; c < constants.size(); ++c) constants[c] = given[c % given.size()];
}

std::shared_ptr<const Dataset> make_dataset(RawSamples samples, std::size_t classes,
                                            const Standardisation& standardisation) {
  return std::make_shared<InMemoryDataset>(samples.source, samples.shape, classes,
                                           std::move(samples.values), std::move(samples.labels),
                                           standardisation);
}

}  // namespace

DataSource open_data(const DataOptions& options) {
  check_options(options);
  Opened opened = open_spec(options.spec, options);
  choose_test_set(opened, options);
  const std::size_t classes = classes_of(opened);
  DataSource source;
  source.name = options.spec;
  source.standardisation =
      opened.usual ? *opened.usual : measure(opened.train, usual_scale(opened.train.values));
  replace(source.standardisation.mean, options.mean, "data-mean");
  replace(source.standardisation.deviation, options.deviation, "data-deviation");
  source.train = make_dataset(std::move(opened.train), classes, source.standardisation);
  if (opened.test) {
    source.test = make_dataset(std::move(*opened.test), classes, source.standardisation);
  }
  return source;
}

std::vector<std::string> data_spec_names() {
  std::vector<std::string> names;
  for (const Kind& kind : kinds()) names.push_back(kind.name);
  return names;
}

std::vector<std::string> describe_data_specs() {
  std::vector<std::string> lines;
  for (const Kind& kind : kinds()) lines.push_back(kind.help);
  return lines;
}

}  // namespace rubato::data
