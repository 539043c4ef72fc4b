// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>

#include "model/text.hpp"

namespace perfgate::cli {

ProgressLine::ProgressLine() : terminal_(isatty(STDERR_FILENO) != 0) {
    winsize size{};
    if (terminal_ && ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20) {
        width_ = size.ws_col;
    }
}

void ProgressLine::begin() {
    start_ = std::chrono::steady_clock::now();
    begun_.reset();
    log_ = {};
}

void ProgressLine::end() {
    if (shown_) std::fputs("\r\x1b[K", stderr);
    shown_ = false;
}

void ProgressLine::show(const measure::Progress& progress) {
    if (!terminal_) {
        // A failed write of progress must not end a measurement: fputs does not throw.
        const std::string line = log_.line(progress);
        if (!line.empty()) std::fputs((line + "\n").c_str(), stderr);
        return;
    }
    shown_ = true;
    if (!begun_) begun_ = progress.done;
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
    const std::string text = live_text(progress, *begun_, elapsed.count());
    std::fputs(("\r\x1b[K" + model::printable(text, width_ - 1)).c_str(), stderr);
    std::fflush(stderr);
}

}  // namespace perfgate::cli
