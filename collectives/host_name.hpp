// The name of this host, for messages.
#pragma once

#include <string>

namespace rubato::collectives {

std::string host_name();

}  // namespace rubato::collectives
