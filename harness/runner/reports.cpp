// SPDX-License-Identifier: Apache-2.0
#include "runner/reports.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <system_error>

#include "report/code_page.hpp"
#include "report/formats.hpp"
#include "report/html.hpp"
#include "runner/code_file.hpp"
#include "util/error.hpp"
#include "util/file.hpp"
#include "util/folder.hpp"
#include "util/text.hpp"

namespace perfgate::runner {

namespace {

namespace fs = std::filesystem;

struct Destination {
    const report::Format* format;
    std::string file;
    /// Its name in the output folder, if perfgate chose it; empty: the user named the file.
    std::string name = {};
};

std::vector<Destination> destinations(const OutputOptions& options) {
    std::vector<Destination> result;
    if (!options.out.empty()) {
        for (const report::Format& format : report::formats) {
            std::string name(format.folder_file);
            const auto further = options.folder_files.find(std::string(format.name));
            if (further != options.folder_files.end()) name = further->second;
            if (name.empty()) continue;
            result.push_back({&format, (fs::path(options.out) / name).string(), name});
        }
    }
    for (const auto& [format, file] : options.files) {
        if (!file.empty()) result.push_back({report::find_format(format), file});
    }
    return result;
}

/// Whether this call reads a file: the command line names it, or it is a baseline.
bool is_input(const OutputOptions& options, const fs::path& file) {
    std::error_code ignored;
    if (!fs::is_regular_file(file, ignored)) return false;
    for (const std::string& input : options.inputs) {
        if (fs::equivalent(file, input, ignored)) return true;
    }
    std::ifstream stream(file, std::ios::binary);
    std::string head(256, '\0');
    stream.read(head.data(), static_cast<std::streamsize>(head.size()));
    return head.find("\"perfgate.baseline\"") != std::string::npos;
}

/// A file that the user names.
void clear(const OutputOptions& options, const fs::path& file) {
    std::error_code ignored;
    if (file == "-" || !fs::is_regular_file(file, ignored) || is_input(options, file)) return;
    // A link stays, as when its target is written.
    if (fs::is_symlink(file, ignored)) {
        fs::resize_file(file, 0, ignored);
    } else {
        fs::remove(file, ignored);
    }
}

/// A file in the output folder whose name perfgate chose.
void clear_below(const OutputOptions& options, const fs::path& name) {
    if (!is_input(options, options.out / name)) util::remove_below(options.out, name);
}

bool takes_standard_output(const OutputOptions& options) {
    for (const auto& [format, file] : options.files) {
        if (file == "-") return true;
    }
    return false;
}

/// The errno of creating something in the folder, 0 on success. This has to be tried: permission
/// bits do not show every reason why a file system refuses.
int try_folder(const fs::path& folder) {
    std::string probe = (folder / ".perfgate-XXXXXX").string();
    if (::mkdtemp(probe.data()) == nullptr) return errno;
    ::rmdir(probe.c_str());
    return 0;
}

void require_writable(const Destination& destination) {
    const fs::path file = destination.file;
    const auto refuse = [&](const fs::path& place, const std::string& why) {
        const std::string at = place == file ? "" : util::printable(place.string()) + ": ";
        throw util::InputError("cannot write {}: {}{}", util::printable(file.string()), at, why);
    };
    const auto refuse_errno = [&](const fs::path& place, int error) {
        refuse(place, std::generic_category().message(error));
    };
    std::error_code ignored;
    if (fs::is_directory(file, ignored)) refuse(file, "it is a folder");
    // An existing file that is not a regular one (/dev/null) is written in place.
    if (destination.name.empty() && fs::exists(file, ignored) &&
        !fs::is_regular_file(file, ignored)) {
        if (::access(file.c_str(), W_OK) != 0) refuse_errno(file, errno);
        return;
    }
    // Missing folders are created with the first report: check the nearest existing one.
    fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
    while (fs::status(folder, ignored).type() == fs::file_type::not_found) {
        const fs::path parent = folder.has_parent_path() ? folder.parent_path() : fs::path(".");
        if (parent == folder) break;
        folder = parent;
    }
    std::error_code unseen;
    const fs::file_status found = fs::status(folder, unseen);
    if (unseen) refuse(folder, unseen.message());
    if (!fs::is_directory(found)) refuse(folder, "it is not a folder");
    // A full disk may have space again when the reports are written.
    const int error = try_folder(folder);
    if (error != 0 && error != ENOSPC && error != EDQUOT) refuse_errno(folder, error);
}

bool environment_says(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && *value != '\0';
}

bool wants_color(const std::string& choice, int descriptor) {
    if (choice != "auto") return choice == "always";
    return ::isatty(descriptor) == 1 && !environment_says("NO_COLOR") && !environment_says("CI");
}

/// 0 if there is no terminal: lines are then not limited.
std::size_t width_of(int descriptor) {
    winsize size{};
    if (::isatty(descriptor) != 1 || ::ioctl(descriptor, TIOCGWINSZ, &size) != 0) return 0;
    return size.ws_col;
}

std::string host_name() {
    std::array<char, 256> name{};
    if (::gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "localhost";
    return name.data();
}

bool has_code(const model::Run& run) {
    return std::ranges::any_of(run.suites, [](const auto& suite) {
        return std::ranges::any_of(suite.cases,
                                   [](const auto& result) { return result.code.has_value(); });
    });
}

/// If a message cannot be written to standard error, there is no other place for it.
void print_error(const std::string& text) {
    std::fputs(text.c_str(), stderr);
}

}  // namespace

void print_for_people(const OutputOptions& options,
                      const std::function<std::string(const report::Options&)>& write) {
    const bool to_stderr = takes_standard_output(options);
    const int descriptor = to_stderr ? STDERR_FILENO : STDOUT_FILENO;
    report::Options how;
    how.width = width_of(descriptor);
    how.color = wants_color(options.color, descriptor);
    how.list_all = options.verbose;
    how.commands = options.commands;
    const std::string text = write(how);
    if (to_stderr) {
        print_error(text);
    } else {
        util::write_file_atomically("-", text);
    }
}

std::vector<fs::path> stored_runs(std::string_view verb, const fs::path& out) {
    if (out.empty()) return {};
    if (verb == "run") return {"run.json"};
    if (verb == "ab" || verb == "bisect") return {"run.json", "base/run.json"};
    std::vector<fs::path> runs;
    if (verb != "selftest") return runs;
    std::error_code error;
    for (fs::directory_iterator entry(out, error), end; !error && entry != end;
         entry.increment(error)) {
        const fs::path folder = entry->path().filename();
        if (folder == "base" || folder.native().starts_with("trial-")) {
            runs.push_back(folder / "run.json");
        }
    }
    return runs;
}

void clear_outputs(const OutputOptions& options) {
    for (const Destination& destination : destinations(options)) {
        if (destination.name.empty()) {
            clear(options, destination.file);
        } else {
            clear_below(options, destination.name);
        }
    }
    for (const fs::path& run : options.runs) clear_below(options, run);
}

/// Whether the second report written would replace the first.
static bool is_one_file(const fs::path& some, const fs::path& other) {
    std::error_code error;
    if (fs::is_other(some, error)) return false;  // a device
    return fs::weakly_canonical(fs::absolute(some, error), error) ==
           fs::weakly_canonical(fs::absolute(other, error), error);
}

void check_outputs(const OutputOptions& options) {
    clear_outputs(options);
    if (!options.report_url.empty() && !report::is_web_address(options.report_url)) {
        throw util::InputError(
            "--report-url {}: expected an address that begins with https:// or http://",
            util::printable(options.report_url));
    }
    for (const fs::path& run : options.runs) {
        const fs::path file = fs::path(options.out) / run;
        if (!is_input(options, file)) continue;
        throw util::InputError("cannot write {}: it is an input; choose another folder for --out",
                               util::printable(file.string()));
    }
    const Destination* on_stdout = nullptr;
    const std::vector<Destination> all = destinations(options);
    for (const Destination& destination : all) {
        if (destination.format->name == "html" && !report::has_html_page()) {
            throw util::InputError("--report html: {}", report::no_html_page);
        }
        if (destination.file != "-") {
            if (is_input(options, destination.file)) {
                throw util::InputError("cannot write {}: it is an input; choose another file",
                                       util::printable(destination.file));
            }
            require_writable(destination);
            const auto same = std::ranges::find_if(all, [&](const Destination& other) {
                return other.format != destination.format &&
                       is_one_file(other.file, destination.file);
            });
            if (same != all.end()) {
                throw util::InputError("--report {} and {} both want {}: give one another file",
                                       same->format->name, destination.format->name,
                                       util::printable(destination.file));
            }
            continue;
        }
        if (on_stdout != nullptr) {
            throw util::InputError(
                "--report {}:- and {}:- both want standard output: give one a file",
                on_stdout->format->name, destination.format->name);
        }
        on_stdout = &destination;
    }
}

int write_reports(const model::VerdictDocument& document, const model::Run& run,
                  const OutputOptions& options) {
    int result = 0;
    const auto attempt = [&](const auto& write) {
        try {
            write();
        } catch (const std::exception& error) {
            print_error(fmt::format("perfgate: {}\n", util::printable(error.what(), 2000)));
            result = 3;
        }
    };
    report::Options how;
    how.junit_profile =
        report::find_junit_profile(options.junit_profile).value_or(report::JunitProfile::github);
    how.hostname = host_name();
    how.report_url = options.report_url;
    how.commands = options.commands;
    report::CodeViews code;
    for (const Destination& destination : destinations(options)) {
        attempt([&] {
            if (destination.format->name == "html" && has_code(run)) {
                // Beside the run document.
                code = code_views(
                    document, read_code(options.code_folder.empty()
                                            ? fs::absolute(options.commands.run_file).parent_path()
                                            : options.code_folder));
                how.code = &code;
            }
            const std::string text = destination.format->write(document, run, how);
            if (destination.name.empty()) {
                util::write_file_atomically(destination.file, text);
            } else {
                util::Folder(options.out).write(destination.name, text);
            }
        });
    }
    attempt([&] {
        print_for_people(options, [&](const report::Options& table) {
            return options.table != nullptr
                       ? options.table(document, table)
                       : report::find_format(table_format)->write(document, run, table);
        });
    });
    return result;
}

}  // namespace perfgate::runner
