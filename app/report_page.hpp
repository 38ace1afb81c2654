// report.html: what runs and studies found, in one file that opens offline and fetches nothing.
#pragma once

#include <string>

#include "app/report_content.hpp"

namespace rubato::app {

// The page. The same content makes the same bytes. Throws GnuplotError.
std::string report_page(const ReportContent& content);

}  // namespace rubato::app
