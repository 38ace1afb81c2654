// A flight's life: its parts are sent and received (scattering), the part of this host is added up
// and its results are sent while those of the others come in (gathering), the last sends leave.
#include "collectives/host_exchange.hpp"

#include <algorithm>
#include <utility>

#include "collectives/addend_sum.hpp"
#include "collectives/bucket_order.hpp"
#include "collectives/packed_block.hpp"
#include "collectives/pending_requests.hpp"

namespace rubato::collectives {
namespace {

// A message is the part of one host: measured to be the longest that Open MPI sends over TCP
// eagerly (64 KiB) whether packed (5 to 7 bytes an element), floats, or results.
constexpr std::size_t part_blocks = 2;
constexpr std::size_t part_elements = part_blocks * block_elements;
constexpr std::size_t part_room = part_blocks * packed_room(block_elements);

// Elements under way at once: enough to keep a link of 1 Gbit/s busy for 30 ms without a poll, and
// no more than its kernel buffers hold.
constexpr std::size_t elements_under_way = std::size_t{1} << 19;
constexpr std::size_t fewest_flights = 4;

constexpr int addends_tag = 0;
constexpr int results_tag = 1;
constexpr std::size_t tags = 32'768;  // MPI promises so many; buckets that far apart never meet

template <class Use>
void for_each_block(const Slice& slice, const Use& use) {
  for (std::size_t begin = slice.begin; begin < slice.end(); begin += block_elements) {
    use(begin, std::min(block_elements, slice.end() - begin));
  }
}

}  // namespace

template <class T>
struct HostExchange<T>::Flight {
  enum class Stage { idle, scattering, gathering, leaving };

  explicit Flight(std::size_t hosts)
      : own(part_elements),
        outgoing(hosts * part_room),
        incoming(hosts * part_room),
        results(hosts * part_elements),
        read(hosts) {}

  std::span<std::byte> outgoing_to(std::size_t host) {
    return std::span(outgoing).subspan(host * part_room, part_room);
  }
  std::span<std::byte> incoming_from(std::size_t host) {
    return std::span(incoming).subspan(host * part_room, part_room);
  }
  std::span<float> results_of(std::size_t host, std::size_t size) {
    return std::span(results).subspan(host * part_elements, size);
  }

  Stage stage = Stage::idle;
  Slice bucket;
  int tag = 0;
  PendingRequests addend_receives;
  PendingRequests result_receives;
  PendingRequests sends;
  std::vector<T> own;               // this host's addends of its own part
  std::vector<std::byte> outgoing;  // its addends of each host's part
  std::vector<std::byte> incoming;  // each host's addends of this host's part
  std::vector<float> results;       // of each host's part
  std::vector<std::size_t> read;    // bytes of `incoming` that have been unpacked, of each host's
};

template <class T>
HostExchange<T>::HostExchange(const Communicator& across, const Slice& slice, std::size_t early)
    : hosts_(across.duplicate()),
      buckets_(buckets_of(slice, early, part_blocks * across.size())),
      sums_(block_elements),
      addends_(block_elements),
      next_(buckets_.size()),
      oldest_(buckets_.size()) {
  const std::size_t bucket_elements = part_elements * hosts_.size();
  const std::size_t flights = std::max(fewest_flights, elements_under_way / bucket_elements);
  for (std::size_t i = 0; i < std::min(flights, buckets_.size()); ++i) {
    flights_.push_back(std::make_unique<Flight>(hosts_.size()));
  }
}

template <class T>
HostExchange<T>::~HostExchange() {
  for (std::unique_ptr<Flight>& flight : flights_) {
    if (flight->stage != Flight::Stage::idle) static_cast<void>(flight.release());
  }
}

template <class T>
void HostExchange<T>::begin(SumUse<T> use) {
  use_ = std::move(use);
  next_ = 0;
  oldest_ = 0;
}

template <class T>
bool HostExchange<T>::is_done() const noexcept {
  return oldest_ == buckets_.size();
}

template <class T>
Slice HostExchange<T>::part(const Slice& bucket, std::size_t host) const {
  const Slice part = slice_of(bucket.size, host, hosts_.size());
  return {bucket.begin + part.begin, part.size};
}

template <class T>
bool HostExchange<T>::poll(const IsReady& is_ready, const NodeSum& node_sum) {
  bool has_moved = false;
  while (next_ < buckets_.size() && next_ < oldest_ + flights_.size() &&
         is_ready(buckets_[next_])) {
    start(*flights_[next_ % flights_.size()], buckets_[next_], 2 * mpi_int(next_ % (tags / 2)),
          node_sum);
    ++next_;
    has_moved = true;
  }
  for (std::size_t bucket = oldest_; bucket < next_; ++bucket) {
    has_moved |= carry_on(*flights_[bucket % flights_.size()]);
  }
  while (oldest_ < next_ && flights_[oldest_ % flights_.size()]->stage == Flight::Stage::idle) {
    ++oldest_;
  }
  return has_moved;
}

template <class T>
void HostExchange<T>::start(Flight& flight, const Slice& bucket, int tag, const NodeSum& node_sum) {
  flight.stage = Flight::Stage::scattering;
  flight.bucket = bucket;
  flight.tag = tag;
  const Slice mine = part(bucket, hosts_.rank());
  for (std::size_t host = 0; host < hosts_.size(); ++host) {
    if (host == hosts_.rank()) continue;
    if (mine.size > 0) {
      flight.addend_receives.receive(hosts_, host, tag + addends_tag, flight.incoming_from(host));
    }
    const Slice theirs = part(bucket, host);
    if (theirs.size > 0) {
      flight.result_receives.receive(hosts_, host, tag + results_tag,
                                     std::as_writable_bytes(flight.results_of(host, theirs.size)));
    }
  }
  for (std::size_t host = 0; host < hosts_.size(); ++host) {
    const Slice theirs = part(bucket, host);
    if (host == hosts_.rank() || theirs.size == 0) continue;
    const std::span<std::byte> packed = flight.outgoing_to(host);
    std::size_t bytes = 0;
    for_each_block(theirs, [&](std::size_t begin, std::size_t size) {
      const std::span<T> block = std::span(sums_).first(size);
      node_sum(begin, block);
      bytes += pack(std::span<const T>(block), packed.data() + bytes);
    });
    flight.sends.send(hosts_, host, tag + addends_tag, packed.first(bytes));
  }
  for_each_block(mine, [&](std::size_t begin, std::size_t size) {
    node_sum(begin, std::span(flight.own).subspan(begin - mine.begin, size));
  });
}

template <class T>
bool HostExchange<T>::carry_on(Flight& flight) {
  using Stage = typename Flight::Stage;
  const Stage before = flight.stage;
  if (flight.stage == Stage::scattering && flight.addend_receives.are_done()) {
    add_up(flight);
    send_results(flight);
    flight.stage = Stage::gathering;
  }
  if (flight.stage == Stage::gathering && flight.result_receives.are_done()) {
    adopt_results(flight);
    flight.stage = Stage::leaving;
  }
  if (flight.stage == Stage::leaving && flight.sends.are_done()) flight.stage = Stage::idle;
  return flight.stage != before;
}

template <class T>
void HostExchange<T>::add_up(Flight& flight) {
  const Slice mine = part(flight.bucket, hosts_.rank());
  std::ranges::fill(flight.read, 0);
  for_each_block(mine, [&](std::size_t begin, std::size_t size) {
    const std::span<T> sums = std::span(sums_).first(size);
    for (std::size_t host = 0; host < hosts_.size(); ++host) {
      const std::span<T> addends = std::span(host == 0 ? sums_ : addends_).first(size);
      if (host == hosts_.rank()) {
        const auto own = flight.own.begin() + static_cast<std::ptrdiff_t>(begin - mine.begin);
        std::copy_n(own, size, addends.begin());
      } else {
        std::size_t& read = flight.read[host];
        read += unpack(flight.incoming_from(host).data() + read, addends);
      }
      if (host > 0) add_to(sums.data(), addends.data(), size);
    }
    use_.finish(begin, sums);
  });
}

template <class T>
void HostExchange<T>::send_results(Flight& flight) {
  const Slice mine = part(flight.bucket, hosts_.rank());
  if (mine.size == 0) return;
  for (std::size_t host = 0; host < hosts_.size(); ++host) {
    if (host == hosts_.rank()) continue;
    flight.sends.send(hosts_, host, flight.tag + results_tag,
                      std::as_bytes(use_.results.subspan(mine.begin, mine.size)));
  }
}

template <class T>
void HostExchange<T>::adopt_results(Flight& flight) {
  for (std::size_t host = 0; host < hosts_.size(); ++host) {
    if (host == hosts_.rank()) continue;
    const Slice theirs = part(flight.bucket, host);
    const std::span<const float> results = flight.results_of(host, theirs.size);
    for_each_block(theirs, [&](std::size_t begin, std::size_t size) {
      use_.adopt(begin, results.subspan(begin - theirs.begin, size));
    });
  }
}

template class HostExchange<float>;
template class HostExchange<double>;

}  // namespace rubato::collectives
