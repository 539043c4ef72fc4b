// SPDX-License-Identifier: Apache-2.0
#include "kinds/command/program_code.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "activity/analysis.hpp"
#include "elf/cubin.hpp"
#include "elf/instruction_listing.hpp"
#include "inject/settings.hpp"
#include "kinds/command/program_runs.hpp"
#include "kinds/command/recorder.hpp"
#include "program/disassembly.hpp"
#include "util/error.hpp"
#include "util/file.hpp"
#include "util/text.hpp"

namespace perfgate::command {
namespace {

namespace fs = std::filesystem;

/// Each gives one half of the samples, which shows how well they repeat.
constexpr int processes = 2;
constexpr std::size_t most_kernels_of_case = 16;
/// Of all modules.
constexpr std::uintmax_t most_module_bytes = std::uintmax_t{512} << 20;
constexpr std::size_t most_modules = 256;

/// Those with known code and the most time, each code once.
std::vector<const model::Kernel*> longest_kernels(const model::CaseResult& result) {
    std::vector<const model::Kernel*> kernels;
    for (const model::Kernel& kernel : result.kernels) {
        if (!kernel.code.empty()) kernels.push_back(&kernel);
    }
    std::ranges::stable_sort(
        kernels, [](const auto* one, const auto* other) { return one->time_ns > other->time_ns; });
    std::set<std::string> known;
    std::erase_if(kernels, [&](const auto* kernel) { return !known.insert(kernel->code).second; });
    if (kernels.size() > most_kernels_of_case) kernels.resize(most_kernels_of_case);
    return kernels;
}

/// Functions with the same code: all their symbols, and one of the modules with the first.
struct Function {
    const std::string* module = nullptr;
    std::string symbol;
    std::set<std::string, std::less<>> symbols;
};

/// By fingerprint.
std::map<std::string, Function> functions_in(const Modules& modules) {
    std::map<std::string, Function> functions;
    for (const std::string& module : modules) {
        try {
            for (auto& [symbol, code] : elf::machine_code(elf::ElfImage(module))) {
                const auto function =
                    functions.try_emplace(code.fingerprint, Function{&module, symbol, {}}).first;
                function->second.symbols.insert(symbol);
            }
        } catch (const util::InputError&) {
            // A kernel that is in no module that can be read is said to be.
        }
    }
    return functions;
}

/// Adds the samples of the processes to a kernel. False: a process has other code of a symbol.
bool add_samples(const Function& function,
                 const std::vector<std::vector<activity::Recording>>& recorded,
                 model::KernelCode& kernel) {
    std::map<std::int64_t, model::Instruction*> at;
    for (model::Instruction& each : kernel.listing.instructions) at[each.address] = &each;
    bool first_half = true;
    for (const std::vector<activity::Recording>& recordings : recorded) {
        for (const activity::Recording& recording : recordings) {
            const auto codes = activity::machine_code(recording);
            for (const std::string& symbol : function.symbols) {
                const auto code = codes.find(symbol);
                if (code != codes.end() && code->second != kernel.code) return false;
            }
            for (const activity::PcSample& sample : recording.records.pc_samples) {
                if (!function.symbols.contains(recording.text(sample.symbol))) continue;
                const auto found = at.find(static_cast<std::int64_t>(sample.offset));
                if (found == at.end()) continue;
                model::Samples& samples = found->second->samples;
                samples.reasons[util::printable(recording.text(sample.reason), 64)] += sample.count;
                if (first_half) samples.of_half += sample.count;
            }
        }
        first_half = false;
    }
    return true;
}

/// What the recordings say is missing.
std::string problems_of(const std::vector<std::vector<activity::Recording>>& recorded) {
    std::set<std::string> problems;
    for (const auto& recordings : recorded) {
        for (const activity::Recording& recording : recordings) {
            for (const std::string& each : recording.incomplete) {
                problems.insert(util::printable(each, 300));
            }
        }
    }
    return fmt::format("{}", fmt::join(problems, "; "));
}

}  // namespace

KeptModules modules_in(const fs::path& folder, std::uintmax_t most_bytes) {
    KeptModules kept;
    std::error_code error;
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        if (entry.path().extension() != ".cubin") continue;
        if (entry.symlink_status(error).type() == fs::file_type::regular) {
            files.push_back(entry.path());
        }
    }
    std::ranges::sort(files);
    for (const fs::path& file : files) {
        const std::uintmax_t bytes = fs::file_size(file, error);
        if (error || bytes > most_bytes || kept.modules.size() == most_modules) {
            ++kept.left_out;
            continue;
        }
        std::string module = util::read_file(file, most_bytes, "machine code");
        // Processes load the same ones.
        if (std::ranges::find(kept.modules, module) != kept.modules.end()) {
            continue;
        }
        most_bytes -= module.size();
        kept.modules.push_back(std::move(module));
    }
    return kept;
}

model::CaseCode code_of(const model::CaseResult& result, const Modules& modules,
                        const std::vector<std::vector<activity::Recording>>& recorded,
                        const std::function<std::string(const std::string& module)>& list) {
    model::CaseCode code;
    std::int64_t sampled = 0;
    const std::map<std::string, Function> functions = functions_in(modules);
    const auto say = [](std::string& problem, std::string_view what) {
        problem += fmt::format("{}{}", problem.empty() ? "" : "; ", what);
    };
    for (const model::Kernel* of : longest_kernels(result)) {
        const auto found = functions.find(of->code);
        const std::string name = util::printable(of->name, 100);
        if (found == functions.end()) {
            say(code.problem, fmt::format("{} was not loaded again", name));
            continue;
        }
        std::optional<model::Listing> listing;
        try {
            std::error_code no_folder;
            listing = elf::read_listing(list(*found->second.module), found->second.symbol,
                                        fs::current_path(no_folder));
        } catch (const util::Error& error) {
            say(code.problem, error.what());
            break;
        }
        if (!listing) {
            say(code.problem, fmt::format("nvdisasm lists no function {}", name));
            continue;
        }
        model::KernelCode& kernel =
            code.kernels.emplace_back(model::KernelCode{of->name, of->code, *std::move(listing)});
        if (!add_samples(found->second, recorded, kernel)) {
            for (model::Instruction& each : kernel.listing.instructions) each.samples = {};
            say(code.sampling_problem, fmt::format("two kernels have the symbol of {}", name));
            continue;
        }
        std::int64_t own = 0;
        for (const model::Instruction& each : kernel.listing.instructions) {
            own += each.samples.all();
        }
        if (own > 0) kernel.launches = static_cast<std::int64_t>(recorded.size());
        sampled += own;
    }
    const std::string missing = problems_of(recorded);
    if (code.kernels.empty()) {
        if (!missing.empty()) say(code.problem, missing);
        if (code.problem.empty()) code.problem = "the code of its kernels is not known";
        return code;
    }
    code.counting_problem = "instructions of programs are not counted";
    if (!missing.empty()) {
        say(code.sampling_problem, missing);
    } else if (sampled == 0 && code.sampling_problem.empty()) {
        code.sampling_problem = "no sample is of its kernels";
    }
    return code;
}

std::vector<model::CaseCode> code_of_program(
    const kinds::Machine& machine, const Command& command,
    const std::vector<model::CaseResult>& results,
    const std::function<void(std::string_view phase)>& observe) {
    const auto start = std::chrono::steady_clock::now();
    std::vector<model::CaseCode> all(results.size());
    std::set<std::string> wanted;
    for (const model::CaseResult& result : results) {
        for (const model::Kernel* kernel : longest_kernels(result)) wanted.insert(kernel->code);
    }
    std::string problem;
    try {
        if (wanted.empty()) throw util::Error("the code of its kernels is not known");
        const ProgramRuns programs(machine, command);
        KeptModules kept;
        std::vector<std::vector<activity::Recording>> recorded;
        for (int process = 1; process <= processes; ++process) {
            observe("machine code");
            const RecordingFolder folder("");
            inject::Settings settings;
            settings.folder = folder.path();
            settings.level = inject::Level::code;
            settings.functions = fmt::format("{}", fmt::join(wanted, ","));
            programs.run({command.words, fmt::format("code-{}", process), "machine code",
                          inject::environment_for(settings, machine.library), command.exit_status,
                          "the program"});
            std::vector<activity::Recording>& recordings = recorded.emplace_back();
            for (const fs::path& file : activity::recordings_in(folder.path())) {
                recordings.push_back(activity::read_recording(file));
            }
            if (process == 1) kept = modules_in(folder.path(), most_module_bytes);
        }
        std::map<const std::string*, std::string> listings;
        const auto list = [&](const std::string& module) -> std::string {
            const auto known = listings.find(&module);
            if (known != listings.end()) return known->second;
            return listings.emplace(&module, program::disassemble(module)).first->second;
        };
        for (std::size_t i = 0; i < results.size(); ++i) {
            all[i] = code_of(results[i], kept.modules, recorded, list);
            if (kept.left_out == 0) continue;
            all[i].problem += fmt::format("{}{} too large or too many to be read",
                                          all[i].problem.empty() ? "" : "; ",
                                          util::counted(kept.left_out, "module"));
        }
    } catch (const Stopped&) {
        problem = "interrupted";
    } catch (const Failure& failure) {
        problem = failure.reason;
    } catch (const std::exception& error) {
        problem = error.what();
    }
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    for (model::CaseCode& code : all) {
        if (!problem.empty()) code.problem = problem;
        code.seconds = spent.count() / static_cast<double>(all.size());
    }
    return all;
}

}  // namespace perfgate::command
