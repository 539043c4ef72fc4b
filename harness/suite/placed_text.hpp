// SPDX-License-Identifier: Apache-2.0
// The text of a YAML scalar with the location of each of its bytes in the file, for messages that
// point into it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "suite/problems.hpp"
#include "suite/yaml_reader.hpp"

namespace perfgate::suite {

class PlacedText {
  public:
    /// `exact`: the text stands in the file from `start` on, byte by byte.
    PlacedText(std::string_view text, Position start, bool exact)
        : text_(text), start_(start), exact_(exact) {}

    /// The same with a prefix that is not in the file; its location is the beginning.
    PlacedText behind(std::string_view prefix) const;

    const std::string& text() const { return text_; }
    Position start() const { return start_; }

    /// Adds a problem at a byte of the text. If escapes or folding leave only the location of the
    /// whole scalar, the message gives the number of the character.
    void add(std::size_t offset, std::string message, Problems& problems) const;
    Position at(std::size_t offset) const;

  private:
    std::string text_;
    Position start_;
    bool exact_;
    std::size_t prefix_bytes_ = 0;
};

class SourceText {
  public:
    /// Keeps `yaml`, which must outlive it.
    explicit SourceText(std::string_view yaml);

    PlacedText place(const YamlNode& scalar) const;

  private:
    std::string_view yaml_;
    std::vector<std::size_t> line_starts_;
};

}  // namespace perfgate::suite
