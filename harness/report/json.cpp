// SPDX-License-Identifier: Apache-2.0
// The verdict document itself: what other programs read.
#include "document/run.hpp"
#include "report/formats.hpp"

namespace perfgate::report {

std::string write_json(const model::VerdictDocument& document, const model::Run& /*run*/,
                       const Options& /*options*/) {
    std::string text = document::write_verdict(document);
    if (text.empty() || text.back() != '\n') text += '\n';
    return text;
}

}  // namespace perfgate::report
