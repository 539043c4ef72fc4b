// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>

#include "model/command_words.hpp"
#include "suite/source_entry.hpp"
#include "util/text.hpp"

namespace perfgate::suite {

namespace {

using model::SourceArgument;

/// Puts the numbers of one case in place.
class SourceFiller {
  public:
    SourceFiller(const ReadSource& read, const model::Params& params, Problems& problems)
        : read_(read), params_(params), problems_(problems), filled_(read.kernel) {}

    model::SourceKernel fill() {
        const auto words = [&](std::string& text) {
            text = model::with_parameters(text, [&](const std::string& name) {
                const auto found = params_.find(name);
                if (found == params_.end()) return "{" + name + "}";
                const auto* own = std::get_if<std::string>(&found->second);
                return own != nullptr ? *own : model::to_text(found->second);
            });
        };
        words(filled_.kernel);
        words(filled_.check.against);
        for (auto& [name, value] : filled_.options.defines) words(value);
        if (filled_.check.against == filled_.kernel) {
            problems_.add(read_.check_at, "the kernel itself{}; expected another kernel or a file",
                          of_case());
        }
        sizes(read_.grid, most_blocks, "blocks", filled_.grid);
        sizes(read_.block, most_threads, "threads", filled_.block);
        const std::int64_t threads = filled_.block[0] * filled_.block[1] * filled_.block[2];
        if (threads > most_threads[0]) {
            problems_.add(read_.block.front().at(), "{} threads in a block{}; expected at most {}",
                          threads, of_case(), most_threads[0]);
        }
        if (read_.shared) {
            filled_.shared_bytes = value(*read_.shared, 0, most_shared_bytes, "bytes").value_or(0);
        }
        for (std::size_t i = 0; i < read_.arguments.size(); ++i) {
            argument(read_.arguments[i], filled_.arguments[i]);
        }
        if (read_.work_at) work();
        return std::move(filled_);
    }

  private:
    using Limits = std::array<std::int64_t, 3>;
    static constexpr Limits most_blocks{2147483647, 65535, 65535};
    static constexpr Limits most_threads{1024, 1024, 64};
    static constexpr std::int64_t most_shared_bytes = std::int64_t{1} << 20;
    static constexpr std::int64_t most_elements = std::int64_t{1} << 40;

    /// " for n=16", which distinguishes the cases of an expression.
    std::string of_case() const {
        std::string text;
        for (const auto& [name, value] : params_) {
            text +=
                fmt::format("{}{}={}", text.empty() ? " for " : ",", name, model::to_text(value));
        }
        return util::printable(text, 120);
    }

    std::optional<std::int64_t> value(const IntegerExpression& expression, std::int64_t least,
                                      std::int64_t most, std::string_view unit) {
        const IntegerExpression::Value value = expression.evaluate(params_);
        if (!value.problem.empty()) {
            problems_.add(expression.at(), "{}{}; expected an integer", value.problem, of_case());
            return std::nullopt;
        }
        if (value.value < least || value.value > most) {
            problems_.add(expression.at(), "{} is {}{}; expected {} to {} {}",
                          in_quotes(expression.text()), value.value, of_case(), least, most, unit);
            return std::nullopt;
        }
        return value.value;
    }

    void sizes(const std::vector<IntegerExpression>& expressions, const Limits& most,
               std::string_view unit, std::array<std::int64_t, 3>& sizes) {
        for (std::size_t i = 0; i < expressions.size(); ++i) {
            sizes[i] = value(expressions[i], 1, most[i], unit).value_or(1);
        }
    }

    void work() {
        constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
        const auto stated = [&](const std::optional<IntegerExpression>& expression,
                                std::string_view unit) {
            if (!expression) return std::int64_t{0};
            return value(*expression, 0, most, unit).value_or(1);
        };
        const std::int64_t flops = stated(read_.flops, "operations");
        const std::int64_t bytes = stated(read_.bytes, "bytes");
        if (flops == 0 && bytes == 0) {
            problems_.add(*read_.work_at, "'work' is 0{}; expected operations or bytes", of_case());
        }
        filled_.work.flops = static_cast<double>(flops);
        filled_.work.bytes = static_cast<double>(bytes);
    }

    void argument(const ReadSource::Argument& read, SourceArgument& argument) {
        if (read.size) {
            argument.elements = value(*read.size, 1, most_elements, "elements").value_or(1);
        }
        if (read.value && is_integer(argument.type)) {
            const auto [least, most] = integers_of(argument.type);
            argument.integer =
                value(*read.value, least, most, fmt::format("in {}", to_text(argument.type)))
                    .value_or(0);
        } else if (read.value) {
            const IntegerExpression::Value found = read.value->evaluate(params_);
            if (!found.problem.empty()) {
                problems_.add(read.value->at(), found.problem + of_case() + "; expected a number");
            }
            argument.real = static_cast<double>(found.value);
        } else if (!read.real_parameter.empty()) {
            real_parameter(read, argument);
        }
    }

    void real_parameter(const ReadSource::Argument& read, SourceArgument& argument) {
        const auto found = params_.find(read.real_parameter);
        if (found == params_.end()) return;  // a problem of its own
        if (const auto* real = std::get_if<double>(&found->second)) {
            argument.real = *real;
        } else if (const auto* integer = std::get_if<std::int64_t>(&found->second)) {
            argument.real = static_cast<double>(*integer);
        } else {
            problems_.add(read.at, "parameter {} is not a number; expected one",
                          in_quotes(read.real_parameter));
        }
        if (!(std::fabs(argument.real) <= model::largest_of(argument.type))) {
            problems_.add(read.at, "parameter {} is too large for {}",
                          in_quotes(read.real_parameter), to_text(argument.type));
        }
    }

    const ReadSource& read_;
    const model::Params& params_;
    Problems& problems_;
    model::SourceKernel filled_;
};

}  // namespace

model::SourceKernel filled_in(const ReadSource& read, const model::Params& params,
                              Problems& problems) {
    return SourceFiller(read, params, problems).fill();
}

}  // namespace perfgate::suite
