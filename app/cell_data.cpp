// See cell_data.hpp.
#include "app/cell_data.hpp"

#include <stdlib.h>

#include <exception>

#include "runtime/version.hpp"

namespace rubato::app {
namespace {

constexpr const char* variable = "RUBATO_DATA_IMAGE";  // BUILD:NAME

std::string this_build() {
  return std::string(runtime::version) + " " + std::string(runtime::revision) + ":";
}

}  // namespace

CellData::~CellData() {
  if (asked_for_) ::unsetenv(variable);  // else it is another one's
}

void CellData::provide(const data::DataOptions& options) {
  if (asked_for_ == options) return;
  asked_for_ = options;
  ::unsetenv(variable);
  image_.reset();
  try {
    image_.emplace(*asked_for_);
    ::setenv(variable, (this_build() + image_->name()).c_str(), 1);
  } catch (const std::exception&) {  // the cells will say
  }
}

std::string provided_data_image() {
  const char* value = ::getenv(variable);
  const std::string told = value == nullptr ? "" : value;
  const std::string build = this_build();
  return told.starts_with(build) ? told.substr(build.size()) : "";
}

}  // namespace rubato::app
