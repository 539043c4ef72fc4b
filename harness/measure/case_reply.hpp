// SPDX-License-Identifier: Apache-2.0
// What a worker's answer says about the case that it was asked to measure.
#pragma once

#include <string>

#include "measure/item.hpp"
#include "measure/workers.hpp"

namespace perfgate::measure {

constexpr const char* wrong_answer = "the worker's reply does not match the request";

/// Whether a worker's result is of this case: results of cases must not be mixed up.
bool is_about(const Item& item, const model::CaseResult& result);

/// Why an answer has no reply of the kind that was asked for.
std::string why_no_reply(const Workers::Answer& answer);

struct CaseReply {
    const MeasureReply* reply = nullptr;  ///< into the answer; null: there is no result
    std::string why;                      ///< why there is none
};
/// The reply in an answer to a MeasureRequest. Its result may itself be an error.
CaseReply case_reply(const Item& item, const Workers::Answer& answer);

/// The same of one more batch, which has to be `measured`: otherwise `why` has the result's reason.
CaseReply measured_reply(const Item& item, const Workers::Answer& answer);

}  // namespace perfgate::measure
