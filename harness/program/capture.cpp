// SPDX-License-Identifier: Apache-2.0
#include "program/capture.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "util/error.hpp"
#include "util/folder.hpp"
#include "util/text.hpp"

namespace perfgate::program {

Capture::Capture(std::filesystem::path file) : path_(std::move(file)) {
    file_ = util::Folder(path_.parent_path()).create(path_.filename());
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) {
        throw util::Error("cannot write {}: {}", util::printable(path_.native()),
                          std::strerror(errno));
    }
    reader_ = ends[0];
    writer_ = ends[1];
    fcntl(reader_, F_SETFL, O_NONBLOCK);
}

Capture::~Capture() {
    close_writer();
    if (reader_ >= 0) ::close(reader_);
}

void Capture::close_writer() {
    if (writer_ >= 0) ::close(writer_);
    writer_ = -1;
}

void Capture::drain() {
    std::array<char, 65536> buffer{};
    while (reader_ >= 0) {
        const ssize_t got = ::read(reader_, buffer.data(), buffer.size());
        if (got > 0) {
            take(buffer.data(), static_cast<std::size_t>(got));
        } else if (got < 0 && errno == EINTR) {
            continue;
        } else {
            if (got == 0) {
                ::close(reader_);
                reader_ = -1;
            }
            return;
        }
    }
}

void Capture::take(const char* data, std::size_t size) {
    total_ += size;
    tail_.append(data, size);
    if (tail_.size() > 2 * tail_bytes) tail_.erase(0, tail_.size() - tail_bytes);
    const std::size_t head = std::min(size, head_bytes - written_);
    write(data, head);
    written_ += head;
}

void Capture::write(const char* data, std::size_t size) {
    while (size > 0 && error_ == 0) {
        const ssize_t done = ::write(file_.get(), data, size);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) {
            error_ = errno;
            return;
        }
        data += done;
        size -= static_cast<std::size_t>(done);
    }
}

void Capture::finish() {
    drain();
    const std::size_t missing = total_ - written_;
    if (missing > 0) {
        const std::size_t end = std::min({missing, tail_bytes, tail_.size()});
        if (missing > end) {
            const std::string gap = fmt::format("\n[{} bytes left out]\n", missing - end);
            write(gap.data(), gap.size());
        }
        write(tail_.data() + (tail_.size() - end), end);
    }
    if (file_.close() != 0 && error_ == 0) error_ = errno;
    if (error_ != 0) {
        throw util::Error("cannot write {}: {}", util::printable(path_.native()),
                          std::strerror(error_));
    }
}

std::string Capture::last_lines(std::size_t bytes) const {
    std::string_view end = tail_;
    if (end.size() > bytes) {
        end.remove_prefix(end.size() - bytes);
        const std::size_t line = end.find('\n');
        if (line != std::string_view::npos && line + 1 < end.size()) end.remove_prefix(line + 1);
    }
    return std::string(end);
}

}  // namespace perfgate::program
