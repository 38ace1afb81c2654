// The options of `rubato checkpoint`'s actions.
#pragma once

#include "app/options.hpp"

namespace rubato::app {

OptionTable checkpoint_list_table();
OptionTable checkpoint_show_table();
OptionTable checkpoint_verify_table();
OptionTable checkpoint_digest_table();
OptionTable checkpoint_diff_table();

}  // namespace rubato::app
