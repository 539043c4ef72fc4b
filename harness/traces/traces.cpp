// SPDX-License-Identifier: Apache-2.0
#include "traces/traces.hpp"

#include <zlib.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <system_error>
#include <utility>

#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::traces {
namespace {

namespace fs = std::filesystem;

enum class Writer { none, perfgate, kineto, nsight_systems };

/// A file, inflated if it is gzipped.
class Inflated {
  public:
    explicit Inflated(const fs::path& file)
        : name_(util::printable(file.native())), file_(gzopen(file.c_str(), "rb"), gzclose) {
        if (file_ == nullptr) throw util::InputError(name_ + ": cannot be read");
        gzbuffer(file_.get(), 1 << 18);
    }

    std::size_t operator()(char* to, std::size_t size) const {
        const int got = gzread(file_.get(), to, static_cast<unsigned>(size));
        int error = Z_OK;
        const char* const why = gzerror(file_.get(), &error);
        if (got < 0 || (got == 0 && error != Z_OK && error != Z_STREAM_END)) {
            throw util::InputError("{}: it is cut or damaged: zlib: {}", name_,
                                   util::printable(why));
        }
        return static_cast<std::size_t>(got);
    }

  private:
    std::string name_;
    std::shared_ptr<gzFile_s> file_;
};

Writer writer_of(const fs::path& file) {
    std::error_code error;
    // A pipe would be read for ever.
    if (!fs::is_regular_file(file, error)) return Writer::none;
    if (file.extension() == ".activity") return Writer::perfgate;
    std::string start(16, '\0');
    std::ifstream stream(file, std::ios::binary);
    stream.read(start.data(), static_cast<std::streamsize>(start.size()));
    if (start == std::string("SQLite format 3\0", 16)) return Writer::nsight_systems;
    if (std::string_view(start).starts_with(
            std::string_view(activity::format_name.data()).substr(0, start.size()))) {
        return Writer::perfgate;
    }
    try {
        return is_kineto(Inflated(file)) ? Writer::kineto : Writer::none;
    } catch (const util::InputError&) {
        return Writer::none;
    }
}

/// The recordings in a folder, by name. Only those of perfgate, if it has any.
std::vector<fs::path> files_in(const fs::path& folder) {
    std::error_code error;
    std::vector<fs::path> own, others;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        const std::string extension = entry.path().extension();
        if (extension == ".activity") {
            own.push_back(entry.path());
        } else if ((extension == ".json" || extension == ".gz" || extension == ".sqlite") &&
                   writer_of(entry.path()) != Writer::none) {
            others.push_back(entry.path());
        }
    }
    if (error) {
        throw util::InputError("recordings {}: {}", util::printable(folder.native()),
                               error.message());
    }
    std::vector<fs::path>& all = own.empty() ? others : own;
    std::ranges::sort(all);
    return std::move(all);
}

}  // namespace

bool is_recording(const fs::path& path) {
    std::error_code error;
    if (!fs::is_directory(path, error)) return writer_of(path) != Writer::none;
    try {
        return !files_in(path).empty();
    } catch (const util::InputError&) {
        return false;
    }
}

std::vector<activity::Recording> read_recordings(const fs::path& path) {
    const std::string name = util::printable(path.native());
    std::error_code error;
    if (fs::is_directory(path, error)) {
        std::vector<activity::Recording> all;
        for (const fs::path& file : files_in(path)) {
            std::vector<activity::Recording> some = read_recordings(file);
            std::move(some.begin(), some.end(), std::back_inserter(all));
        }
        if (all.empty()) {
            throw util::InputError(
                "recordings {}: the folder has no *.activity and no trace of another profiler",
                name);
        }
        return all;
    }
    if (!fs::exists(path, error)) {
        throw util::InputError("recordings {}: there is no such file or folder", name);
    }
    switch (writer_of(path)) {
        case Writer::perfgate:
            return {activity::read_recording(path)};
        case Writer::kineto:
            return {read_kineto(Inflated(path), name)};
        case Writer::nsight_systems:
            return read_nsight_systems(path);
        case Writer::none:
            break;
    }
    throw util::InputError(
        "{}: no recording of perfgate, trace of torch.profiler or SQLite export of Nsight Systems "
        "(nsys export --type sqlite)",
        name);
}

}  // namespace perfgate::traces
