// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "backend/cuda/instruction_profile.hpp"
#include "backend/cuda/readings.hpp"
#include "elf/instruction_listing.hpp"
#include "program/disassembly.hpp"
#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::backend::cuda {
namespace {

constexpr std::size_t most_kept_bytes = std::size_t{128} << 20;

/// Throws util::Error.
model::Listing listing_of(const LaunchedFunction& kernel) {
    if (kernel.code.image == nullptr) {
        throw util::Error("the machine code of {} is not known (docs/machine-code.md)",
                          util::printable(kernel.symbol, 100));
    }
    // A case's kernels may have one image, and so may cases.
    static std::map<std::shared_ptr<const std::string>, std::string> known;
    auto text = known.find(kernel.code.image);
    if (text == known.end()) {
        std::size_t bytes = 0;
        for (const auto& [image, kept] : known) bytes += kept.size();
        if (bytes > most_kept_bytes) known.clear();
        text = known.emplace(kernel.code.image, program::disassemble(*kernel.code.image)).first;
    }
    std::error_code no_folder;
    auto listing =
        elf::read_listing(text->second, kernel.symbol, std::filesystem::current_path(no_folder));
    if (!listing) {
        throw util::Error("nvdisasm lists no function {}", util::printable(kernel.symbol, 100));
    }
    return *std::move(listing);
}

using Uses = std::map<std::string, elf::InstructionUse>;

/// "FFMA 512, LDG.E.128 8 at kernels/blend.cu:57".
std::string detail_of(const Uses& instructions) {
    std::string text;
    for (const auto& [opcode, use] : instructions) {
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", opcode, use.count);
        if (use.place.line == 0 || use.place.file.find(',') != std::string::npos) continue;
        text += fmt::format(" at {}:{}", util::printable(use.place.file), use.place.line);
    }
    return text;
}

/// The symbol of each kernel. Throws util::Error if two have one.
std::vector<std::string> symbols_of(const std::vector<LaunchedFunction>& functions,
                                    const std::vector<model::KernelCode>& kernels) {
    std::map<std::string, std::string> of_symbol;
    for (const LaunchedFunction& each : functions) {
        const auto [known, is_new] = of_symbol.try_emplace(each.symbol, each.code.fingerprint);
        if (!is_new && known->second != each.code.fingerprint) {
            throw util::Error("two kernels have the symbol " + util::printable(each.symbol));
        }
    }
    std::vector<std::string> symbols;
    for (const model::KernelCode& kernel : kernels) {
        const auto function = std::ranges::find_if(functions, [&](const LaunchedFunction& each) {
            return each.code.fingerprint == kernel.code;
        });
        symbols.push_back(function->symbol);
    }
    return symbols;
}

/// Why the samples say nothing of the kernels; empty: they do.
std::string add_samples(const std::vector<std::string>& symbols, const PcSamples& samples,
                        std::vector<model::KernelCode>& kernels) {
    std::int64_t added = 0;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        for (model::Instruction& instruction : kernels[i].listing.instructions) {
            const auto found =
                samples.at.find({symbols[i], static_cast<std::uint64_t>(instruction.address)});
            if (found == samples.at.end()) continue;
            instruction.samples = found->second;
            added += found->second.all();
        }
        kernels[i].launches = samples.launches;
    }
    if (added > 0 && samples.dropped <= added) return {};
    for (model::KernelCode& kernel : kernels) {
        kernel.launches = 0;
        for (model::Instruction& instruction : kernel.listing.instructions) {
            instruction.samples = {};
        }
    }
    return fmt::format("{} samples are of the kernels, of {}, and the device dropped {}", added,
                       samples.all, samples.dropped);
}

/// Likewise of counts.
std::string add_counts(const std::vector<std::string>& symbols, const InstructionCounts& counts,
                       std::vector<model::KernelCode>& kernels) {
    bool any = false;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        for (model::Instruction& instruction : kernels[i].listing.instructions) {
            const auto found =
                counts.find({symbols[i], static_cast<std::uint64_t>(instruction.address)});
            if (found == counts.end()) continue;
            instruction.executed = found->second;
            any = true;
        }
    }
    return any ? "" : fmt::format("none of {} counts is of the kernels", counts.size());
}

/// Returns the result of `add`, or the text of its error; passes measure::DeviceLost on.
template <class Add>
std::string problem_of(const Add& add) {
    try {
        return add();
    } catch (const measure::DeviceLost&) {
        throw;
    } catch (const util::Error& error) {
        return error.what();
    }
}

}  // namespace

model::CaseCode machine_code(OpenDevice& device, CudaCase& opened, model::Cache cache) {
    model::CaseCode code;
    if (!device.has_cupti()) {
        code.problem = device.cupti_problem();
        return code;
    }
    std::set<std::string> listed;
    for (const LaunchedFunction& kernel : opened.launched_functions()) {
        if (!listed.insert(kernel.code.fingerprint).second) continue;
        try {
            code.kernels.push_back({kernel.name, kernel.code.fingerprint, listing_of(kernel)});
        } catch (const util::Error& error) {
            if (!code.problem.empty()) code.problem += "; ";
            code.problem += error.what();
        }
    }
    if (code.kernels.empty()) return code;
    std::vector<std::string> symbols;
    code.sampling_problem = problem_of([&] {
        symbols = symbols_of(opened.launched_functions(), code.kernels);
        return add_samples(symbols, sample_case(device, opened, cache), code.kernels);
    });
    if (symbols.empty()) return code;
    code.counting_problem = problem_of([&] {
        return add_counts(symbols, count_instructions(device, opened, cache), code.kernels);
    });
    return code;
}

measure::Reading read_disassembly(const ReadingContext& context) {
    measure::Reading reading;
    const auto fail = [&](std::string problem) {
        reading.problem = std::move(problem);
        return reading;
    };
    if (!context.device.has_cupti()) return fail(context.device.cupti_problem());
    Uses all;
    std::set<std::string> counted;
    for (const LaunchedFunction& kernel : context.opened->launched_functions()) {
        if (!counted.insert(kernel.code.fingerprint).second) continue;
        try {
            const model::Listing listing = listing_of(kernel);
            for (const auto& [opcode, use] : elf::instruction_uses(listing)) {
                elf::InstructionUse& sum = all[opcode];
                if (use.count > sum.count) sum.place = use.place;
                sum.count += use.count;
            }
        } catch (const util::Error& error) {
            return fail(error.what());
        }
    }
    reading.method.source = "nvdisasm";
    measure::Reading::Value& value = reading.values["code_instructions"];
    for (const auto& [opcode, use] : all) value.value += static_cast<double>(use.count);
    value.detail = detail_of(all);
    return reading;
}

}  // namespace perfgate::backend::cuda
