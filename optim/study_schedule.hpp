// The schedule of a published study of large batches, so that its runs can be repeated: a warm-up
// in steps and a polynomial descent, both off by a little.
//
// With e the epoch, W the warm-up's epochs, t = e / W (study) or (e + 1) / W (study-ahead), at most
// 1, and peak = base_rate * warmup_multiplier:
//
//   e <= W   base_rate * (start + (multiplier - start) t), all through the epoch
//   e > W    end_rate + (peak - end_rate) (1 - s / span)^power, with s the way from the beginning
//   of
//            epoch W + 1, and two updates more
//
// So the peak lasts for one epoch (two with study-ahead), the descent has begun two updates before
// it begins, and, if its span is that of the whole run, is not over at its end. study is what the
// study's program did with version 1.0 of its library and older, study-ahead with later ones, which
// count the first step when the schedule is made. Its lengths are in epochs; any other unit is
// turned into them by what an epoch is long in it.
#pragma once

#include "optim/learning_rate_schedule.hpp"

namespace rubato::optim {

// The rate at a position, in the schedule's unit.
double study_rate(const ScheduleOptions& options, double units);

// The same options, told what an epoch is long in their unit: of so many samples, in batches of
// `batch`, and in progress as long as in updates of the reference batch.
ScheduleOptions with_epochs(ScheduleOptions options, double epoch_samples, double batch,
                            double reference_batch);

}  // namespace rubato::optim
