// SPDX-License-Identifier: Apache-2.0
#include "runner/source_code.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "kinds/source/compiler.hpp"
#include "measure/workers.hpp"
#include "runner/installation.hpp"
#include "runner/interruption.hpp"
#include "util/error.hpp"
#include "util/temporary_folder.hpp"
#include "util/text.hpp"

namespace perfgate::runner {

namespace {

/// Validates each source once for each kernel and architecture.
class Validation {
  public:
    explicit Validation(const std::vector<std::string>& architectures)
        : architectures_(architectures) {}

    void add(const suite::Suite& suite, const suite::SuiteCase& suite_case) {
        model::SourceKernel kernel = *suite_case.source;
        kernel.folder =
            std::filesystem::absolute(std::filesystem::path(suite.file)).parent_path().string();
        const std::string place = fmt::format("{}:{}:{}", util::printable(suite.file),
                                              suite_case.at.line, suite_case.at.column);
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
        for (const std::string& architecture : wanted) compile(kernel, architecture, place);
    }

    SourceFindings take() {
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
            source::CompilerOptions options;
            options.perfgate = own_binary();
            if (!folder_) folder_.emplace();
            options.out = folder_->path();
            options.architecture = architecture;
            options.stop = interrupted;
            found = compilers_.emplace(architecture, std::move(options)).first;
        }
        source::Compiler& compiler = found->second;
        const model::SourceCode code = compiler.code_of(kernel);
        if (compiler.interrupted()) throw measure::Interrupted();
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

    const std::vector<std::string>& architectures_;
    std::optional<util::TemporaryFolder> folder_;  ///< once something is compiled
    std::map<std::string, source::Compiler> compilers_;
    std::set<std::string> told_;
    SourceFindings findings_;
};

}  // namespace

int major_of(const std::string& version) {
    int major = 0;
    std::from_chars(version.data(), version.data() + version.size(), major);
    return major;
}

void compile_sources(const MeasuringChoice& choice, const OpenedBackend& backend,
                     model::Plan& plan) {
    source::CompilerOptions options;
    options.perfgate = own_binary();
    options.out = std::filesystem::absolute(choice.out) / "sources";
    options.architecture =
        source::architecture_of(backend.capabilities.environment.device.compute_capability);
    options.newest_major = major_of(backend.capabilities.environment.cuda_driver);
    options.time_limit_s = choice.case_limit_s;
    options.stop = interrupted;
    if (choice.progress) {
        options.compiling = [](const std::string& file) {
            fmt::print(stderr, "perfgate: compiling {}\n", util::printable(file));
        };
    }
    source::Compiler compiler(std::move(options));
    for (model::PlannedSuite& suite : plan.suites) {
        for (model::PlannedCase& planned : suite.cases) {
            if (!planned.source || !planned.skip_reason.empty()) continue;
            planned.source->code = compiler.code_of(*planned.source);
            if (compiler.interrupted()) throw measure::Interrupted();
        }
    }
    compiler.prune();
}

SourceFindings validate_sources(const std::vector<suite::Suite>& suites,
                                const std::vector<std::string>& architectures) {
    Validation validation(architectures);
    for (const suite::Suite& suite : suites) {
        for (const suite::SuiteCase& suite_case : suite.cases) {
            if (suite_case.source) validation.add(suite, suite_case);
        }
    }
    return validation.take();
}

}  // namespace perfgate::runner
