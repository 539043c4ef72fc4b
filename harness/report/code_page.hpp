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
    std::string place, was;  ///< "blend.cu:57"; `was`: of the base, if it is another
    std::string text;        ///< of the source as committed; empty: not at hand
    std::int64_t instructions_before = 0, instructions_after = 0;
    double before = 0, after = 0;  ///< samples, % of its side's
    std::vector<Stall> stalls;     ///< the largest first
};

struct CodeKernel {
    std::string name, sentence, time, classes;
    bool compared = false;          ///< with the base's; else it is the head's alone
    std::vector<CodeLine> lines;    ///< those with the most samples first
    std::vector<std::string> rows;  ///< of the difference: "+", "-", "~" or " " and an instruction
};

template <class Archive>
void describe(Archive& archive, document::Described<Archive, Stall>& stall) {
    archive.required("words", stall.words);
    archive.required("before", stall.before);
    archive.required("after", stall.after);
}

template <class Archive>
void describe(Archive& archive, document::Described<Archive, CodeLine>& line) {
    archive.required("place", line.place);
    archive.optional("was", line.was);
    archive.optional("text", line.text);
    archive.required("instructions_before", line.instructions_before);
    archive.required("instructions_after", line.instructions_after);
    archive.required("before", line.before);
    archive.required("after", line.after);
    archive.optional("stalls", line.stalls);
}

template <class Archive>
void describe(Archive& archive, document::Described<Archive, CodeKernel>& kernel) {
    archive.required("name", kernel.name);
    archive.required("sentence", kernel.sentence);
    archive.optional("time", kernel.time);
    archive.optional("classes", kernel.classes);
    archive.optional("compared", kernel.compared);
    archive.optional("lines", kernel.lines);
    archive.optional("rows", kernel.rows);
}

}  // namespace perfgate::report::page

namespace perfgate::report {

/// By suite and case id.
struct CodeViews {
    std::map<std::pair<std::string, std::string>, std::vector<page::CodeKernel>> cases;
};

}  // namespace perfgate::report
