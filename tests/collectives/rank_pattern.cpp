#include "rank_pattern.hpp"

namespace rubato::collectives {
namespace {

[[maybe_unused]] const testing::Environment* const topologies =
    testing::AddGlobalTestEnvironment(new Topologies);

}  // namespace
}  // namespace rubato::collectives
