// SPDX-License-Identifier: Apache-2.0
#include "kinds/source/preparing.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "elf/cubin.hpp"
#include "elf/elf_image.hpp"
#include "kinds/source/compile_job.hpp"
#include "kinds/source/compiler.hpp"
#include "kinds/source/source.hpp"
#include "util/error.hpp"
#include "util/file.hpp"
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
        const model::SourceKind kind = model::kind_of_source(kernel.file);
        const bool compiled = kind == model::SourceKind::cuda;
        if (wanted.empty() || !compiled) {
            std::string problem = absent_file(kernel);
            if (problem.empty() && kind == model::SourceKind::cubin) {
                problem = cubin_problem(kernel, wanted);
            }
            if (!problem.empty()) {
                add_problem(place + ": " + problem, "");
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
    /// Why a cubin's kernels are not the entry's, or do not run where they should; empty: they are,
    /// and do as far as the file tells.
    std::string cubin_problem(const model::SourceKernel& kernel,
                              const std::vector<std::string>& wanted) {
        model::SourceCode code;
        code.file = path_of(kernel).string();
        code.kernel_symbol = kernel.kernel;
        code.reference_symbol = kernel.check.against;
        try {
            const elf::ElfImage& image = machine_code(code.file);
            const int own = image.architecture();
            for (const std::string& architecture : wanted) {
                // Machine code runs on its own generation, from its own architecture on.
                const int device = major_of(architecture);
                if (own == 0 || (own / 10 == device / 10 && own <= device)) continue;
                return fmt::format("{} is for sm_{}, and does not run on sm_{}",
                                   util::printable(kernel.file), own, architecture);
            }
            return arguments_problem(kernel, code, image);
        } catch (const util::InputError& error) {
            return fmt::format("{}: {}", util::printable(kernel.file), error.what());
        }
    }

    /// Until the next call. A file is read once for all values of an entry's matrix.
    const elf::ElfImage& machine_code(const std::string& file) {
        if (!image_ || image_file_ != file) {
            image_.reset();
            content_ = util::read_file(file, most_code_bytes, "machine code");
            image_.emplace(content_);
            image_file_ = file;
        }
        return *image_;
    }

    /// "; expected one of …": the kernels of the machine code, as far as a message needs them.
    static std::string kernels_in(const elf::ElfImage& image, const std::string& wanted) {
        constexpr std::size_t most_kernels = 1000;
        constexpr std::size_t longest_name = std::size_t{16} << 10;
        std::vector<std::string> kernels;
        for (const std::string_view name : elf::kernels(image)) {
            if (kernels.size() == most_kernels) break;
            kernels.emplace_back(name.substr(0, longest_name));
        }
        if (kernels.empty()) return ": it has none";
        return fmt::format("; expected one of {}{}",
                           util::printable(fmt::format("{}", fmt::join(kernels, ", "))),
                           util::did_you_mean(wanted, kernels));
    }

    /// Why the compiled kernels do not take the entry's arguments; empty: they do.
    static std::string arguments_problem(const model::SourceKernel& kernel,
                                         const model::SourceCode& code,
                                         const elf::ElfImage& image) {
        const auto problem = [&](const std::string& symbol, const std::string& name) {
            const auto sizes = elf::parameter_sizes(image, symbol);
            if (sizes) return model::argument_mismatch(kernel, name, *sizes);
            if (std::ranges::count(elf::kernels(image), symbol) != 0) {
                return fmt::format("the parameters of '{}' cannot be read from its machine code",
                                   util::printable(name));
            }
            return fmt::format("{} has no kernel '{}'{}", util::printable(kernel.file),
                               util::printable(name), kernels_in(image, name));
        };
        const std::string of_kernel = problem(code.kernel_symbol, kernel.kernel);
        const bool other = kernel.check.kind == model::SourceCheck::Kind::kernel;
        return !of_kernel.empty() || !other ? of_kernel
                                            : problem(code.reference_symbol, kernel.check.against);
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
        if (!code.problem.empty()) {
            add_problem(place + ": " + code.problem, compiler.lacks_compiler() ? "" : code.log);
            return;
        }
        const std::string problem = arguments_problem(kernel, code, machine_code(code.file));
        if (!problem.empty()) {
            add_problem(place + ": " + problem, "");
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
    std::string image_file_, content_;
    std::optional<elf::ElfImage> image_;  ///< of `content_`
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
