// SPDX-License-Identifier: Apache-2.0
#include "kinds/source/preparing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "kinds/source/compiler.hpp"
#include "kinds/source/source.hpp"
#include "util/temporary_folder.hpp"
#include "util/text.hpp"

namespace perfgate::source {

namespace {

using kinds::Findings;
using kinds::Machine;

/// Validates each source once for each kernel and architecture.
class Validation {
  public:
    Validation(const Machine& machine, const std::vector<std::string>& architectures)
        : machine_(machine), architectures_(architectures) {}

    void add(const model::SourceKernel& kernel, const std::string& place) {
        const auto& wanted = architectures_.empty() ? kernel.architectures : architectures_;
        const bool compiled = model::kind_of_source(kernel.file) == model::SourceKind::cuda;
        if (wanted.empty() || !compiled) {
            const model::SourceCode code = exists(kernel);
            if (!code.problem.empty()) {
                add_problem(place + ": " + code.problem, "");
            } else {
                findings_.warnings.push_back(
                    fmt::format("{}: {}", util::printable(kernel.file),
                                compiled ? "not compiled: name architectures with --architecture, "
                                           "or in the entry (architectures: [90])"
                                         : "not compiled, and not loaded without a GPU"));
            }
            return;
        }
        for (const std::string& architecture : wanted) {
            if (!findings_.stopped) compile(kernel, architecture, place);
        }
    }

    Findings take() {
        for (auto* lines : {&findings_.done, &findings_.warnings}) {
            std::set<std::string> seen;
            std::erase_if(*lines, [&](const auto& line) { return !seen.insert(line).second; });
        }
        return std::move(findings_);
    }

  private:
    static model::SourceCode exists(const model::SourceKernel& kernel) {
        std::error_code absent;
        model::SourceCode code;
        const auto file = std::filesystem::path(kernel.folder) / kernel.file;
        if (!std::filesystem::is_regular_file(file, absent)) {
            code.problem = fmt::format("{}: no such file; expected it beside the suite",
                                       util::printable(file.lexically_normal().string()));
        }
        return code;
    }

    void add_problem(const std::string& line, const std::string& log) {
        if (!told_.insert(line).second) return;
        findings_.problems.push_back(line);
        std::size_t begin = 0;
        while (begin < log.size()) {
            const std::size_t end = std::min(log.find('\n', begin), log.size());
            findings_.problems.push_back(
                "  " + util::printable(std::string_view(log).substr(begin, end - begin)));
            begin = end + 1;
        }
    }

    void compile(const model::SourceKernel& kernel, const std::string& architecture,
                 const std::string& place) {
        auto found = compilers_.find(architecture);
        if (found == compilers_.end()) {
            CompilerOptions options;
            options.perfgate = machine_.perfgate;
            if (!folder_) folder_.emplace();
            options.out = folder_->path();
            options.architecture = architecture;
            options.stop = machine_.stop;
            found = compilers_.emplace(architecture, std::move(options)).first;
        }
        Compiler& compiler = found->second;
        const model::SourceCode code = compiler.code_of(kernel);
        findings_.stopped = compiler.interrupted();
        if (findings_.stopped) return;
        const bool no_compiler = !code.problem.empty() && compiler.lacks_compiler();
        if (no_compiler) {
            findings_.warnings.push_back(code.problem);
        } else if (!code.problem.empty()) {
            add_problem(place + ": " + code.problem, code.log);
        } else {
            findings_.done.push_back(
                fmt::format("{}: {} compiles for sm_{} ({})", util::printable(kernel.file),
                            util::printable(kernel.kernel), architecture, compiler.compiler()));
        }
    }

    const Machine& machine_;
    const std::vector<std::string>& architectures_;
    std::optional<util::TemporaryFolder> folder_;  ///< once something is compiled
    std::map<std::string, Compiler> compilers_;
    std::set<std::string> told_;
    Findings findings_;
};

}  // namespace

int major_of(const std::string& version) {
    int major = 0;
    std::from_chars(version.data(), version.data() + version.size(), major);
    return major;
}

bool compile_sources(const Machine& machine, const std::vector<model::PlannedCase*>& cases) {
    CompilerOptions options;
    options.perfgate = machine.perfgate;
    options.out = std::filesystem::absolute(machine.out) / "sources";
    options.architecture = architecture_of(machine.compute_capability);
    options.newest_major = major_of(machine.cuda_driver);
    options.time_limit_s = machine.case_limit_s;
    options.stop = machine.stop;
    options.compiling = [&](const std::string& file) {
        machine.tell("compiling " + util::printable(file));
    };
    Compiler compiler(std::move(options));
    for (model::PlannedCase* planned : cases) {
        model::SourceKernel kernel = *planned->subject->kernel();
        kernel.code = compiler.code_of(kernel);
        if (compiler.interrupted()) return false;
        planned->problem = kernel.code.problem;
        planned->log = kernel.code.log;
        planned->subject = std::make_shared<const Source>(std::move(kernel));
    }
    compiler.prune();
    return true;
}

Findings check_sources(const Machine& machine, const std::vector<kinds::SuiteCase>& cases,
                       const std::vector<std::string>& architectures) {
    Validation validation(machine, architectures);
    for (const kinds::SuiteCase& each : cases) {
        validation.add(*each.subject->kernel(), each.place);
    }
    return validation.take();
}

}  // namespace perfgate::source
