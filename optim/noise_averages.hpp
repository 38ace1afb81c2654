// Running averages of the two estimates that every update makes of its gradient, and what is known
// of their ratio.
//
// Observations (v, s) come with weights and fade by factors. Beside the sums of w v and w s stand
// those of w^2 v^2, w^2 v s and w^2 s^2, from which follows how well the ratio R = v / s is known:
// for the true R the sum of w (v - R s) has mean zero and a variance that the sum of
// w^2 (v - R s)^2 estimates, so that the values of R with
//
//   (sum w (v - R s))^2 <= z^2 sum w^2 (v - R s)^2
//
// are an interval of that confidence (Fieller 1954, in the self-normalised form). It is not
// symmetric, and has no upper end while s cannot be told from nothing: what a standard error of the
// ratio would hide.
#pragma once

namespace rubato::optim {

struct NoiseAverages {
  double variance = 0;         // sum of w v
  double square = 0;           // sum of w s
  double weight = 0;           // sum of w
  double variance_square = 0;  // sum of w^2 v^2
  double cross_product = 0;    // sum of w^2 v s
  double square_square = 0;    // sum of w^2 s^2

  // What was observed counts `kept` as much from here on.
  void fade(double kept);
  void add(double weight, double variance, double square);
};

// As if all had been observed in one.
NoiseAverages operator+(const NoiseAverages& left, const NoiseAverages& right);

struct NoiseInterval {
  double low = 0;
  double high = 0;  // infinite while the gradient cannot be told from noise
};

// Of the ratio v / s, not below 0. z: how many standard deviations, 1.96 for 95 %. Fewer than z^2
// observations tell nothing: from 0 to infinity.
NoiseInterval ratio_interval(const NoiseAverages& averages, double z);

}  // namespace rubato::optim
