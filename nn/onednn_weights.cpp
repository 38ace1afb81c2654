// See onednn_weights.hpp.
#include "nn/onednn_weights.hpp"

namespace rubato::nn {

OnednnWeights::Ordered::Ordered(const dnnl::memory::desc& plain, const dnnl::memory::desc& order)
    : plain_(unattached(plain)), ordered_(unattached(order)), reorder_(plain_, ordered_) {
  ordered_.set_data_handle(buffer_.first(float_count(order)).data());
}

void OnednnWeights::use(std::span<const float> weights) {
  weights_ = weights;
  ++generation_;
}

OnednnWeights::Ordered& OnednnWeights::in_order(const dnnl::memory::desc& plain,
                                                const dnnl::memory::desc& order) {
  for (const auto& one : orders_) {
    if (one->ordered_.get_desc() == order) return *one;
  }
  return *orders_.emplace_back(std::make_unique<Ordered>(plain, order));
}

void OnednnWeights::bring_to(Ordered& ordered) const {
  if (ordered.generation_ == generation_) return;
  point_at(ordered.plain_, weights_);
  ordered.reorder_.execute(cpu_stream(), ordered.plain_, ordered.ordered_);
  ordered.generation_ = generation_;
}

}  // namespace rubato::nn
