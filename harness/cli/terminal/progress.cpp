// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "model/quantity.hpp"
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

namespace {

/// Batches are numbered from 1 for display; the last number stays when all are done.
std::string place(const measure::Progress& progress) {
    return fmt::format("[{}/{}]", std::min(progress.done + 1, progress.total), progress.total);
}

/// Empty until the time per batch is known.
std::string time_left(const measure::Progress& progress, std::size_t begun, double elapsed_s) {
    if (progress.done <= begun || progress.done >= progress.total) return "";
    const double left_s = elapsed_s / static_cast<double>(progress.done - begun) *
                          static_cast<double>(progress.total - progress.done);
    if (left_s < 90) return fmt::format(", {:.0f} s left", std::ceil(left_s));
    return fmt::format(", {:.0f} min left", std::ceil(left_s / 60));
}

}  // namespace

std::string live_text(const measure::Progress& progress, std::size_t begun, double elapsed_s) {
    return fmt::format("{} {}: {}{}", place(progress), progress.phase,
                       util::printable(progress.case_id), time_left(progress, begun, elapsed_s));
}

std::string recording_text(double elapsed_s, std::uint64_t bytes) {
    return fmt::format("recorded {:.0f} s, {}", std::floor(elapsed_s),
                       model::quantity_text(static_cast<double>(bytes), "bytes"));
}

std::string ProgressLog::line(const measure::Progress& progress, std::size_t begun,
                              double elapsed_s) {
    const bool counters = progress.phase == "counters";
    const std::string group = fmt::format("{}: {}{}", progress.suite,
                                          progress.case_id.substr(0, progress.case_id.find('/')),
                                          counters ? ", counters" : "");
    const std::size_t tenth = progress.total == 0 ? 0 : progress.done * 10 / progress.total;
    const bool further = tenth > tenth_;
    tenth_ = std::max(tenth_, tenth);
    if (!groups_.insert(group).second && !further) return "";
    // Nobody waits for what takes only seconds.
    constexpr double least_s = 5;
    return fmt::format("{} {}{}", place(progress), util::printable(group),
                       elapsed_s < least_s ? "" : time_left(progress, begun, elapsed_s));
}

}  // namespace perfgate::cli
