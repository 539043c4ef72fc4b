// SPDX-License-Identifier: Apache-2.0
// What the page of a report shows of the machine code of slower cases: source lines with their
// samples, and the difference of the instructions. The caller makes it; all text is untrusted.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "document/archive.hpp"

namespace perfgate::report::page {

/// Samples of a line in which its warps waited for one thing, or were issued; % of its side's.
struct Stall {
    std::string words;
    double before = 0, after = 0;
};

struct CodeLine {
    std::string place, was;  ///< "blend.cu:57", empty if only the base has it; `was`: the base's
    std::string text;        ///< of the source, of the base's without `place`; empty: not at hand
    std::int64_t instructions_before = 0, instructions_after = 0;
    double before = 0, after = 0;  ///< samples, % of its side's
    std::vector<Stall> stalls;     ///< the largest first
};

struct CodeKernel {
    std::string name, sentence, time, classes;
    bool compared = false;                       ///< with the base's; else it is the head's alone
    bool timed = false;                          ///< lengths are in ns; else in samples of a launch
    double length_before = 0, length_after = 0;  ///< of the whole kernel; 0: not known
    std::vector<CodeLine> lines;                 ///< those with the most samples first
    std::vector<std::string> rows;  ///< of the difference: "+", "-", "~" or " " and an instruction
};

PERFGATE_FIELDS(Stall, required(words, before, after))

PERFGATE_FIELDS(CodeLine, required(place), optional(was, text),
                required(instructions_before, instructions_after, before, after), optional(stalls))

PERFGATE_FIELDS(CodeKernel, required(name, sentence),
                optional(time, classes, compared, timed, length_before, length_after, lines, rows))

}  // namespace perfgate::report::page

namespace perfgate::report {

/// By suite and case id.
struct CodeViews {
    std::map<std::pair<std::string, std::string>, std::vector<page::CodeKernel>> cases;
};

}  // namespace perfgate::report
