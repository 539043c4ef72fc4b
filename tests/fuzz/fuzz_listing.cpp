// SPDX-License-Identifier: Apache-2.0
// Two listings of nvdisasm, with a zero byte between them: they can be compared, and every
// instruction is in one row.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "elf/instruction_listing.hpp"
#include "fuzz.hpp"
#include "sass/difference.hpp"
#include "sass/samples.hpp"
#include "sass/text.hpp"

namespace {

using namespace perfgate;
using fuzz::require;

model::Listing read(std::string_view text) {
    const model::Listing listing =
        elf::read_listing(text, "blend", "/src/app").value_or(model::Listing{});
    for (const auto& [label, at] : listing.labels) {
        require(at <= listing.instructions.size(), "a label is behind the code");
    }
    return listing;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view input = fuzz::text_of(data, size);
    const std::size_t middle = std::min(input.find('\0'), input.size());
    const model::Listing before = read(input.substr(0, middle));
    const model::Listing after = read(input.substr(middle));
    const sass::Difference itself = sass::difference(before, before);
    require(std::all_of(itself.rows.begin(), itself.rows.end(),
                        [](const sass::Row& row) { return row.mark == sass::Mark::same; }),
            "a listing differs from itself");
    const sass::Difference changed = sass::difference(before, after);
    std::size_t left = 0, right = 0;
    for (const sass::Row& row : changed.rows) {
        if (row.before) require(*row.before == left++, "a row of the base is out of order");
        if (row.after) require(*row.after == right++, "a row of the head is out of order");
    }
    require(left == before.instructions.size() && right == after.instructions.size(),
            "an instruction is in no row");
    sass::rows_text(before, after, changed, 50);
    model::CaseCode base, head;
    base.kernels = {{"blend", "before", before, 3}};
    head.kernels = {{"blend", "after", after, 2}};
    std::int64_t seed = static_cast<std::int64_t>(size);
    for (model::CaseCode* side : {&base, &head}) {
        for (model::Instruction& each : side->kernels[0].listing.instructions) {
            seed = (seed * 48271 + each.address % 97 + 97) % 2147483647;
            constexpr const char* reasons[] = {"wait",    "long_scoreboard",  "short_scoreboard",
                                               "barrier", "branch_resolving", "drain"};
            each.samples = {{{reasons[seed % 6], seed % 5000}}, seed % 2500};
            if (seed % 5 > 0) each.executed = seed % 3000;
        }
        const model::Listing& listing = side->kernels[0].listing;
        std::int64_t caused = 0;
        for (const model::Samples& samples : sass::samples_by_cause(listing))
            caused += samples.all();
        require(caused <= sass::samples_of(side->kernels[0]).all(), "causes have more samples");
    }
    const model::CaseCode* const none = nullptr;
    for (const model::CaseCode* known : {static_cast<const model::CaseCode*>(&base), none}) {
        const model::CodeFinding found = sass::finding_of(known, head);
        require(!found.change.empty(), "nothing is said");
        require(found.place.line == 0 ||
                    std::any_of(after.instructions.begin(), after.instructions.end(),
                                [&](const auto& each) { return each.place == found.place; }),
                "a line is named that the code does not have");
    }
    sass::case_text(&base, head);
    sass::lines_text(changed, 50);
    return 0;
}
