// SPDX-License-Identifier: Apache-2.0
#include "model/ledger.hpp"

namespace perfgate::model {

std::string_view to_text(LedgerAction action) {
    switch (action) {
        case LedgerAction::accept:
            return "accept";
        case LedgerAction::acknowledge:
            return "acknowledge";
        case LedgerAction::refresh:
            return "refresh";
        case LedgerAction::prune:
            return "prune";
    }
    return "unknown";
}

}  // namespace perfgate::model
