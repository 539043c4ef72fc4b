// SPDX-License-Identifier: Apache-2.0
// SQLite exports of Nsight Systems. SQLite reads a file, which stays the same one.
#include <unistd.h>

#include "analysed.hpp"
#include "fuzz.hpp"
#include "traces/traces.hpp"

namespace {

/// In memory where the machine has such a folder.
std::string fuzzed_file() {
    std::string name = access("/dev/shm", W_OK) == 0 ? "/dev/shm/fuzz-XXXXXX" : "fuzz-XXXXXX";
    const int file = mkstemp(name.data());
    if (file < 0) std::abort();
    close(file);
    return name;
}

struct File {
    std::string name = fuzzed_file();
    File() = default;
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    ~File() { unlink(name.c_str()); }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace perfgate;
    static const File file;
    std::FILE* to = std::fopen(file.name.c_str(), "wb");
    if (to == nullptr || std::fwrite(data, 1, size, to) != size || std::fclose(to) != 0) {
        std::abort();
    }
    try {
        fuzz::analyse(traces::read_nsight_systems(file.name));
    } catch (const util::InputError&) {
    }
    return 0;
}
