// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>

#include "model/text.hpp"

namespace perfgate::cli {

ProgressLine::ProgressLine(bool quiet) : on_(!quiet && isatty(STDERR_FILENO) != 0), width_(80) {
    winsize size{};
    if (on_ && ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20)
        width_ = size.ws_col;
}

ProgressLine::~ProgressLine() {
    if (on_) std::fputs("\r\x1b[K", stderr);
}

void ProgressLine::show(const measure::Progress& progress) {
    if (!on_) return;
    const std::string text = fmt::format("[{}/{}] {}: {}", progress.done + 1, progress.total,
                                         progress.phase, progress.case_id);
    fmt::print(stderr, "\r\x1b[K{}", model::printable(text, width_ - 1));
    std::fflush(stderr);
}

}  // namespace perfgate::cli
