// Channels innermost: a window is four contiguous runs of channels, compared and selected without
// branches. Each block of channels is an image of its own; their maxima lie side by side.
#include "nn/max_pool.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <type_traits>

#include "nn/floats.hpp"
#include "nn/winners.hpp"

namespace rubato::nn {
namespace {

constexpr std::size_t window = 2;
constexpr std::int32_t no_winner = -1;  // ReLU cut the maximum off: no input gets a gradient

Shape pooled(const std::string& name, const Shape& input) {
  if (input.height < window || input.width < window) {
    throw std::invalid_argument("layer " + name +
                                ": a 2x2 max-pool does not fit into an input of " +
                                std::to_string(input.height) + "x" + std::to_string(input.width) +
                                " pixels; use larger images or a model without convolutions");
  }
  return {input.height / window, input.width / window, input.channels};
}

// For all channels use(c, vector) or, where there are too few for one, use(c, single). The last
// vector may take some channels again: one by one, those behind whole vectors would take longer
// than all before them.
template <class Use>
void for_all_channels(std::size_t channels, const Use& use) {
  if (channels < vector_floats) {
    for (std::size_t c = 0; c < channels; ++c) use(c, std::type_identity<float>());
    return;
  }
  const std::type_identity<Floats> vector;
  for (std::size_t c = 0; c < channels - vector_floats; c += vector_floats) use(c, vector);
  use(channels - vector_floats, vector);
}

template <class To, class From>
To read(const From* from) {
  To values;
  std::memcpy(&values, from, sizeof values);
  return values;
}
template <class From, class To>
void write(To* to, const From& values) {
  std::memcpy(to, &values, sizeof values);
}

// One window of four pixels, each a run of channels.
template <Activation activation>
void pool_window(const float* pixel0, const float* pixel1, const float* pixel2, const float* pixel3,
                 std::size_t channels, float* output, std::int32_t* winners) {
  for_all_channels(channels, [=]<class Values>(std::size_t c, std::type_identity<Values>) {
    auto best = read<Values>(pixel0 + c);
    PlacesOf<Values> winner = {};
    challenge(read<Values>(pixel1 + c), 1, best, winner);
    challenge(read<Values>(pixel2 + c), 2, best, winner);
    challenge(read<Values>(pixel3 + c), 3, best, winner);
    if constexpr (activation == Activation::relu) {
      winner = best <= 0.0F ? PlacesOf<Values>{} + no_winner : winner;
      best = best <= 0.0F ? Values{} : best;
    }
    write(output + c, best);
    write(winners + c, winner);
  });
}

void route_window(const float* gradient, const std::int32_t* winners, std::size_t channels,
                  float* pixel0, float* pixel1, float* pixel2, float* pixel3) {
  for_all_channels(channels, [=]<class Values>(std::size_t c, std::type_identity<Values>) {
    const auto values = read<Values>(gradient + c);
    const auto winner = read<PlacesOf<Values>>(winners + c);
    write(pixel0 + c, routed(values, winner, 0));
    write(pixel1 + c, routed(values, winner, 1));
    write(pixel2 + c, routed(values, winner, 2));
    write(pixel3 + c, routed(values, winner, 3));
  });
}

template <Activation activation>
void pool_image(const float* image, const Shape& input, const Shape& output, float* pooled_image,
                std::int32_t* winners) {
  const std::size_t channels = input.adjacent_channels();
  const std::size_t row = input.width * channels;
  for (std::size_t y = 0; y < output.height; ++y) {
    const float* top = image + window * y * row;
    for (std::size_t x = 0; x < output.width; ++x, top += window * channels) {
      const float* const bottom = top + row;
      pool_window<activation>(top, top + channels, bottom, bottom + channels, channels,
                              pooled_image, winners);
      pooled_image += output.channels;
      winners += output.channels;
    }
  }
}

void route_image(const float* gradient, const std::int32_t* winners, const Shape& input,
                 const Shape& output, float* image) {
  const std::size_t channels = input.adjacent_channels();
  const std::size_t row = input.width * channels;
  if (window * output.height != input.height || window * output.width != input.width) {
    std::fill_n(image, input.pixels() * channels, 0.0F);  // an odd last row or column has no window
  }
  for (std::size_t y = 0; y < output.height; ++y) {
    float* top = image + window * y * row;
    for (std::size_t x = 0; x < output.width; ++x, top += window * channels) {
      float* const bottom = top + row;
      route_window(gradient, winners, channels, top, top + channels, bottom, bottom + channels);
      gradient += output.channels;
      winners += output.channels;
    }
  }
}

// Calls use(where an image of adjacent channels begins in the input, its first maximum's place).
template <class Use>
void for_each_image(const Shape& input, const Shape& output, std::size_t samples, const Use& use) {
  const std::size_t adjacent = input.adjacent_channels();
  std::size_t place = 0;
  for (std::size_t sample = 0; sample < samples; ++sample) {
    for (std::size_t first = 0; first < input.channels; first += adjacent) {
      use(place, sample * output.elements() + first);
      place += input.pixels() * adjacent;
    }
  }
}

}  // namespace

MaxPool::MaxPool(const std::string& name, Shape input, Activation activation)
    : Layer(input, pooled(name, input)), activation_(activation) {}

void MaxPool::forward(const ForwardPass& pass) {
  const auto pool =
      activation_ == Activation::relu ? pool_image<Activation::relu> : pool_image<Activation::none>;
  std::int32_t* const winners = winners_.first(pass.output.size()).data();
  for_each_image(input_shape(), output_shape(), samples(pass.input),
                 [&](std::size_t from, std::size_t to) {
                   pool(pass.input.data() + from, input_shape(), output_shape(),
                        pass.output.data() + to, winners + to);
                 });
}

void MaxPool::backward(const BackwardPass& pass) {
  if (pass.input_gradient.empty()) return;
  const std::int32_t* const winners = winners_.first(pass.output.size()).data();
  for_each_image(input_shape(), output_shape(), samples(pass.input),
                 [&](std::size_t to, std::size_t from) {
                   route_image(pass.output_gradient.data() + from, winners + from, input_shape(),
                               output_shape(), pass.input_gradient.data() + to);
                 });
}

}  // namespace rubato::nn
