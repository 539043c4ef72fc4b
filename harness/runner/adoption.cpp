// SPDX-License-Identifier: Apache-2.0
#include "runner/adoption.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <zlib.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "runner/devices.hpp"
#include "runner/git.hpp"
#include "runner/installation.hpp"
#include "runner/pipelines.hpp"
#include "runner/reviewed_files.hpp"
#include "suite/named_plugins.hpp"
#include "suite/profile.hpp"
#include "suite/python_reader.hpp"
#include "suite/suite.hpp"
#include "util/error.hpp"
#include "util/file.hpp"
#include "util/folder.hpp"
#include "util/sha256.hpp"
#include "util/text.hpp"

namespace perfgate::runner {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t archive_limit = std::size_t{1} << 30;
constexpr std::string_view usual_config = "configs/ci.yaml";
constexpr std::string_view usual_build =
    "cmake -S . -B build -DCMAKE_BUILD_TYPE=Release && cmake --build build";
/// In the first line of each file that `adopt` writes, and may replace.
constexpr std::string_view mark = "Written by 'perfgate adopt'";

/// What the suites say about the machine that measures them.
struct Needs {
    std::size_t suites = 0, cases = 0;
    bool gpu = false;
    bool host_alone = true;  ///< every case is one of the host backend
    /// Cases of workloads that no plugin here has: on what machine is not known.
    bool plugin = false;
    bool python = false;     ///< a file or a program is Python's
    std::string own_plugin;  ///< the first that a suite names
    std::string built;       ///< why something must be built, as far as is known

    [[nodiscard]] bool may_use_gpu() const { return gpu || plugin; }
};

struct Adopted : Pipeline {
    Needs needs;
    suite::Profile profile;
    std::string config_text;  ///< of one that is to be written; empty: it is there
};

// --- what is adopted

/// Letters, digits and those `allowed`: nothing that YAML or a shell reads as more than a word.
bool is_plain(std::string_view text, std::string_view allowed) {
    return !text.empty() && !text.starts_with('-') &&
           std::all_of(text.begin(), text.end(), [&](char letter) {
               return std::isalnum(static_cast<unsigned char>(letter)) != 0 ||
                      allowed.find(letter) != std::string_view::npos;
           });
}

void require_plain(std::string_view what, const std::string& path, std::string_view allowed) {
    const fs::path normal = fs::path(path).lexically_normal();
    if (!is_plain(path, allowed) || normal.is_absolute() || normal.string().starts_with("..")) {
        throw util::InputError(
            fmt::format("{} '{}': expected a path below this folder, of letters, digits and {}",
                        what, util::printable(path), allowed));
    }
}

bool is_profile(const std::string& text, const std::string& file) {
    try {
        suite::parse_profile(text, file);
        return true;
    } catch (const util::InputError&) {
        return false;
    }
}

void add_problem(std::string& problems, std::string_view problem) {
    problems += (problems.empty() ? "" : "\n") + std::string(problem);
}

/// Whether a build makes the program: it is a path, and no script is there.
bool is_built(const std::string& program, const std::string& suite) {
    if (program.find('/') == std::string::npos) return false;
    const fs::path places[] = {fs::path(suite).parent_path() / program, program};
    return std::none_of(std::begin(places), std::end(places), [](const fs::path& place) {
        std::error_code error;
        if (!fs::is_regular_file(place, error)) return false;
        std::ifstream file(place, std::ios::binary);
        char first[2] = {};
        return file.read(first, sizeof first) && first[0] == '#' && first[1] == '!';
    });
}

/// Whether a build makes a source: perfgate does not compile it, and it is absent, or git ignores
/// it.
bool is_built(const model::SourceKernel& kernel, const std::string& suite) {
    if (model::kind_of_source(kernel.file) == model::SourceKind::cuda) return false;
    const fs::path file = (fs::path(suite).parent_path() / kernel.file).lexically_normal();
    std::error_code error;
    return !fs::exists(file, error) || git_ignores(file);
}

/// The Python files that a suite names, which must be there.
std::size_t scripts_of(const std::string& text, const std::string& path) {
    const std::vector<suite::PythonFile> scripts = suite::needs_of_text(text, path).scripts;
    for (const suite::PythonFile& python : scripts) {
        std::error_code error;
        if (fs::exists(python.file, error)) continue;
        throw util::InputError(
            fmt::format("{}: there is no file {}", python.place, util::printable(python.file)));
    }
    return scripts.size();
}

/// Reads every suite without its plugins, and executes nothing.
Needs needs_of(const AdoptionChoice& choice, const std::string& config) {
    const review::Files files =
        files_of_working_tree({.suites = choice.suites, .profiles = {config}, .baselines = {}});
    const model::WorkloadCatalogue bundled = load_workload_catalogue({});
    std::string problems;
    std::string unknown;  // the first workload that neither a suite's plugin nor --plugin may have
    std::map<std::string, std::string> file_of;  // by the suite's name
    Needs needs;
    for (const auto& [path, file] : files) {
        if (file.role != review::FileRole::suite) continue;
        if (!file.fault.empty()) {
            add_problem(problems, fmt::format("{}: {}", util::printable(path), file.fault));
            continue;
        }
        try {
            std::vector<std::string> notes;
            const std::size_t scripts = scripts_of(file.content, path);
            const suite::Suite suite = review::read_suite(path, files, bundled, notes);
            // What only a run knows of them may be for any machine.
            needs.python = needs.python || scripts > 0;
            const bool open = scripts > 0 && !notes.empty();
            needs.plugin = needs.plugin || open;
            needs.host_alone = needs.host_alone && !open;
            const auto [other, is_new] = file_of.emplace(suite.name, path);
            if (!is_new) {
                add_problem(
                    problems,
                    fmt::format("{}: the suite '{}' is also in {}", util::printable(path),
                                util::printable(suite.name), util::printable(other->second)));
            }
            ++needs.suites;
            needs.cases += suite.cases.size();
            if (needs.own_plugin.empty() && !suite.plugins.empty()) {
                needs.own_plugin = suite.plugins.front();
            }
            std::set<std::string> sources;
            for (const suite::SuiteCase& each : suite.cases) {
                const model::SourceKernel* const kernel = each.subject->kernel();
                if (kernel != nullptr && needs.built.empty() &&
                    sources.insert(kernel->file).second && is_built(*kernel, path)) {
                    needs.built = fmt::format("{} is not here, or git ignores it",
                                              util::printable(kernel->file));
                }
                needs.plugin = needs.plugin || each.inferred;
                if (each.inferred && suite.plugins.empty() && unknown.empty()) {
                    unknown = notes.empty() ? "a workload is unknown" : notes.front();
                }
                needs.host_alone = needs.host_alone && each.target == model::Target::host;
                const bool of_gpu = each.target == model::Target::program
                                        ? each.subject->needs_gpu()
                                        : each.target == model::Target::cuda;
                needs.gpu = needs.gpu || (of_gpu && !each.inferred);
                if (each.target != model::Target::program) continue;
                model::CaseResult said;
                each.subject->describe(said);
                const std::string& program = said.command.front();
                needs.python = needs.python || program.starts_with("python");
                if (needs.built.empty() && is_built(program, path)) {
                    needs.built =
                        fmt::format("{} is no script that is here", util::printable(program));
                }
            }
        } catch (const util::InputError& problem) {
            add_problem(problems,
                        is_profile(file.content, path)
                            ? fmt::format("{}: is a config and no suite; name the suites alone, or "
                                          "this file with --config",
                                          util::printable(path))
                            : problem.what());
        }
    }
    for (const std::string& place :
         empty_places(choice.suites, review::FileRole::suite, files, files)) {
        add_problem(problems, fmt::format("no suite matches '{}': name files or a pattern of this "
                                          "repository; 'perfgate init' writes one",
                                          util::printable(place)));
    }
    if (problems.empty() && !unknown.empty() && choice.plugins.empty()) {
        add_problem(problems,
                    fmt::format("{}; name the plugin that has it: 'plugins' in the suite, or "
                                "--plugin FILE",
                                unknown));
    }
    if (!problems.empty()) throw util::InputError(problems);
    return needs;
}

/// The release's config, without what is about its own folder.
std::string new_config(bool gpu) {
    std::string text = read_template(release_config());
    text.erase(0, text.find("\n\n") + 2);
    const std::string_view strict =
        "# A runner without a GPU is an error, not a run of something "
        "else.\nbackend: cuda\n";
    const std::size_t at = text.find(strict);
    if (at == std::string::npos) {
        throw util::Error(
            fmt::format("{} names no backend: install perfgate again", release_config().string()));
    }
    if (!gpu) text.replace(at, strict.size(), "# No case needs a GPU.\nbackend: host\n");
    return text;
}

/// The lines "commit SHA" and "repository OWNER/NAME" of the release.
Values release_facts() {
    Values facts;
    std::error_code error;
    const fs::path file = release_build_file();
    if (!fs::exists(file, error)) return facts;
    for_lines(util::read_file(file, template_limit, "file"), [&](std::string_view line) {
        const std::size_t space = line.find(' ');
        if (space == std::string_view::npos) return;
        facts[std::string(line.substr(0, space))] = line.substr(space + 1);
    });
    return facts;
}

bool is_repository(std::string_view text) {
    const std::size_t slash = text.find('/');
    return slash != std::string_view::npos && slash > 0 && slash + 1 < text.size() &&
           text.find('/', slash + 1) == std::string_view::npos && is_plain(text, "._-/");
}

void find_repository(const std::string& from, Adopted& adopted) {
    Values facts = release_facts();
    const std::size_t at = from.find('@');
    adopted.owner = from.empty() ? facts["repository"] : from.substr(0, at);
    adopted.sha = at == std::string::npos ? facts["commit"] : from.substr(at + 1);
    if (!is_repository(adopted.owner)) {
        if (!from.empty()) {
            throw util::InputError(fmt::format("--from {}: expected OWNER/NAME or OWNER/NAME@SHA",
                                               util::printable(from)));
        }
        throw util::InputError(fmt::format(
            "this perfgate does not know where it is published: name the .tar.gz that it was "
            "unpacked from, --archive FILE, or the repository of its release, --from "
            "OWNER/perfgate{}",
            adopted.sha.empty() ? "@SHA" : ""));
    }
    if (!util::is_hex(adopted.sha, 40)) {
        throw util::InputError(fmt::format(
            "--from {}: expected OWNER/NAME@SHA, with the 40 hexadecimal digits of perfgate's "
            "commit",
            util::printable(from)));
    }
    adopted.archive = fmt::format(
        "https://github.com/{0}/releases/download/v{1}/perfgate-{1}-linux-x86_64.tar.gz",
        adopted.owner, PERFGATE_VERSION);
}

/// Whether a gzipped file can be read to its end.
bool ends_whole(const std::string& file) {
    const gzFile opened = gzopen(file.c_str(), "rb");
    if (opened == nullptr) return false;
    std::vector<char> buffer(std::size_t{1} << 18);
    int got = 0;
    do {
        got = gzread(opened, buffer.data(), static_cast<unsigned>(buffer.size()));
    } while (got > 0);
    return gzclose(opened) == Z_OK && got == 0;  // closing tells an end within the stream
}

/// Where jobs find the archive: an address, a file of the machine, or, for GitHub, whose own
/// machines run jobs, too, a file of the repository.
void require_place(const std::string& place, const Ci& ci) {
    const std::size_t scheme = place.find("://");
    const std::string_view path = std::string_view(place).substr(
        scheme == std::string::npos ? 0 : scheme + std::string_view("://").size());
    const bool of_repository = ci.name == "github" && scheme == std::string::npos;
    const bool whole = scheme == std::string::npos
                           ? of_repository || place.starts_with('/')
                           : place.starts_with("https://") || place.starts_with("http://");
    if (of_repository) require_plain("--archive-at", place, "_./-+");
    if (!whole || !is_plain(path, "_./-+:%~=&?")) {
        throw util::InputError(fmt::format(
            "--archive-at {}: expected http(s)://… or {}", util::printable(place),
            ci.name == "github" ? "a file of this repository" : "a file of the machines, /…"));
    }
}

void find_archive(const AdoptionChoice& choice, const Ci& ci, Adopted& adopted) {
    const std::string& file = choice.archive;
    const std::string name = shelf_name(file);
    std::error_code error;
    if (!fs::exists(file, error)) {
        throw util::InputError(
            fmt::format("--archive {}: there is no such file", util::printable(file)));
    }
    // A build between releases has its commit behind the version.
    if (!is_plain(name, "._-") || !name.starts_with("perfgate-" PERFGATE_VERSION "-") ||
        !name.ends_with("-linux-x86_64.tar.gz")) {
        throw util::InputError(
            fmt::format("--archive {}: expected a release under its own name, "
                        "perfgate-{}-linux-x86_64.tar.gz",
                        util::printable(file), PERFGATE_VERSION));
    }
    const std::string content = util::read_file(file, archive_limit, "archive");
    if (!content.starts_with("\x1f\x8b")) {
        throw util::InputError(fmt::format("--archive {}: is no gzip file", util::printable(file)));
    }
    if (!ends_whole(file)) {
        throw util::InputError(
            fmt::format("--archive {}: it is cut or damaged", util::printable(file)));
    }
    util::Sha256 sum;
    sum.add(content);
    for (const std::uint8_t byte : sum.digest()) adopted.archive_sum += fmt::format("{:02x}", byte);
    adopted.archive_given = !choice.archive_place.empty();
    if (adopted.archive_given) require_place(choice.archive_place, ci);
    adopted.archive = adopted.archive_given ? choice.archive_place : std::string(ci.shelf);
    if (adopted.archive.ends_with('/')) adopted.archive += name;
    adopted.archive_file = file;
}

void require_labels(std::string_view option, const std::vector<std::string>& labels) {
    for (const std::string& label : labels) {
        if (!is_plain(label, "._-")) {
            throw util::InputError(
                fmt::format("{} {}: expected a label of letters, digits and . _ -", option,
                            util::printable(label)));
        }
    }
    if (std::set<std::string>(labels.begin(), labels.end()).size() != labels.size()) {
        throw util::InputError("--runner: expected each label once");
    }
}

std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
    return text;
}

/// Jobs with a token to write must not share a machine with code of pull requests.
void require_other_runner(const Pipeline& pipeline, const Ci& ci) {
    if (pipeline.other_runner.empty()) return;
    require_labels("--other-runner", {pipeline.other_runner});
    if (ci.name != "github" && ci.name != "gitlab") {
        throw util::InputError(
            fmt::format("--other-runner: for {} every job measures; expected --runner", ci.name));
    }
    const std::string other = lower(pipeline.other_runner);  // as GitHub compares labels
    const auto is_every_runners = [&](const std::string& label) {
        static const std::set<std::string> labels{"self-hosted", "linux", "windows", "macos",
                                                  "x64",         "x86",   "arm",     "arm64"};
        return ci.name == "github" && labels.contains(label);
    };
    if (is_every_runners(other)) {
        throw util::InputError(fmt::format(
            "--other-runner {}: GitHub gives this label to each machine of a kind, also "
            "those that measure; expected a label of your own",
            pipeline.other_runner));
    }
    for (const std::string& runner : pipeline.runners) {
        const std::string label = lower(runner);
        if (label != other && !is_every_runners(label)) continue;
        throw util::InputError(fmt::format(
            "--other-runner {}: a machine with this label would measure, too (--runner "
            "{}); expected other machines, since these jobs may write to the repository",
            pipeline.other_runner, runner));
    }
}

Adopted adopted_by(const AdoptionChoice& choice, const Ci& ci, std::vector<std::string>& warnings) {
    std::error_code error;
    if (!fs::exists(".git", error)) {
        throw util::InputError(
            "no .git in this folder: run 'perfgate adopt' in the root of the repository");
    }
    for (const std::string& each : choice.suites) require_plain("SUITE", each, "_./-+*?[]");
    for (const std::string& each : choice.plugins) require_plain("--plugin", each, "_./-+");
    require_labels("--runner", choice.runners);
    Adopted adopted;
    adopted.other_runner = choice.other_runner;
    adopted.config = choice.config.empty() ? std::string(usual_config) : choice.config;
    require_plain("--config", adopted.config, "_./-");
    if (choice.archive.empty()) {
        find_repository(choice.from, adopted);
    } else {
        find_archive(choice, ci, adopted);
    }
    AdoptionChoice chosen = choice;
    std::erase(chosen.suites, adopted.config);  // a shell put it among the suites
    if (chosen.suites.empty()) throw util::InputError("no suite is named beside the config");
    adopted.needs = needs_of(chosen, adopted.config);
    if (choice.config.empty() && !fs::exists(adopted.config, error)) {
        adopted.config_text = new_config(adopted.needs.may_use_gpu());
        adopted.profile = suite::parse_profile(adopted.config_text, adopted.config);
    } else {
        adopted.profile = suite::load_profile(adopted.config);
    }
    const std::string backend = adopted.profile.backend.value_or(std::string(suite::usual_backend));
    if (backend == "cuda" && adopted.needs.host_alone) {
        throw util::InputError(
            fmt::format("{} says 'backend: cuda', and no case of these suites is for a GPU; "
                        "expected 'backend: host'",
                        adopted.config));
    }
    if (backend == "cuda" && !adopted.needs.may_use_gpu()) {
        warnings.push_back(
            fmt::format("{} says 'backend: cuda', and these suites seem to need no GPU; if so, say "
                        "'backend: host'",
                        adopted.config));
    }
    if (backend != "cuda" && adopted.needs.gpu) {
        warnings.push_back(fmt::format(
            "{} says 'backend: {}': cases for a GPU are {}; 'backend: cuda' fails instead",
            adopted.config, backend,
            backend == "host" ? "not measured" : "not measured on a runner without one"));
    }
    adopted.baselines = fs::path(suite::baselines_of(adopted.profile)).lexically_normal().string();
    require_plain("the config's baselines", adopted.baselines, "_./-");
    adopted.python = adopted.needs.python;
    adopted.suites = chosen.suites;
    adopted.plugins = choice.plugins;
    adopted.runners = choice.runners;
    if (adopted.runners.empty()) {
        const bool gpu = backend == "cuda" || (backend == "auto" && adopted.needs.may_use_gpu());
        adopted.runners.emplace_back(gpu ? "gpu" : "quiet");
    }
    require_other_runner(adopted, ci);
    if (choice.build) {
        adopted.build = *choice.build;
    } else if (const bool plugin = !choice.plugins.empty() || !adopted.needs.own_plugin.empty();
               plugin || !adopted.needs.built.empty()) {
        // Text is measured as it is: sources, Python and scripts.
        if (fs::exists("CMakeLists.txt", error)) {
            adopted.build = usual_build;
        } else if (plugin) {
            throw util::InputError(fmt::format(
                "how is {} built? There is no CMakeLists.txt here: give --build COMMAND",
                choice.plugins.empty() ? util::printable(adopted.needs.own_plugin)
                                       : choice.plugins.front()));
        } else {
            warnings.push_back(fmt::format(
                "{}, and there is no CMakeLists.txt: if a build makes it, give --build COMMAND",
                adopted.needs.built));
        }
    }
    if (std::any_of(adopted.build.begin(), adopted.build.end(),
                    [](unsigned char letter) { return letter < ' ' || letter == 0x7f; })) {
        throw util::InputError("--build: expected a command of one line");
    }
    return adopted;
}

// --- writing

/// Whether the file may be replaced: it is absent, or an earlier `adopt` wrote it.
bool is_ours(const std::string& path) {
    std::error_code error;
    const fs::file_status status = fs::symlink_status(path, error);
    if (status.type() == fs::file_type::not_found) return true;
    if (status.type() != fs::file_type::regular) return false;
    const std::string text = util::read_file(path, template_limit, "file");
    return text.substr(0, text.find('\n')).find(mark) != std::string::npos;
}

}  // namespace

Adoption adopt(const AdoptionChoice& choice) {
    const Ci& ci = ci_of(choice.ci);
    Adoption adoption;
    const Adopted adopted = adopted_by(choice, ci, adoption.warnings);
    std::map<std::string, std::string> texts = files_of(adopted, ci, mark);
    for (const auto& [path, text] : texts) {
        if (is_ours(path)) continue;
        throw util::InputError(fmt::format(
            "{} exists, and 'perfgate adopt' did not write it: rename or remove it; nothing was "
            "written",
            path));
    }
    if (!adopted.config_text.empty()) texts[adopted.config] = adopted.config_text;
    const util::Folder root(".");
    std::error_code error;
    for (const auto& [path, text] : texts) {
        if (fs::exists(path, error) && util::read_file(path, template_limit, "file") != text) {
            adoption.replaced.push_back(path);
        }
        root.below(fs::path(path).parent_path()).write(fs::path(path).filename(), text);
        adoption.files.push_back(path);
    }
    adoption.found = fmt::format(
        "{} with {}, config {}, backend {}, baselines in {}, {} {}, {}",
        util::counted(adopted.needs.suites, "suite"), util::counted(adopted.needs.cases, "case"),
        adopted.config, adopted.profile.backend.value_or(std::string(suite::usual_backend)),
        adopted.baselines, adopted.runners.size() > 1 ? "runners" : "runner",
        fmt::join(adopted.runners, ", "),
        adopted.build.empty() ? std::string("nothing is built (else: --build COMMAND)")
                              : fmt::format("built by: {}", util::printable(adopted.build)));
    adoption.steps = steps_of(adopted, ci);
    return adoption;
}

}  // namespace perfgate::runner
