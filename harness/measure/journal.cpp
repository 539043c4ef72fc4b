// SPDX-License-Identifier: Apache-2.0
#include "measure/journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "model/error.hpp"

namespace perfgate::measure {

Journal::Journal(const std::filesystem::path& folder) : path_(folder / "journal.jsonl") {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error)
        throw model::InputError(
            fmt::format("output folder {}: cannot be created: {}; name another with --out",
                        folder.string(), error.message()));
    fd_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd_ < 0)
        throw model::InputError(
            fmt::format("{}: cannot be written: {}; name another folder with --out", path_.string(),
                        std::strerror(errno)));
}

Journal::~Journal() {
    if (fd_ >= 0) ::close(fd_);
}

void Journal::add(const std::string& suite, const model::CaseResult& result) {
    // The suite's name is [a-z0-9_-]+ and needs no escaping.
    const std::string line =
        fmt::format("{{\"suite\":\"{}\",\"case\":{}}}\n", suite, model::write_case_line(result));
    std::size_t written = 0;
    while (written < line.size()) {
        const ssize_t count = ::write(fd_, line.data() + written, line.size() - written);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0)
            throw model::Error(
                fmt::format("{}: cannot be written: {}", path_.string(), std::strerror(errno)));
        written += static_cast<std::size_t>(count);
    }
    ::fdatasync(fd_);
}

}  // namespace perfgate::measure
