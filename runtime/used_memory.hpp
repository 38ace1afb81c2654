// Memory that training has turned out to use, in huge pages (2 MiB).
//
// What is large and wholly used is in huge pages from the start (nn/aligned_buffer,
// collectives/mapped_memory, data/huge_pages). Of the rest, what oneDNN's kernels work in above
// all, it shows only in the running which part is used. Small pages cost walks to find them, and
// more where the system looks now and then which pages are used: each that is used is slow to
// reach once after that, on a virtual machine very slow.
#pragma once

namespace rubato::runtime {

// Puts those 2 MiB of this process's private memory together most of whose small pages have memory
// by now. Content and addresses stay. Advice: a system that has no huge pages changes nothing.
void put_used_memory_into_huge_pages();

// Calls it once, when so much time has passed that it has been seen what training uses.
class UsedMemory {
 public:
  // To be told after each update how long it took.
  void add(double seconds);

 private:
  double seconds_ = 0;
};

}  // namespace rubato::runtime
