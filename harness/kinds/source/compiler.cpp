// SPDX-License-Identifier: Apache-2.0
#include "kinds/source/compiler.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <system_error>

#include "kinds/source/compile_job.hpp"
#include "program/program.hpp"
#include "util/error.hpp"
#include "util/file.hpp"
#include "util/sha256.hpp"
#include "util/temporary_folder.hpp"
#include "util/text.hpp"

namespace perfgate::source {

namespace {

namespace fs = std::filesystem;

constexpr const char* code_extension = ".cubin";
constexpr std::size_t digest_digits = 32;

/// The kernels whose symbols are asked for: the measured one, then that of the check.
std::vector<std::string> kernels_of(const model::SourceKernel& kernel) {
    std::vector<std::string> names{kernel.kernel};
    if (kernel.check.kind == model::SourceCheck::Kind::kernel) {
        names.push_back(kernel.check.against);
    }
    return names;
}

/// The arguments of `perfgate compile`, without its folder.
std::vector<std::string> words_of(const model::SourceKernel& kernel,
                                  const CompilerOptions& options) {
    std::vector<std::string> words{"compile", "--architecture=" + options.architecture,
                                   "--newest-major=" + std::to_string(options.newest_major),
                                   "--std=" + kernel.options.standard};
    if (kernel.options.fast_math) words.emplace_back("--fast-math");
    for (const std::string& folder : kernel.options.include) {
        words.push_back("--include=" +
                        fs::absolute(fs::path(kernel.folder) / folder).lexically_normal().string());
    }
    for (const auto& [name, value] : kernel.options.defines) {
        words.push_back(fmt::format("--define={}={}", name, value));
    }
    for (const std::string& name : kernels_of(kernel)) words.push_back("--kernel=" + name);
    words.emplace_back("--");
    words.push_back(path_of(kernel).string());
    return words;
}

/// "reduce.cu(12): error: …": the first line that tells the cause.
std::string first_error(const std::string& messages) {
    std::istringstream lines(messages);
    std::string first;
    for (std::string line; std::getline(lines, line);) {
        if (line.find("error") != std::string::npos) return line;
        if (first.empty()) first = line;
    }
    return first;
}

/// NVRTC looks kernels up in a file of its own.
constexpr std::string_view names_file = "__nv_name_map(";

/// The names behind `__global__` in a source's text, as far as they can be seen without compiling.
std::vector<std::string> kernels_in(std::string_view text) {
    constexpr std::string_view keyword = "__global__";
    constexpr std::size_t longest = 1024;  ///< from there to the kernel's name
    const auto in_name = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_';
    };
    std::set<std::string> names;
    for (std::size_t at = text.find(keyword); at != std::string_view::npos;
         at = text.find(keyword, at + 1)) {
        std::string name;
        int depth = 0;
        const std::size_t behind = at + keyword.size();
        for (std::size_t i = behind; i < std::min(text.size(), behind + longest); ++i) {
            const char c = text[i];
            if (c == ')') --depth;
            if (depth == 0 && (c == ';' || c == '{' || c == '#')) break;
            if (depth == 0 && in_name(c)) {
                std::size_t end = i;
                while (end < text.size() && end < i + longest && in_name(text[end])) ++end;
                name = text.substr(i, end - i);
                i = end - 1;
            }
            if (c != '(') continue;
            // Attributes such as __launch_bounds__(256) come before the name.
            const bool attribute = name.starts_with("__");
            if (depth == 0 && !name.empty() && !attribute) {
                names.insert(name);
                break;
            }
            ++depth;
        }
    }
    return {names.begin(), names.end()};
}

/// Whether a source's text opens a namespace; `using namespace` opens none.
bool has_namespace(std::string_view text) {
    constexpr std::string_view keyword = "namespace";
    for (std::size_t at = text.find(keyword); at != std::string_view::npos;
         at = text.find(keyword, at + 1)) {
        const std::size_t last = text.substr(0, at).find_last_not_of(" \t\r\n");
        if (last == std::string_view::npos || !text.substr(0, last + 1).ends_with("using")) {
            return true;
        }
    }
    return false;
}

/// If the file has no kernel of a name that is wanted: that, and those which it has.
std::string absent_kernel(const model::SourceKernel& kernel, std::string_view error) {
    std::vector<std::string> found;
    bool spaces = false;
    try {
        const std::string text = util::read_file(path_of(kernel), most_source_bytes, "source");
        found = kernels_in(text);
        spaces = has_namespace(text);
    } catch (const util::InputError&) {
        return {};
    }
    for (const std::string& wanted : kernels_of(kernel)) {
        const std::string name = wanted.substr(0, wanted.find('<'));
        const std::string own = name.substr(name.rfind(':') + 1);  // npos + 1 is 0
        const bool there = std::ranges::find(found, own) != found.end();
        if (there && own == name && spaces &&
            error.find('"' + own + '"') != std::string_view::npos) {
            return fmt::format("{} has no kernel '{}' outside of namespaces: name it with its own",
                               util::printable(kernel.file), util::printable(wanted));
        }
        if (found.empty() || there) continue;
        return fmt::format("{} has no kernel '{}'; expected one of {}{}{}",
                           util::printable(kernel.file), util::printable(wanted),
                           util::printable(fmt::format("{}", fmt::join(found, ", ")), 300),
                           spaces ? ", each with its namespace" : "",
                           util::did_you_mean(own, found));
    }
    return {};
}

/// The remedy for code of the host or an absent header: the compiler's own hints are about its
/// options.
std::string remedy(std::string_view error) {
    constexpr std::string_view absent = "cannot open source file \"";
    constexpr std::string_view of_c[] = {"assert.h", "errno.h",  "limits.h", "math.h", "stdint.h",
                                         "stdio.h",  "stdlib.h", "string.h", "time.h", "unistd.h"};
    constexpr std::string_view for_both[] = {"array",       "cmath",      "complex", "cstddef",
                                             "cstdint",     "functional", "limits",  "tuple",
                                             "type_traits", "utility"};
    constexpr std::string_view host =
        "; NVRTC compiles the whole file, for the GPU alone: put host code and its headers between "
        "#ifndef __CUDACC_RTC__ and #endif, or name the .cubin that nvcc makes of it";
    if (error.find(" in JIT mode") != std::string_view::npos) return std::string(host);
    const std::size_t at = error.find(absent);
    if (at == std::string_view::npos) return {};
    const std::string_view rest = error.substr(at + absent.size());
    const std::string_view header = rest.substr(0, rest.find('"'));
    const bool standard = header.find_first_of("./") == std::string_view::npos ||
                          std::ranges::find(of_c, header) != std::end(of_c);
    if (std::ranges::find(for_both, header) != std::end(for_both)) {
        return fmt::format(
            "; NVRTC compiles the whole file, for the GPU alone: include <cuda/std/{}>, or name "
            "the .cubin that nvcc makes of it",
            header);
    }
    return standard ? std::string(host)
                    : "; 'include' names folders of headers, 'perfgate doctor' where the toolkit's "
                      "can come from";
}

/// Why a source with these messages has no code. Clears messages that say nothing more.
std::string refusal(const model::SourceKernel& kernel, const std::string& architecture,
                    std::string& messages) {
    const std::string error = first_error(messages);
    const bool unknown = error.find("undefined") != std::string::npos ||
                         error.find("has no member") != std::string::npos;
    if (error.starts_with(names_file) && unknown) {
        if (std::string absent = absent_kernel(kernel, error); !absent.empty()) {
            messages.clear();
            return absent;
        }
    }
    if (!error.starts_with(names_file)) {
        return fmt::format(
            "{} does not compile for sm_{}: {}{}", util::printable(kernel.file), architecture,
            util::printable(error.substr(0, error.find(". Consider using -"))), remedy(error));
    }
    std::string wanted = fmt::format("'{}'", util::printable(kernel.kernel));
    if (kernel.check.kind == model::SourceCheck::Kind::kernel) {
        wanted += fmt::format(" or no '{}'", util::printable(kernel.check.against));
    }
    return fmt::format("{} has no kernel {}: {}", util::printable(kernel.file), wanted,
                       util::printable(error.substr(error.find("error: ") + 7)));
}

/// Messages that name the file as the suite does.
std::string with_short_name(std::string messages, const model::SourceKernel& kernel) {
    const std::string path = path_of(kernel).string();
    for (std::size_t at = messages.find(path); at != std::string::npos;
         at = messages.find(path, at + kernel.file.size())) {
        messages.replace(at, path.size(), kernel.file);
    }
    return messages;
}

std::string read_if_any(const fs::path& file, std::size_t limit) {
    std::error_code absent;
    return fs::exists(file, absent) ? util::read_file(file, limit, "compiler's output") : "";
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

/// Why a process that gave no answer ended.
std::string how_it_failed(const program::End& end, const program::Program& program) {
    const std::string limit =
        fmt::format("its limit is {} GiB: does the source include something endless?",
                    most_compiler_bytes >> 30);
    if (end.outcome == program::Outcome::timed_out) {
        return fmt::format(
            "the compiler {} and was ended: simplify the source, or raise "
            "--time-limit",
            program::describe(end, program));
    }
    if (end.outcome == program::Outcome::exited && end.status == job_no_memory) {
        return "the compiler ran out of memory; " + limit;
    }
    return fmt::format("the compiler {}; {}", program::describe(end, program), limit);
}

/// Named by its digest, as no file of a user is.
bool is_kept_code(const fs::path& file) {
    const std::string name = file.stem().string();
    std::error_code absent;
    return fs::is_regular_file(file, absent) && file.extension() == code_extension &&
           util::is_hex(name, digest_digits);
}

}  // namespace

std::string architecture_of(const std::string& compute_capability) {
    std::string digits = compute_capability;
    const std::size_t dot = digits.find('.');
    if (dot == std::string::npos) return {};
    digits.erase(dot, 1);
    const bool good = (digits.size() == 2 || digits.size() == 3) &&
                      std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; });
    if (!good) return {};
    // From 9.0 on, some instructions exist only for the architecture itself.
    return std::stoi(digits) >= 90 ? digits + "a" : digits;
}

fs::path path_of(const model::SourceKernel& kernel) {
    return fs::absolute(fs::path(kernel.folder) / kernel.file).lexically_normal();
}

std::string absent_file(const model::SourceKernel& kernel) {
    const fs::path file = path_of(kernel);
    std::error_code absent;
    if (fs::is_regular_file(file, absent)) return {};
    return fmt::format("{}: no such file; the suite names it as {}", util::printable(file.string()),
                       util::printable(kernel.file));
}

model::SourceCode Compiler::code_of(const model::SourceKernel& kernel) {
    lacks_compiler_ = false;
    model::SourceCode code;
    code.problem = absent_file(kernel);
    if (!code.problem.empty()) return code;
    if (model::kind_of_source(kernel.file) != model::SourceKind::cuda) return as_it_is(kernel);
    const std::vector<std::string> words = words_of(kernel, options_);
    const auto known = known_.find(words);
    if (known != known_.end()) return known->second;
    try {
        code = compiled(kernel);
    } catch (const util::InputError& error) {
        code.problem =
            fmt::format("{} was not compiled: {}", util::printable(kernel.file), error.what());
    }
    if (!lacks_compiler_) known_.emplace(words, code);
    return code;
}

void Compiler::prune() const {
    std::set<fs::path> own;
    for (const auto& [words, code] : known_) own.insert(code.file);
    std::error_code error;
    for (fs::directory_iterator file(options_.out, error), end; !error && file != end;
         file.increment(error)) {
        if (!is_kept_code(file->path()) || own.contains(fs::absolute(file->path()))) continue;
        std::error_code ignored;
        fs::remove(file->path(), ignored);
    }
}

model::SourceCode Compiler::as_it_is(const model::SourceKernel& kernel) const {
    model::SourceCode code;
    const fs::path file = path_of(kernel);
    const bool text = model::kind_of_source(kernel.file) == model::SourceKind::ptx;
    try {
        const std::string content =
            util::read_file(file, text ? most_source_bytes : most_code_bytes, "source");
        util::Sha256 hash;
        hash.add(content);
        code.digest = hash.fingerprint();
    } catch (const util::InputError& error) {
        code.problem = error.what();
        return code;
    }
    code.file = file.string();
    code.kernel_symbol = kernel.kernel;
    if (kernel.check.kind == model::SourceCheck::Kind::kernel) {
        code.reference_symbol = kernel.check.against;
    }
    return code;
}

model::SourceCode Compiler::compiled(const model::SourceKernel& kernel) {
    const util::TemporaryFolder folder(options_.out, "compile");
    if (options_.compiling) options_.compiling(kernel.file);
    program::Program program;
    program.words = words_of(kernel, options_);
    program.words.insert(program.words.begin(), options_.perfgate.string());
    program.words.insert(program.words.begin() + 2, "--out=" + folder.path().string());
    program.time_limit = std::chrono::duration<double>(options_.time_limit_s);
    program.grace = std::chrono::duration<double>(0.5);
    program.output_file = (folder.path() / "stdout").string();
    program.error_file = (folder.path() / "stderr").string();
    const program::End end = program::run(program, options_.stop);

    model::SourceCode code;
    if (end.outcome == program::Outcome::interrupted) {
        interrupted_ = true;
        code.problem = "interrupted";
        return code;
    }
    if (const std::string found = read_if_any(folder.path() / compiler_file, 64); !found.empty()) {
        compiler_ = util::printable(found, 64);
    }
    code.log = with_short_name(
        util::valid_utf8(read_if_any(folder.path() / messages_file, most_message_bytes)), kernel);
    const bool exited = end.outcome == program::Outcome::exited;
    if (exited && end.status == job_refused) {
        code.problem = refusal(kernel, options_.architecture, code.log);
        return code;
    }
    if (exited && (end.status == job_no_nvrtc || end.status == job_failed)) {
        lacks_compiler_ = end.status == job_no_nvrtc;
        code.problem = fmt::format("{} was not compiled{}: {}", util::printable(kernel.file),
                                   lacks_compiler_ ? "" : " for sm_" + options_.architecture,
                                   util::printable(code.log));
        return code;
    }
    if (!exited || end.status != job_compiled) {
        code.problem = fmt::format("{} was not compiled: {}", util::printable(kernel.file),
                                   how_it_failed(end, program));
        if (code.log.empty()) code.log = end.last_errors;
        return code;
    }
    const std::vector<std::string> symbols =
        lines_of(read_if_any(folder.path() / symbols_file, most_message_bytes));
    const std::string content = read_if_any(folder.path() / code_file, most_code_bytes);
    if (symbols.size() != kernels_of(kernel).size() || content.empty()) {
        code.problem = fmt::format("{} was not compiled: the compiler's files are incomplete",
                                   util::printable(kernel.file));
        return code;
    }
    util::Sha256 hash;
    hash.add(content);
    code.digest = hash.fingerprint();
    code.kernel_symbol = symbols.front();
    if (symbols.size() > 1) code.reference_symbol = symbols[1];
    if (code.reference_symbol == code.kernel_symbol) {
        code.problem = fmt::format(
            "{}: the check compares '{}' with itself, written as '{}': name another kernel",
            util::printable(kernel.file), util::printable(kernel.kernel),
            util::printable(kernel.check.against));
        return code;
    }
    const fs::path kept = options_.out / (code.digest + code_extension);
    util::write_file_atomically(kept, content);
    code.file = fs::absolute(kept).string();
    return code;
}

}  // namespace perfgate::source
