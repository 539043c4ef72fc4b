// SPDX-License-Identifier: Apache-2.0
#include "backend/plugin/verification.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <new>
#include <vector>

#include "backend/plugin/output.hpp"
#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::backend {
namespace {

// Bytes of the outputs before the repeats. `fill` has left 0xff in them before the first launch; an
// element that no launch writes is never the same.
constexpr std::byte before_repeat{0x55};
constexpr std::byte before_graph{0xaa};

constexpr std::size_t elements_at_once = std::size_t{1} << 20;

/// A copy on the host, which the caller compares.
class ReadOutput final : public KeptOutput {
  public:
    ReadOutput(const Output& output, Executor& executor) {
        try {
            copy_.resize(output.bytes);
        } catch (const std::bad_alloc&) {
            throw util::Error(
                "'deterministic' needs a copy of output '{}' ({} bytes): out of host memory",
                output.name, output.bytes);
        }
        executor.read(output, 0, copy_);
    }
    bool equals(const Output& /*now*/) override { return false; }
    void read(std::uint64_t offset, std::span<std::byte> to) override {
        std::copy_n(copy_.begin() + static_cast<std::ptrdiff_t>(offset), to.size(), to.begin());
    }

  private:
    std::vector<std::byte> copy_;
};

/// The outputs of the verified launch.
class FirstOutputs {
  public:
    FirstOutputs(Instance& instance, Executor& executor)
        : instance_(instance), executor_(executor), outputs_(instance.outputs()) {
        for (const Output& output : outputs_) {
            kept_.push_back(executor.keep(output));
            if (!kept_.back()) kept_.back() = std::make_unique<ReadOutput>(output, executor);
        }
    }

    void require_some() const {
        if (!outputs_.empty()) return;
        throw util::Error(
            "'deterministic: true' compares outputs, and this case names none: return them from "
            "outputs() in the plugin; a source needs an 'out' or 'inout' argument");
    }

    /// Whether outputs named before are named again, with their sizes; else why not.
    std::string changed(const std::vector<Output>& now) const {
        if (now.size() != outputs_.size()) {
            return fmt::format("the case names {}, before it named {}",
                               util::counted(now.size(), "output"), outputs_.size());
        }
        for (std::size_t i = 0; i < now.size(); ++i) {
            if (now[i].bytes == outputs_[i].bytes &&
                now[i].element_bytes == outputs_[i].element_bytes) {
                continue;
            }
            return fmt::format(
                "output '{}' has {} bytes in elements of {}, before {} in elements of {}",
                now[i].name, now[i].bytes, now[i].element_bytes, outputs_[i].bytes,
                outputs_[i].element_bytes);
        }
        return {};
    }

    /// What differs after a launch that found `poison` in the outputs; empty: nothing.
    std::string difference(std::byte poison) const {
        const std::vector<Output> now = instance_.outputs();
        std::string text = changed(now);
        if (!text.empty()) return text;
        std::size_t more = 0;
        std::vector<std::byte> before;
        std::vector<std::byte> part;
        for (std::size_t i = 0; i < now.size(); ++i) {
            if (kept_[i]->equals(now[i])) continue;
            OutputDifference found(now[i], poison);
            const std::size_t step = elements_at_once * now[i].element_bytes;
            for (std::size_t at = 0; at < now[i].bytes; at += step) {
                part.resize(std::min<std::size_t>(step, now[i].bytes - at));
                before.resize(part.size());
                executor_.read(now[i], at, part);
                kept_[i]->read(at, before);
                found.compare(before, part);
            }
            if (!found.found()) continue;
            if (text.empty()) {
                text = found.text();
            } else {
                ++more;
            }
        }
        if (more > 0) text += fmt::format("; {} too", util::counted(more, "other output"));
        return text;
    }

    std::string size_text() const {
        std::uint64_t bytes = 0;
        for (const Output& output : outputs_) bytes += output.bytes;
        return fmt::format("{}, {} bytes", util::counted(outputs_.size(), "output"), bytes);
    }

  private:
    Instance& instance_;
    Executor& executor_;
    std::vector<Output> outputs_;
    std::vector<std::unique_ptr<KeptOutput>> kept_;
};

void overwrite_outputs(Instance& instance, Executor& executor, std::byte poison) {
    for (const Output& output : instance.outputs()) executor.overwrite(output, poison);
    executor.reset(instance);  // an output may be an input, too
}

/// The inputs of the first launch, and other outputs.
void make_anew(Instance& instance, Executor& executor, std::uint64_t seed, std::byte poison) {
    instance.fill(seed);
    overwrite_outputs(instance, executor, poison);
}

measure::Verified different(std::uint64_t seed, const char* how, const std::string& difference) {
    return {{false, seed, fmt::format("not deterministic: {}, {}", how, difference)}};
}

measure::Verified verify_repeats(Instance& instance, Executor& executor, const FirstOutputs& first,
                                 model::Verification before) {
    const std::uint64_t seed = before.seed;
    make_anew(instance, executor, seed, before_repeat);
    executor.launch(instance, "repeat");
    std::string difference = first.difference(before_repeat);
    if (!difference.empty()) {
        return different(seed, "launched again with the same inputs", difference);
    }
    std::string equal = "equal bit for bit when launched again";
    measure::Verified verified;
    if (instance.submission() == PG_GRAPH) {
        equal += ", each time by its own CUDA graph";
    } else {
        make_anew(instance, executor, seed, before_graph);
        // Work that a capture let through, such as on another stream, must not count as the
        // graph's.
        const auto captured = [&] { overwrite_outputs(instance, executor, before_graph); };
        if (const auto graph = executor.launch_graph(instance, captured)) {
            if (graph->launched) {
                difference = first.difference(before_graph);
                if (!difference.empty()) {
                    return different(seed, "launched by a CUDA graph with the same inputs",
                                     difference);
                }
                equal += " and by a CUDA graph";
            } else {
                verified.note = fmt::format(
                    "deterministic: only the repeated launch was compared, none by a CUDA graph: "
                    "{}",
                    graph->why_not);
                equal += ", not by a CUDA graph";
            }
        }
    }
    verified.verification = std::move(before);
    verified.verification.detail += fmt::format(
        "{}{} ({})", verified.verification.detail.empty() ? "" : "; ", equal, first.size_text());
    return verified;
}

}  // namespace

measure::Verified verify(Instance& instance, Executor& executor, std::uint64_t seed,
                         const measure::Checks& checks) {
    instance.fill(seed);
    executor.launch(instance, "launch");
    std::optional<FirstOutputs> first;
    // Before the check, which may use their memory.
    if (checks.repeats) first.emplace(instance, executor);
    model::Verification verification{true, 0, ""};
    if (checks.reference) verification = instance.verify();
    verification.seed = seed;
    if (!checks.repeats || !verification.passed) return {std::move(verification)};
    first->require_some();
    return verify_repeats(instance, executor, *first, std::move(verification));
}

}  // namespace perfgate::backend
