// A rank's region holds four chunks: contributions of even and odd chunks, sums of even and odd
// ones.
#include "collectives/node_exchange.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "collectives/addend_sum.hpp"
#include "collectives/copy_over.hpp"
#include "collectives/loop_prefetch.hpp"
#include "collectives/mpi_sum.hpp"

namespace rubato::collectives {
namespace {

constexpr std::size_t cache_line_bytes = 64;
constexpr std::size_t buffers = 4;

// Small chunks stay in the cache between the stages. Where ranks share cores, a barrier costs a
// change of process, and fewer, larger chunks win.
// All nodes must cut alike, whatever each of them would prefer.
std::size_t chunk_bytes_of(const Topology& topology) {
  std::array<std::int64_t, 1> bytes{topology.is_oversubscribed() ? std::int64_t{1} << 20
                                                                 : std::int64_t{1} << 17};
  topology.all().maximum(bytes);
  return static_cast<std::size_t>(bytes[0]);
}

template <class T>
class Pipeline {
 public:
  Pipeline(const Topology& topology, const NodeMemory& staging, std::size_t chunk_elements,
           std::span<T> data)
      : topology_(topology), staging_(staging), chunk_elements_(chunk_elements), data_(data) {}

  std::size_t chunk_count() const { return (data_.size() + chunk_elements_ - 1) / chunk_elements_; }

  void contribute(std::size_t chunk) {
    const std::span<const T> mine = chunk_of_data(chunk);
    T* const staged = contribution(topology_.node().rank(), chunk);
    const Slice own = my_part(mine.size());
    copy_over(mine.first(own.begin), staged);
    copy_over(mine.subspan(own.end()), staged + own.end());
  }

  void reduce(std::size_t chunk) {
    const std::span<T> mine = chunk_of_data(chunk);
    const Slice own = my_part(mine.size());
    const std::vector<const T*> addends = addends_of(chunk);
    std::array<T, block_elements> sums;  // not in place: `mine` is among the addends
    for (std::size_t begin = own.begin; begin < own.end(); begin += block_elements) {
      const std::size_t size = std::min(block_elements, own.end() - begin);
      sum_addends<T>(addends, begin, size, sums.data());
      std::copy_n(sums.data(), size, mine.data() + begin);
    }
    const std::span<T> own_sums = mine.subspan(own.begin, own.size);
    if (topology_.node_count() > 1 && own.size > 0) {
      mpi_sum(*topology_.across(), own_sums);
    }
    copy_over<T>(own_sums, result(topology_.node().rank(), chunk) + own.begin);
  }

  void collect(std::size_t chunk) {
    const std::span<T> mine = chunk_of_data(chunk);
    for (std::size_t owner = 0; owner < topology_.slice_owners(); ++owner) {
      if (owner != topology_.node().rank()) {
        const Slice part = part_of(mine.size(), owner);
        const std::span<const T> sums(result(owner, chunk) + part.begin, part.size);
        prefetched_copy(sums, mine.data() + part.begin);
      }
    }
  }

 private:
  std::span<T> chunk_of_data(std::size_t chunk) const {
    const std::size_t begin = chunk * chunk_elements_;
    return data_.subspan(begin, std::min(chunk_elements_, data_.size() - begin));
  }

  Slice part_of(std::size_t count, std::size_t owner) const {
    return slice_of(count, owner, topology_.slice_owners(), cache_line_bytes / sizeof(T));
  }
  Slice my_part(std::size_t count) const {
    return topology_.owns_slice() ? part_of(count, topology_.node().rank()) : Slice{};
  }

  T* contribution(std::size_t rank, std::size_t chunk) const {
    return staging_.region_as<T>(rank).data() + chunk % 2 * chunk_elements_;
  }
  T* result(std::size_t rank, std::size_t chunk) const {
    return staging_.region_as<T>(rank).data() + (2 + chunk % 2) * chunk_elements_;
  }

  // Where each rank's chunk can be read; this rank's own needs no copy.
  std::vector<const T*> addends_of(std::size_t chunk) const {
    std::vector<const T*> addends(topology_.node().size());
    for (std::size_t rank = 0; rank < addends.size(); ++rank) {
      addends[rank] = contribution(rank, chunk);
    }
    addends[topology_.node().rank()] = chunk_of_data(chunk).data();
    return addends;
  }

  const Topology& topology_;
  const NodeMemory& staging_;
  std::size_t chunk_elements_;
  std::span<T> data_;
};

}  // namespace

NodeExchange::NodeExchange(const Topology& topology)
    : barrier_(topology),
      chunk_bytes_(chunk_bytes_of(topology)),
      staging_(topology, buffers * chunk_bytes_) {}

template <class T>
void NodeExchange::sum(const Topology& topology, std::span<T> data) {
  Pipeline<T> pipeline(topology, staging_, chunk_bytes_ / sizeof(T), data);
  const std::size_t chunks = pipeline.chunk_count();
  for (std::size_t step = 0; step < chunks + 2 && chunks > 0; ++step) {
    if (step >= 2) {
      pipeline.collect(step - 2);
    }
    if (step >= 1 && step <= chunks) {
      pipeline.reduce(step - 1);
    }
    if (step < chunks) {
      pipeline.contribute(step);
    }
    if (step <= chunks) {
      barrier_.wait();
    }
  }
}

template void NodeExchange::sum(const Topology&, std::span<float>);
template void NodeExchange::sum(const Topology&, std::span<double>);
template void NodeExchange::sum(const Topology&, std::span<std::int64_t>);

}  // namespace rubato::collectives
