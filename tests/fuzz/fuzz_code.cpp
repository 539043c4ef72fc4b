// SPDX-License-Identifier: Apache-2.0
// The machine code beside a run (code.json): what was read can be written, compared and shown.
#include <algorithm>

#include "document/kernel_code.hpp"
#include "fuzz.hpp"
#include "sass/text.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace perfgate;
    const std::string_view text = fuzz::text_of(data, size);
    const auto read = [](std::string_view from) {
        return document::parse_code(std::string(from), "code.json");
    };
    fuzz::check_round_trip(text, read, document::write_code);
    model::KeptCode kept;
    try {
        kept = read(text);
    } catch (const util::InputError&) {
        return 0;
    }
    const model::CaseCode* const none = nullptr;
    for (const model::CaseCode& head : kept.head) {
        const auto base = std::find_if(kept.base.begin(), kept.base.end(), [&](const auto& each) {
            return each.is_of(head.suite, head.id);
        });
        for (const model::CaseCode* before : {base == kept.base.end() ? none : &*base, none}) {
            fuzz::require(!sass::finding_of(before, head).change.empty(), "nothing is said");
            sass::case_text(before, head);
        }
    }
    return 0;
}
