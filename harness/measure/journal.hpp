// SPDX-License-Identifier: Apache-2.0
// The journal: every result on disk as soon as it exists, one JSON line each, so that a crash of
// the coordinator loses nothing that was measured, and `--resume` measures what is missing.
//
//     {"journal":2,"started_at":"…","verify_seed":7,"identity":{…}}
//     {"suite":"gemm","case":{…}}        the case as it stands
//     {"suite":"gemm","batches":{…}}     what a later process adds to it
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "measure/identity.hpp"
#include "model/run.hpp"

namespace perfgate::measure {

struct JournalHeader {
    std::string started_at;
    std::uint64_t verify_seed = 0;
    Identity identity;
};

/// What an execution that did not come to its end has left.
struct JournalContent {
    JournalHeader header;
    std::map<std::pair<std::string, std::string>, model::CaseResult> cases;  ///< by suite and id
    std::uintmax_t whole_bytes = 0;  ///< up to the last line that is whole
};

/// Reads `folder`'s journal. A last line that was cut off is left out. Throws model::InputError for
/// one that is not there or is no journal.
JournalContent read_journal(const std::filesystem::path& folder);

class Journal {
  public:
    /// Creates the folder and a journal with this header in it. Throws model::InputError.
    Journal(const std::filesystem::path& folder, const JournalHeader& header);
    /// Goes on with a journal that has been read.
    Journal(const std::filesystem::path& folder, const JournalContent& content);
    ~Journal();
    Journal(const Journal&) = delete;
    Journal& operator=(const Journal&) = delete;

    /// Appends the case as it stands now: it replaces what is there of it. From any thread.
    ///
    /// A journal that cannot be written ends no measurement: the rest is left out, and `problem`
    /// says why.
    void add(const std::string& suite, const model::CaseResult& result);
    /// Appends what join_batches has added to the case.
    void add_batches(const std::string& suite, const model::CaseResult& more);

    /// Why the journal is not whole; empty: it is.
    std::string problem() const;

  private:
    void open(int flags);
    void append(const std::string& line);

    std::filesystem::path path_;
    int fd_ = -1;
    mutable std::mutex mutex_;
    std::string problem_;
};

}  // namespace perfgate::measure
