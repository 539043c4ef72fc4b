// SPDX-License-Identifier: Apache-2.0
#include "kinds/source/nvrtc.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <system_error>

#include "util/error.hpp"
#include "util/file.hpp"
#include "util/toolkit.hpp"

namespace perfgate::source {

namespace {

namespace fs = std::filesystem;

constexpr int compilation_error = 6;
constexpr std::array majors{13, 12};

/// Where headers may be: the usual toolkits, before the last of them that of the nvcc on PATH.
std::vector<std::string> toolkits() {
    std::vector<std::string> folders = util::toolkit_folders();
    std::error_code absent;
    const fs::path nvcc = fs::canonical(util::found_on_path("nvcc"), absent);
    if (!absent) folders.insert(folders.end() - 1, nvcc.parent_path().parent_path());
    return folders;
}

/// The CUDA that a folder of headers is of; 0 if it has none.
int cuda_of_headers(const fs::path& folder) {
    constexpr std::string_view define = "#define CUDART_VERSION";
    constexpr std::size_t most_header_bytes = std::size_t{8} << 20;
    std::error_code absent;
    const fs::path header = folder / "cuda_runtime_api.h";
    if (!fs::exists(folder / "cuda_fp16.h", absent) || !fs::exists(header, absent)) return 0;
    const std::string text = util::read_file(header, most_header_bytes, "header");
    std::size_t at = text.find(define);
    if (at != std::string::npos) at = text.find_first_not_of(' ', at + define.size());
    int version = 0;
    if (at != std::string::npos) {
        std::from_chars(text.data() + at, text.data() + text.size(), version);
    }
    return version / 1000;
}

/// Where a library of this name may be, best first. PATH must not choose another compiler than the
/// loader's search path does.
std::vector<std::string> candidates(const std::string& soname) {
    std::vector<std::string> paths;
    for (const std::string& toolkit : util::toolkit_folders()) {
        paths.push_back(fmt::format("{}/lib64/{}", toolkit, soname));
    }
    paths.insert(paths.end() - 1, soname);  // the loader's search path, before the usual place
    return paths;
}

void* open_library(int newest_major) {
    for (const int major : majors) {
        if (newest_major != 0 && major > newest_major) continue;
        for (const std::string& path : candidates(fmt::format("libnvrtc.so.{}", major))) {
            if (void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
        }
    }
    throw util::Error(
        "libnvrtc.so.{0} was not found: install the CUDA toolkit's NVRTC (Debian and Ubuntu: "
        "cuda-nvrtc-{0}-0) or 'pip install {1}', whose folder that has the file belongs into "
        "LD_LIBRARY_PATH; a toolkit elsewhere into CUDA_HOME",
        newest_major == 12 ? 12 : 13,
        newest_major == 12 ? "nvidia-cuda-nvrtc-cu12" : "nvidia-cuda-nvrtc");
}

}  // namespace

Nvrtc::Nvrtc(int newest_major) {
    void* const library = open_library(newest_major);
    const char* missing = nullptr;
    const auto look_up = [&](auto& function, const char* name) {
        function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, name));
        if (function == nullptr) missing = name;
    };
    look_up(api_.nvrtcVersion, "nvrtcVersion");
    look_up(api_.nvrtcGetErrorString, "nvrtcGetErrorString");
    look_up(api_.nvrtcCreateProgram, "nvrtcCreateProgram");
    look_up(api_.nvrtcDestroyProgram, "nvrtcDestroyProgram");
    look_up(api_.nvrtcAddNameExpression, "nvrtcAddNameExpression");
    look_up(api_.nvrtcCompileProgram, "nvrtcCompileProgram");
    look_up(api_.nvrtcGetLoweredName, "nvrtcGetLoweredName");
    look_up(api_.nvrtcGetProgramLogSize, "nvrtcGetProgramLogSize");
    look_up(api_.nvrtcGetProgramLog, "nvrtcGetProgramLog");
    look_up(api_.nvrtcGetCUBINSize, "nvrtcGetCUBINSize");
    look_up(api_.nvrtcGetCUBIN, "nvrtcGetCUBIN");
    if (missing != nullptr) {
        throw util::Error("libnvrtc has no {}: install that of CUDA 12.0 or newer", missing);
    }
    Dl_info info{};
    if (dladdr(reinterpret_cast<void*>(api_.nvrtcVersion), &info) != 0 && info.dli_fname) {
        std::error_code unresolved;
        file_ = fs::canonical(info.dli_fname, unresolved);
    }
    check(api_.nvrtcVersion(&version_.major, &version_.minor), "cannot ask for its version");
}

void Nvrtc::check(int result, const char* what) const {
    if (result == 0) return;
    throw util::Error("NVRTC: {}: {}", what, api_.nvrtcGetErrorString(result));
}

std::vector<fs::path> Nvrtc::include_folders() const {
    // Beside the library are a toolkit's headers, or pip's: for CUDA 12 each part has its folder.
    const fs::path root = file_.parent_path().parent_path();
    std::vector<fs::path> places{root / "include", root.parent_path() / "cuda_runtime" / "include"};
    for (const std::string& toolkit : toolkits()) places.push_back(fs::path(toolkit) / "include");
    const auto own = std::ranges::find_if(
        places, [this](const fs::path& place) { return cuda_of_headers(place) == version_.major; });
    if (own == places.end()) return {};
    std::vector<fs::path> folders{*own};
    for (const fs::path& cccl : {*own / "cccl", root.parent_path() / "cuda_cccl" / "include"}) {
        std::error_code absent;
        if (fs::is_directory(cccl, absent)) folders.push_back(cccl);
    }
    return folders;
}

std::string Nvrtc::text_of(Program program, int (*size)(Program, std::size_t*),
                           int (*get)(Program, char*), const char* what) const {
    std::size_t bytes = 0;
    check(size(program, &bytes), what);
    std::string text(bytes, '\0');
    if (bytes > 0) check(get(program, text.data()), what);
    return text;
}

NvrtcOutcome Nvrtc::compile(const std::string& text, const std::string& file,
                            const std::vector<std::string>& options,
                            const std::vector<std::string>& names) const {
    Program handle = nullptr;
    check(api_.nvrtcCreateProgram(&handle, text.c_str(), file.c_str(), 0, nullptr, nullptr),
          "cannot begin");
    const auto destroy = [this](Program program) { api_.nvrtcDestroyProgram(&program); };
    const std::unique_ptr<std::remove_pointer_t<Program>, decltype(destroy)> program(handle,
                                                                                     destroy);
    for (const std::string& name : names) {
        check(api_.nvrtcAddNameExpression(handle, name.c_str()), "cannot take a kernel's name");
    }
    std::vector<const char*> words;
    words.reserve(options.size());
    for (const std::string& option : options) words.push_back(option.c_str());
    const int result =
        api_.nvrtcCompileProgram(handle, static_cast<int>(words.size()), words.data());

    NvrtcOutcome outcome;
    outcome.log = text_of(handle, api_.nvrtcGetProgramLogSize, api_.nvrtcGetProgramLog,
                          "cannot read its messages");
    while (outcome.log.ends_with('\0') || outcome.log.ends_with('\n')) outcome.log.pop_back();
    if (result == compilation_error) return outcome;
    if (result != 0 && !outcome.log.empty()) {
        throw util::Error("NVRTC: {}: {}", api_.nvrtcGetErrorString(result), outcome.log);
    }
    check(result, "cannot compile");
    outcome.cubin =
        text_of(handle, api_.nvrtcGetCUBINSize, api_.nvrtcGetCUBIN, "cannot read the machine code");
    for (const std::string& name : names) {
        const char* lowered = nullptr;
        check(api_.nvrtcGetLoweredName(handle, name.c_str(), &lowered),
              "cannot read a kernel's symbol");
        outcome.symbols.emplace_back(lowered);
    }
    outcome.compiled = true;
    return outcome;
}

}  // namespace perfgate::source
