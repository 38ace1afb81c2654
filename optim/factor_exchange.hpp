// Factors of dense layers' gradients on their way between nodes (factor_plan.hpp), and what is made
// of them on arrival.
//
// A rank sends the factors of each of its minibatches as soon as it has them, and goes on. Nothing
// here waits; as in host_exchange.hpp, no thread but the caller's talks to MPI, and messages are
// short enough for MPI to send them at once.
//
// Hosts must make the same bits of the same factors. Kernels may be chosen by more of a processor
// than what the ranks have agreed on, so all ranks multiply the same numbers the first time that a
// minibatch has so many samples. If any differ, nothing travels any more.
//
// Which is faster, factors or sums over the nodes, depends on the link: both are timed, on all
// ranks alike (agreed_way.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "collectives/communicator.hpp"
#include "collectives/mapped_memory.hpp"
#include "collectives/pending_requests.hpp"
#include "collectives/topology.hpp"
#include "optim/factor_plan.hpp"

namespace rubato::optim {

// Of one minibatch: [samples, outputs] and [samples, inputs], each from a cache line on.
struct Factors {
  std::size_t tensor = 0;
  std::span<const float> output_gradients;
  std::span<const float> inputs;
};

// Writes the gradient of the tensor, all of it: the same bits on every rank for the same factors.
using MultiplyFactors = std::function<void(const Factors& factors, std::span<float> gradient)>;

class FactorExchange {
 public:
  // Collective. The topology must outlive this.
  FactorExchange(const collectives::Topology& topology, std::vector<FactoredTensor> tensors,
                 MultiplyFactors multiply);
  // What is still under way keeps its memory.
  ~FactorExchange();
  FactorExchange(const FactorExchange&) = delete;
  FactorExchange& operator=(const FactorExchange&) = delete;

  // Plans an update (FactorPlan::make): whether any factors can travel, the same on all ranks.
  // Collective where a minibatch has another size than any before.
  bool plan(std::span<const MinibatchRun> runs, std::size_t most_gradients);
  const FactorPlan& plan() const noexcept { return plan_; }
  // The update is not to be as planned: nothing travels.
  void clear_plan() { plan_.clear(); }
  // The update that was planned begins. Throws std::system_error where there is no memory.
  void begin();

  // Sends those of one of this rank's minibatches, if the plan wants them: of each minibatch the
  // last tensor's first.
  void send(const Factors& factors);
  // Lets messages go on.
  void poll() { sends_.are_done(); }
  // Makes the gradients of other nodes' minibatches, as far as factors have come, each in its
  // place: of minibatch i of plan().others() in place_of(i), a whole flat buffer. One of them at
  // most, as it takes long. Whether there is nothing left, to send either.
  bool multiply(const std::function<std::span<float>(std::size_t)>& place_of);

 private:
  struct Arrival {
    std::size_t minibatch = 0;  // of plan().others()
    collectives::Slice place;   // of the tensor, in a flat buffer
    Factors factors;
    collectives::PendingRequests receives;
  };

  static std::size_t floats_of(const FactoredTensor& tensor, std::size_t samples);
  static Factors factors_in(std::span<const float> memory, const FactoredTensor& tensor,
                            std::size_t samples);
  // A product of the same numbers on all ranks, in few bits.
  std::uint64_t trial(const FactoredTensor& tensor, std::size_t samples) const;
  bool is_tried(const FactoredTensor& tensor, std::size_t samples);
  void make_room();
  void receive(std::size_t minibatch, const FactoredTensor& tensor, std::span<float> memory);

  collectives::Communicator ranks_;
  FactorPlan plan_;
  MultiplyFactors multiply_;
  std::vector<std::array<std::size_t, 2>> tried_;  // tensors, and of how many samples
  bool are_alike_ = true;                          // all that was tried
  collectives::MappedMemory memory_;
  std::span<float> incoming_;
  std::span<float> outgoing_;      // what is left of it
  std::vector<Arrival> arrivals_;  // in the order in which each sender sends
  std::size_t expected_ = 0;       // the first so many are of this update
  std::size_t made_ = 0;           // and so many of these are gradients already
  collectives::PendingRequests sends_;
  bool is_idle_ = true;  // nothing is under way
};

}  // namespace rubato::optim
