// SPDX-License-Identifier: Apache-2.0
#include "inject/counter_request.hpp"

#include "util/text.hpp"

namespace perfgate::inject {
namespace {

// Each value is its length and its bytes ("5:flash"), because a pattern may contain anything.

constexpr std::uint64_t most = 100'000;

void add(std::string& text, std::string_view value) {
    text += std::to_string(value.size()) + ':';
    text += value;
}

void add(std::string& text, std::uint64_t value) {
    add(text, std::to_string(value));
}

class Values {
  public:
    explicit Values(std::string_view text) : text_(text) {}

    [[nodiscard]] bool all_read() const { return good_ && text_.empty(); }
    [[nodiscard]] bool good() const { return good_; }

    std::string text() {
        const std::size_t colon = text_.find(':');
        const auto length = util::parsed<std::uint64_t>(text_.substr(0, colon));
        if (colon == std::string_view::npos || !length || *length > text_.size() - colon - 1) {
            good_ = false;
            return {};
        }
        std::string value(text_.substr(colon + 1, *length));
        text_.remove_prefix(colon + 1 + *length);
        return value;
    }

    std::uint64_t number() {
        const auto value = util::parsed<std::uint64_t>(text());
        good_ = good_ && value;
        return good_ ? *value : 0;
    }

    /// A number of elements.
    std::uint64_t size() {
        const std::uint64_t value = number();
        good_ = good_ && value <= most;
        return good_ ? value : 0;
    }

  private:
    std::string_view text_;
    bool good_ = true;
};

}  // namespace

std::string to_text(const CounterRequest& request) {
    std::string text;
    add(text, request.pass);
    add(text, request.labels.size());
    for (const CounterLabel& label : request.labels) {
        add(text, label.kernel);
        add(text, label.within);
        add(text, label.own_thread ? 1 : 0);
        add(text, label.skip);
        add(text, label.count);
        for (const auto& size : {label.size.grid, label.size.block}) {
            for (const std::uint32_t extent : size) add(text, extent);
        }
    }
    add(text, request.counters.size());
    for (const std::vector<std::string>& alternatives : request.counters) {
        add(text, alternatives.size());
        for (const std::string& name : alternatives) add(text, name);
    }
    return text;
}

std::optional<CounterRequest> counter_request_from(std::string_view text) {
    Values values(text);
    CounterRequest request;
    request.pass = static_cast<std::uint32_t>(values.size());
    for (std::uint64_t left = values.size(); left > 0 && values.good(); --left) {
        CounterLabel& label = request.labels.emplace_back();
        label.kernel = values.text();
        label.within = values.text();
        label.own_thread = values.number() != 0;
        label.skip = values.number();
        label.count = values.number();
        for (auto* size : {&label.size.grid, &label.size.block}) {
            for (std::uint32_t& extent : *size) {
                extent = static_cast<std::uint32_t>(values.number());
            }
        }
    }
    for (std::uint64_t left = values.size(); left > 0 && values.good(); --left) {
        auto& alternatives = request.counters.emplace_back();
        for (std::uint64_t names = values.size(); names > 0 && values.good(); --names) {
            alternatives.push_back(values.text());
        }
    }
    if (!values.all_read()) return std::nullopt;
    return request;
}

}  // namespace perfgate::inject
