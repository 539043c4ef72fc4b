// SPDX-License-Identifier: Apache-2.0
#include "measure/case_reply.hpp"

#include <variant>

namespace perfgate::measure {

bool is_about(const Item& item, const model::CaseResult& result) {
    return model::case_id(result.spec) == model::case_id(item.planned->spec);
}

CaseReply case_reply(const Item& item, const Workers::Answer& answer) {
    if (!answer.reply) return {nullptr, answer.why};
    if (const auto* failed = std::get_if<FailedReply>(&*answer.reply)) {
        return {nullptr, failed->message};
    }
    const auto* reply = std::get_if<MeasureReply>(&*answer.reply);
    if (reply == nullptr || !is_about(item, reply->result)) return {nullptr, wrong_answer};
    return {reply, {}};
}

CaseReply measured_reply(const Item& item, const Workers::Answer& answer) {
    CaseReply found = case_reply(item, answer);
    if (found.reply != nullptr && found.reply->result.status != model::CaseStatus::measured) {
        return {nullptr, found.reply->result.reason};
    }
    return found;
}

}  // namespace perfgate::measure
