// SPDX-License-Identifier: Apache-2.0
// The journal: every result is written at once, one JSON line each, so that a crash of the
// coordinator loses no measurement and `--resume` measures the rest.
//
//     {"journal":2,"started_at":"…","verify_seed":7,"identity":{…}}
//     {"suite":"gemm","case":{…}}        the case as it stands
//     {"suite":"gemm","batches":{…}}     what a later process adds to it
//     {"finished":true}                  the run has an end: there is nothing to resume
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "measure/identity.hpp"
#include "model/run.hpp"
#include "util/file.hpp"

namespace perfgate::measure {

struct JournalHeader {
    std::string started_at;
    std::uint64_t verify_seed = 0;
    Identity identity;
};

/// What an unfinished execution has left.
struct JournalContent {
    JournalHeader header;
    std::map<std::pair<std::string, std::string>, model::CaseResult> cases;  ///< by suite and id
    std::uintmax_t whole_bytes = 0;  ///< up to the end of the last complete line
    bool finished = false;
};

/// An execution that is interrupted before it has a journal must not leave another's.
void remove_journal(const std::filesystem::path& folder);

/// Reads `folder`'s journal. A truncated last line is ignored. Throws util::InputError if there is
/// none or if it is not a journal.
JournalContent read_journal(const std::filesystem::path& folder);

class Journal {
  public:
    /// Creates the folder and a journal with this header in it. Throws util::InputError.
    Journal(const std::filesystem::path& folder, const JournalHeader& header);
    /// Continues a journal that has been read. Throws util::InputError if it is no plain file.
    Journal(const std::filesystem::path& folder, const JournalContent& content);
    Journal& operator=(Journal&&) = delete;  // nor copied

    /// Appends the current state of the case, which replaces earlier lines about it. Thread-safe.
    ///
    /// A journal that cannot be written does not end the measurement: the rest is left out, and
    /// `problem` says why.
    void add(const std::string& suite, const model::CaseResult& result);
    /// Appends what join_batches has added to the case.
    void add_batches(const std::string& suite, const model::CaseResult& more);
    /// Marks the end of a run that was not interrupted.
    void finish();

    /// Why the journal is incomplete; empty: it is complete.
    std::string problem() const;

  private:
    void append(const std::string& line);

    std::filesystem::path path_;
    util::Descriptor file_;
    mutable std::mutex mutex_;
    std::string problem_;
};

}  // namespace perfgate::measure
