// SPDX-License-Identifier: Apache-2.0
#include "report/junit_xml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "report/plain_text.hpp"
#include "report/summary.hpp"

namespace perfgate::report {

namespace {

bool all_digits(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

int digits_value(std::string_view digits) {
    int value = 0;
    for (const char c : digits) value = value * 10 + (c - '0');
    return value;
}

}  // namespace

std::string junit_name(std::string_view text) {
    std::string name = plain_line(text, longest_junit_name);
    return name.empty() ? "(unnamed)" : name;
}

double sane_seconds(double seconds) {
    // False for NaN.
    return seconds > 0 ? std::min(seconds, 1e9) : 0;
}

std::string seconds_text(double seconds) {
    return fmt::format("{:.3f}", sane_seconds(seconds));
}

std::string timestamp_text(std::string_view utc) {
    constexpr std::string_view form = "0000-00-00T00:00:00";
    constexpr std::string_view epoch = "1970-01-01T00:00:00";
    if (utc.size() < form.size()) return std::string(epoch);
    utc = utc.substr(0, form.size());
    for (std::size_t i = 0; i < form.size(); ++i) {
        const bool fits = form[i] == '0' ? all_digits(utc.substr(i, 1)) : utc[i] == form[i];
        if (!fits) return std::string(epoch);
    }
    const auto field = [utc](std::size_t begin, std::size_t count) {
        return digits_value(utc.substr(begin, count));
    };
    const std::chrono::year_month_day date{std::chrono::year(field(0, 4)),
                                           std::chrono::month(static_cast<unsigned>(field(5, 2))),
                                           std::chrono::day(static_cast<unsigned>(field(8, 2)))};
    const bool exists =
        date.ok() && field(0, 4) > 0 && field(11, 2) < 24 && field(14, 2) < 60 && field(17, 2) < 60;
    return std::string(exists ? utc : epoch);
}

void set_attribute(pugi::xml_node node, const char* name, std::string_view value) {
    node.append_attribute(name).set_value(plain_line(value, longest_line).c_str());
}

void set_attribute(pugi::xml_node node, const char* name, std::int64_t value) {
    node.append_attribute(name).set_value(static_cast<long long>(value));
}

void set_text(pugi::xml_node node, std::string_view text) {
    node.append_child(pugi::node_pcdata).set_value(plain_text(text).c_str());
}

void add_property(pugi::xml_node properties, std::string_view name, std::string_view value) {
    pugi::xml_node property = properties.append_child("property");
    set_attribute(property, "name", junit_name(name));
    set_attribute(property, "value", value);
}

void add_output(pugi::xml_node node, std::string text) {
    constexpr std::string_view marker = "[[ATTACHMENT|";
    for (std::size_t at = text.find(marker); at != std::string::npos; at = text.find(marker, at)) {
        at += marker.size() - 1;
        text.insert(at, 1, ' ');
    }
    set_text(node.append_child("system-out"), text);
}

std::string UniqueNames::claim(const std::string& classname, const std::string& name) {
    const std::string first = classname + '\n' + name;
    if (taken_.insert(first).second) return name;
    std::int64_t& number = last_number_.try_emplace(first, 1).first->second;
    std::string candidate;
    do {
        candidate = fmt::format("{} ({})", name, ++number);
    } while (!taken_.insert(classname + '\n' + candidate).second);
    return candidate;
}

std::string xml_text(const pugi::xml_document& xml) {
    struct StringWriter : pugi::xml_writer {
        std::string text;
        void write(const void* data, std::size_t size) override {
            text.append(static_cast<const char*>(data), size);
        }
    } writer;
    xml.save(writer, "  ", pugi::format_indent, pugi::encoding_utf8);
    return std::move(writer.text);
}

}  // namespace perfgate::report
