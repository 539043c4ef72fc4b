// SPDX-License-Identifier: Apache-2.0
#include "measure/case_reply.hpp"

#include <variant>

namespace perfgate::measure {

bool is_about(const Item& item, const model::CaseResult& result) {
    return model::case_id(result.spec) == model::case_id(item.planned->spec);
}

std::string why_no_reply(const Workers::Answer& answer) {
    if (!answer.reply) return answer.why;
    const auto* failed = std::get_if<FailedReply>(&*answer.reply);
    return failed != nullptr ? failed->message : wrong_answer;
}

CaseReply case_reply(const Item& item, const Workers::Answer& answer) {
    const auto* reply = answer.reply ? std::get_if<MeasureReply>(&*answer.reply) : nullptr;
    if (reply == nullptr) return {nullptr, why_no_reply(answer)};
    if (!is_about(item, reply->result)) return {nullptr, wrong_answer};
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
