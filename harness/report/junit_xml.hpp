// SPDX-License-Identifier: Apache-2.0
// Pieces of JUnit XML that its readers accept, which differ: no character that XML 1.0 forbids (one
// of them makes some readers reject the whole file), seconds in fixed point, unique names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace perfgate::report {

/// A name longer than this is hostile.
inline constexpr std::size_t longest_junit_name = 1000;

std::string junit_name(std::string_view text);

/// From 0, also for NaN, to 1e9.
double sane_seconds(double seconds);

/// At most three decimals (Jenkins' schema), never an exponent or a locale's comma.
std::string seconds_text(double seconds);

/// "2026-11-21T10:00:00Z" without the zone, which the Ant schema forbids; the epoch if the document
/// has no such time, because readers reject a file with an invalid attribute.
std::string timestamp_text(std::string_view utc);

// All text enters the document through these, which remove what XML forbids.
void set_attribute(pugi::xml_node node, const char* name, std::string_view value);
void set_attribute(pugi::xml_node node, const char* name, std::int64_t value);
void set_text(pugi::xml_node node, std::string_view text);
void add_property(pugi::xml_node properties, std::string_view name, std::string_view value);
/// `system-out`. GitLab attaches the file that "[[ATTACHMENT|path]]" in it names; untrusted text
/// cannot request one.
void add_output(pugi::xml_node node, std::string text);

/// Gives every testcase of a file a unique name: readers drop or merge duplicates.
class UniqueNames {
  public:
    std::string claim(const std::string& classname, const std::string& name);

  private:
    std::unordered_set<std::string> taken_;
    std::unordered_map<std::string, std::int64_t> last_number_;
};

/// The file, UTF-8.
std::string xml_text(const pugi::xml_document& xml);

}  // namespace perfgate::report
