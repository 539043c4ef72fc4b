// SPDX-License-Identifier: Apache-2.0
// A stream that a program writes, kept in a file of bounded size: its beginning and its end.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "util/file.hpp"

namespace perfgate::program {

class Capture {
  public:
    static constexpr std::size_t head_bytes = std::size_t{1} << 20;
    static constexpr std::size_t tail_bytes = std::size_t{64} << 10;

    /// Creates the file, in place of what has its name, and a pipe. Throws util::Error.
    explicit Capture(std::filesystem::path file);
    ~Capture();
    Capture& operator=(Capture&&) = delete;  // nor copied

    /// What the program writes to; ours is closed with close_writer().
    int writer() const { return writer_; }
    void close_writer();
    /// For poll(); -1: the stream has ended.
    int reader() const { return reader_; }

    /// Reads what is available without waiting.
    void drain();
    /// Reads the rest and completes the file. Throws util::Error if it could not be
    /// written.
    void finish();

    /// The end of the output, at most `bytes`, starting at the beginning of a line if possible.
    std::string last_lines(std::size_t bytes) const;

  private:
    void take(const char* data, std::size_t size);
    void write(const char* data, std::size_t size);

    std::filesystem::path path_;
    util::Descriptor file_;
    int reader_ = -1, writer_ = -1;
    std::size_t written_ = 0;  ///< of the head
    std::size_t total_ = 0;
    std::string tail_;  ///< the end of the stream, up to twice tail_bytes
    int error_ = 0;     ///< the errno of the first write that failed
};

}  // namespace perfgate::program
