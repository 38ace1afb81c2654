// A bucket's way: the addends of each host's part are sent and those of this host's part received;
// that part is added up and its results are sent; those of the others are received. Of a short
// bucket each host's part is the whole, and there are no results to send.
#include "collectives/host_exchange.hpp"

#include <algorithm>
#include <utility>

#include "collectives/addend_sum.hpp"
#include "collectives/bucket_order.hpp"
#include "collectives/packed_block.hpp"
#include "collectives/pending_requests.hpp"

namespace rubato::collectives {
namespace {

// A message is the part of one host: as long as may be while Open MPI sends it over TCP eagerly
// (up to 64 KiB). Floats and results make 32 KiB, packed sums 32 to 48 and 32 bytes; only sums that
// cannot be packed are longer than that limit, by 32 bytes, and wait for the receiver.
constexpr std::size_t part_blocks = 2;
constexpr std::size_t part_elements = part_blocks * block_elements;
constexpr std::size_t part_room = part_blocks * packed_room(block_elements);

// Elements under way at once: enough to keep a link of 1 Gbit/s busy for 40 ms without a poll, and
// about what the kernel's buffers for a connection hold.
constexpr std::size_t elements_under_way = std::size_t{1} << 20;
constexpr std::size_t fewest_flights = 4;

constexpr int addends_tag = 0;
constexpr int results_tag = 1;
constexpr std::size_t tags = 32'768;  // MPI promises so many; buckets that far apart never meet

}  // namespace

template <class T>
struct HostExchange<T>::Flight {
  explicit Flight(std::size_t other_hosts)
      : outgoing(other_hosts * part_room),
        incoming(other_hosts * part_room),
        results(other_hosts * part_elements) {}

  // `number` counts the other hosts.
  std::span<std::byte> outgoing_to(std::size_t number) {
    return std::span(outgoing).subspan(number * part_room, part_room);
  }
  std::span<std::byte> incoming_from(std::size_t number) {
    return std::span(incoming).subspan(number * part_room, part_room);
  }
  std::span<float> results_of(std::size_t number, std::size_t size) {
    return std::span(results).subspan(number * part_elements, size);
  }

  Slice bucket;
  int tag = 0;
  PendingRequests addend_receives;
  PendingRequests result_receives;
  PendingRequests sends;
  std::vector<std::byte> outgoing;  // this host's addends of each other host's part
  std::vector<std::byte> incoming;  // each other host's addends of this host's part
  std::vector<float> results;       // of each other host's part
};

template <class T>
HostExchange<T>::HostExchange(const Communicator& across, const Slice& slice)
    : hosts_(across.duplicate()),
      slice_(slice),
      buckets_(buckets_of(slice, part_blocks * across.size())),
      sums_(block_elements),
      addends_(block_elements),
      packed_(across.size()),
      started_(buckets_.size()),
      added_(buckets_.size()),
      adopted_(buckets_.size()),
      left_(buckets_.size()) {
  for (std::size_t host = 0; host < hosts_.size(); ++host) {
    if (host != hosts_.rank()) others_.push_back(host);
  }
  const std::size_t bucket_elements = part_elements * hosts_.size();
  const std::size_t flights = std::max(fewest_flights, elements_under_way / bucket_elements);
  for (std::size_t i = 0; i < std::min(flights, buckets_.size()); ++i) {
    flights_.push_back(std::make_unique<Flight>(others_.size()));
  }
}

template <class T>
HostExchange<T>::~HostExchange() {
  if (is_idle()) return;
  for (std::unique_ptr<Flight>& flight : flights_) static_cast<void>(flight.release());
}

template <class T>
void HostExchange<T>::begin(SumUse<T> use) {
  use_ = std::move(use);
  if (!std::ranges::equal(use_.complete, left_out_)) cut(use_.complete);
  started_ = added_ = adopted_ = left_ = 0;
}

template <class T>
void HostExchange<T>::cut(std::span<const Slice> left_out) {
  left_out_.assign(left_out.begin(), left_out.end());
  buckets_ = buckets_of(slice_, part_blocks * hosts_.size(), left_out_);
}

template <class T>
Slice HostExchange<T>::part(const Slice& bucket, std::size_t host) const {
  const Slice part = slice_of(bucket.size, host, hosts_.size());
  return {bucket.begin + part.begin, part.size};
}

// Where one host adds up a block, H-1 addends come in on its link and H-1 results go out. Where all
// do, as many addends come and go on every link. Of two hosts that is so of several blocks, too.
template <class T>
bool HostExchange<T>::is_for_all(const Slice& bucket) const {
  return bucket.size <= (hosts_.size() == 2 ? part_elements : block_elements);
}

template <class T>
Slice HostExchange<T>::added_up_by(std::size_t host, const Slice& bucket) const {
  return is_for_all(bucket) ? bucket : part(bucket, host);
}

template <class T>
Slice HostExchange<T>::results_from(std::size_t host, const Slice& bucket) const {
  return is_for_all(bucket) ? Slice{} : part(bucket, host);
}

template <class T>
bool HostExchange<T>::poll(const IsReady& is_ready, const NodeSum& node_sum) {
  const std::size_t before = started_ + added_ + adopted_ + left_;
  for (; started_ < buckets_.size() && started_ < left_ + flights_.size() &&
         is_ready(buckets_[started_]);
       ++started_) {
    start(started_, node_sum);
  }
  for (; added_ < started_ && flight(added_).addend_receives.are_done(); ++added_) {
    add_up(flight(added_), node_sum);
    send_results(flight(added_));
  }
  for (; adopted_ < added_ && flight(adopted_).result_receives.are_done(); ++adopted_) {
    adopt_results(flight(adopted_));
  }
  while (left_ < adopted_ && flight(left_).sends.are_done()) ++left_;
  return started_ + added_ + adopted_ + left_ != before;
}

template <class T>
void HostExchange<T>::start(std::size_t bucket, const NodeSum& node_sum) {
  Flight& f = flight(bucket);
  f.bucket = buckets_[bucket];
  f.tag = 2 * mpi_int(bucket % (tags / 2));
  const Slice mine = added_up_by(hosts_.rank(), f.bucket);
  for (std::size_t number = 0; number < others_.size(); ++number) {
    const std::size_t host = others_[number];
    const Slice results = results_from(host, f.bucket);
    if (mine.size > 0) {
      f.addend_receives.receive(hosts_, host, f.tag + addends_tag, f.incoming_from(number));
    }
    if (results.size > 0) {
      f.result_receives.receive(hosts_, host, f.tag + results_tag,
                                std::as_writable_bytes(f.results_of(number, results.size)));
    }
  }
  std::span<const std::byte> packed;
  for (std::size_t number = 0; number < others_.size(); ++number) {
    const Slice theirs = added_up_by(others_[number], f.bucket);
    if (theirs.size == 0) continue;
    if (number == 0 || !is_for_all(f.bucket)) {
      packed = pack_addends(theirs, node_sum, f.outgoing_to(number));
    }
    f.sends.send(hosts_, others_[number], f.tag + addends_tag, packed);
  }
}

template <class T>
std::span<const std::byte> HostExchange<T>::pack_addends(const Slice& slice,
                                                         const NodeSum& node_sum,
                                                         std::span<std::byte> room) {
  std::size_t bytes = 0;
  for_each_block(slice, [&](std::size_t begin, std::size_t size) {
    const std::span<T> block = std::span(sums_).first(size);
    node_sum(begin, block);
    bytes += pack(std::span<const T>(block), room.data() + bytes);
  });
  return room.first(bytes);
}

// What goes to others as well is taken from there, so that all hosts add the same numbers.
template <class T>
void HostExchange<T>::add_up(Flight& flight, const NodeSum& node_sum) {
  const bool goes_to_others = is_for_all(flight.bucket) && !others_.empty();
  for (std::size_t host = 0, number = 0; host < hosts_.size(); ++host) {
    if (host != hosts_.rank()) {
      packed_[host] = flight.incoming_from(number++).data();
    } else {
      packed_[host] = goes_to_others ? flight.outgoing_to(0).data() : nullptr;
    }
  }
  const Slice mine = added_up_by(hosts_.rank(), flight.bucket);
  for_each_block(mine, [&](std::size_t begin, std::size_t size) {
    const std::span<T> sums = std::span(sums_).first(size);
    for (std::size_t host = 0; host < hosts_.size(); ++host) {
      const std::span<T> addends = std::span(host == 0 ? sums_ : addends_).first(size);
      if (packed_[host] == nullptr) {
        node_sum(begin, addends);
      } else {
        packed_[host] += unpack(packed_[host], addends);
      }
      if (host > 0) add_to(sums.data(), addends.data(), size);
    }
    use_.finish(begin, sums);
  });
}

template <class T>
void HostExchange<T>::send_results(Flight& flight) {
  const Slice mine = results_from(hosts_.rank(), flight.bucket);
  if (mine.size == 0) return;
  const std::span<const float> results = use_.results.subspan(mine.begin, mine.size);
  for (const std::size_t host : others_) {
    flight.sends.send(hosts_, host, flight.tag + results_tag, std::as_bytes(results));
  }
}

template <class T>
void HostExchange<T>::adopt_results(Flight& flight) {
  for (std::size_t number = 0; number < others_.size(); ++number) {
    const Slice theirs = results_from(others_[number], flight.bucket);
    const std::span<const float> results = flight.results_of(number, theirs.size);
    for_each_block(theirs, [&](std::size_t begin, std::size_t size) {
      use_.adopt(begin, results.subspan(begin - theirs.begin, size));
    });
  }
}

template class HostExchange<float>;
template class HostExchange<double>;

}  // namespace rubato::collectives
