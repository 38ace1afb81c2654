// Huge pages (2 MiB) for memory that is read in random order.
//
// A minibatch's samples lie in as many pages as there are samples, more than a processor remembers
// the places of, and each place that it has forgotten costs a walk through page tables; on a
// virtual machine this is most of what loading costs.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace rubato::data {

// Asks the system to put `memory` into huge pages, where such lie in it whole: what is written
// already is put together, content and addresses stay. Advice: a system that has none to give
// changes nothing.
void prefer_huge_pages(std::span<const std::byte> memory);

// `count` zeros, in huge pages from the first touch on, which spares the system the small ones.
template <typename T>
std::vector<T> zeros_in_huge_pages(std::size_t count) {
  std::vector<T> zeros;
  zeros.reserve(count);
  prefer_huge_pages(std::as_bytes(std::span(zeros.data(), count)));
  zeros.resize(count);
  return zeros;
}

}  // namespace rubato::data
