// SPDX-License-Identifier: Apache-2.0
#include "model/run.hpp"

namespace perfgate::model {

std::string_view to_text(CaseStatus status) {
    switch (status) {
        case CaseStatus::measured:
            return "measured";
        case CaseStatus::incorrect:
            return "incorrect";
        case CaseStatus::error:
            return "error";
        case CaseStatus::invalid:
            return "invalid";
        case CaseStatus::skipped:
            return "skipped";
    }
    return "unknown";
}

}  // namespace perfgate::model
