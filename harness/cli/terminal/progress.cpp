// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "util/text.hpp"

namespace perfgate::cli {

Terminal::Terminal() : there(isatty(STDERR_FILENO) != 0) {
    winsize size{};
    if (there && ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20) {
        width = size.ws_col;
    }
}

ProgressLine::ProgressLine() = default;

void ProgressLine::begin() {
    start_ = std::chrono::steady_clock::now();
    begun_.reset();
    log_ = {};
}

void ProgressLine::end() {
    if (shown_) std::fputs("\r\x1b[K", stderr);
    shown_ = false;
}

void ProgressLine::say(const std::string& line) {
    end();
    std::fputs(("perfgate: " + line + "\n").c_str(), stderr);
}

void ProgressLine::show(const measure::Progress& progress) {
    if (!begun_) begun_ = progress.done;
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
    if (!terminal_.there) {
        // A failed write of progress must not end a measurement: fputs does not throw.
        const std::string line = log_.line(progress, *begun_, elapsed.count());
        if (!line.empty()) std::fputs((line + "\n").c_str(), stderr);
        return;
    }
    shown_ = true;
    const std::string text = live_text(progress, *begun_, elapsed.count());
    std::fputs(("\r\x1b[K" + util::printable(text, terminal_.width - 1)).c_str(), stderr);
    std::fflush(stderr);
}

void RecordingProgress::show(const std::string& text) {
    if (!terminal_.there || text.size() + shown_ == 0) return;
    const std::size_t columns = std::min(std::max(text.size(), shown_), terminal_.width - 1);
    // Save the cursor, go to the column, clear the rest of the line, restore the cursor.
    const std::string line = fmt::format("\0337\033[{}G\033[K{}\0338", terminal_.width - columns,
                                         text.substr(0, columns));
    std::fputs(line.c_str(), stderr);
    std::fflush(stderr);
    shown_ = text.size();
}

}  // namespace perfgate::cli
