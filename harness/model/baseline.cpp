// SPDX-License-Identifier: Apache-2.0
#include "model/baseline.hpp"

#include "util/word_of.hpp"

namespace perfgate::model {

std::string_view to_text(LedgerAction action) {
    return util::word_of<LedgerAction::improved>(
        action, {"accept", "acknowledge", "refresh", "prune", "improved"});
}

}  // namespace perfgate::model
