// See report_options.hpp.
#include "app/report_options.hpp"

#include <limits>

namespace rubato::app {

OptionTable report_table() {
  return {{.command = "report",
           .summary = "draw runs and studies, as one HTML file that opens offline.",
           .example = "rubato report runs/a runs/b\n"
                      "  rubato report runs/batches --output batches.html",
           .notes = "Each DIR is what rubato train --out has made, or what rubato study has. Of a"
                    " study: test accuracy\nagainst batch size, its table, the time to an accuracy."
                    " Of all: loss and accuracy over samples,\nprogress and time; batch size, rate,"
                    " gain and noise scale along the run; configuration and\nenvironment. The"
                    " same runs make the same bytes.\n\nThe plots are drawn by gnuplot (Debian"
                    " package gnuplot-nox). rubato study writes such a report\nby itself.",
           .positionals = {.names = "DIR...",
                           .least = 1,
                           .most = std::numeric_limits<std::size_t>::max()}},
          {{.name = "output",
            .default_value = "report.html",
            .value_name = "FILE",
            .group = "Report",
            .description = "where the page goes; one that is there is replaced",
            .is_recorded = false}}};
}

}  // namespace rubato::app
