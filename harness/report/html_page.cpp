// SPDX-License-Identifier: Apache-2.0
// The assembler includes the files as they are: this needs no generator, and the compiler does not
// parse half a megabyte of digits.
#include "report/html.hpp"

#include <algorithm>
#include <cstddef>

#include "util/error.hpp"

// PERFGATE_HTML_PAGES is the folder that has them.
#define PERFGATE_EMBED(symbol, file)                             \
    __asm__(                                                     \
        ".pushsection .rodata\n"                                 \
        ".hidden " #symbol                                       \
        "\n"                                                     \
        ".hidden " #symbol                                       \
        "_end\n"                                                 \
        ".global " #symbol                                       \
        "\n"                                                     \
        ".global " #symbol "_end\n" #symbol                      \
        ":\n"                                                    \
        ".incbin \"" PERFGATE_HTML_PAGES "/" file "\"\n" #symbol \
        "_end:\n"                                                \
        ".byte 0\n"                                              \
        ".popsection\n")

PERFGATE_EMBED(perfgate_report_page, "report.html");
PERFGATE_EMBED(perfgate_profile_page, "profile.html");
PERFGATE_EMBED(perfgate_history_page, "history.html");

extern "C" {
extern const char perfgate_report_page[];
extern const char perfgate_report_page_end[];
extern const char perfgate_profile_page[];
extern const char perfgate_profile_page_end[];
extern const char perfgate_history_page[];
extern const char perfgate_history_page_end[];
}

namespace perfgate::report {

namespace {

std::string_view between(const char* begin, const char* end) {
    return {begin, static_cast<std::size_t>(end - begin)};
}

}  // namespace

std::string_view report_page() {
    return between(perfgate_report_page, perfgate_report_page_end);
}

std::string_view profile_page() {
    return between(perfgate_profile_page, perfgate_profile_page_end);
}

std::string_view history_page() {
    return between(perfgate_history_page, perfgate_history_page_end);
}

bool has_html_page() {
    return !report_page().empty();
}

void append_fit_for_script(std::string& out, std::string_view json) {
    constexpr char line_separator_lead = '\xe2';  // the first byte of U+2028, U+2029 and others
    while (true) {
        const auto unfit = std::find_if(json.begin(), json.end(), [](char c) {
            return c == '<' || c == '>' || c == '&' || c == line_separator_lead;
        });
        const auto fit = static_cast<std::size_t>(unfit - json.begin());
        out += json.substr(0, fit);
        json.remove_prefix(fit);
        if (json.empty()) return;
        std::size_t replaced = 1;
        if (json.front() == '<') {
            out += "\\u003c";
        } else if (json.front() == '>') {
            out += "\\u003e";
        } else if (json.front() == '&') {
            out += "\\u0026";
        } else if (json.starts_with("\u2028") || json.starts_with("\u2029")) {
            out += json[2] == '\xa8' ? "\\u2028" : "\\u2029";
            replaced = 3;
        } else {
            out += json.front();
        }
        json.remove_prefix(replaced);
    }
}

std::string fill_page(std::string_view page, std::string_view json) {
    constexpr std::string_view placeholder = "@PERFGATE_DATA@";
    const std::size_t place = page.find(placeholder);
    if (place == std::string_view::npos) throw util::InputError(no_html_page);
    std::string text;
    text.reserve(page.size() + json.size() + json.size() / 32);
    text += page.substr(0, place);
    append_fit_for_script(text, json);
    text += page.substr(place + placeholder.size());
    if (text.back() != '\n') text += '\n';
    return text;
}

}  // namespace perfgate::report
