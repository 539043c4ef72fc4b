// SPDX-License-Identifier: Apache-2.0
// Progress of long work on stderr: a live line on a terminal, nothing elsewhere.
#pragma once

#include <string>

#include "measure/coordinator.hpp"

namespace perfgate::cli {

class ProgressLine {
  public:
    explicit ProgressLine(bool quiet);
    ~ProgressLine();  ///< leaves the line empty
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    void show(const measure::Progress& progress);

  private:
    bool on_;
    std::size_t width_;
};

}  // namespace perfgate::cli
