// What an update does where gradients may travel as factors.
#include <chrono>
#include <utility>

#include "optim/gradient_sync.hpp"

namespace rubato::optim {

// Sums of floats depend on their order, which differs from node to node here.
void GradientSync::allow_factors(std::vector<FactoredTensor> tensors, MultiplyFactors multiply) {
  if (tensors.empty() || !overlaps() || !is_automatic_ || kind_ != SumKind::exact) return;
  factors_ = std::make_unique<FactorExchange>(topology_, std::move(tensors), std::move(multiply));
}

// Sums are the plain way, which factors have to prove to be slower (agreed_way.hpp).
void GradientSync::begin_factors(std::span<const MinibatchRun> runs) {
  constexpr std::size_t by_sums = 1;
  is_timed_ = factors_->plan(runs, mine_->most_places());
  if (is_timed_ && by_factors_or_sums_.choose() == by_sums) factors_->clear_plan();
  factors_->begin();
  gradients_.share_blocks(factors_->plan().blocks());
  begun_ = Clock::now();
}

bool GradientSync::multiply_factors() {
  if (!factors_->multiply([this](std::size_t i) { return mine_->place_of_other(i); })) return false;
  mine_->take_others(factors_->plan().others().size());
  return true;
}

void GradientSync::take_time() {
  by_factors_or_sums_.took_before(tables_.largest_of(0)[tensors_.size()]);
  nanoseconds_ = std::chrono::nanoseconds(Clock::now() - begun_).count();
}

}  // namespace rubato::optim
