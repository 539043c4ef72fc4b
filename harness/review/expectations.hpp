// SPDX-License-Identifier: Apache-2.0
// What a tree of files expects of a program: its suites, profiles and baselines as values. The
// contents are untrusted: files that cannot be read are kept by name, so that they are not
// overlooked.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "model/baseline.hpp"
#include "model/catalogue.hpp"
#include "suite/profile.hpp"
#include "suite/suite.hpp"

namespace perfgate::review {

enum class FileRole { suite, profile, baseline, ledger };

/// A file in a tree.
struct File {
    FileRole role = FileRole::suite;
    std::string content;
    std::string fault;  ///< not empty: why there is no content ("a link", "larger than 256 KiB")

    bool operator==(const File&) const = default;
};

/// By path, with '/' between folders.
using Files = std::map<std::string, File>;

struct Expectations {
    std::vector<suite::Suite> suites;
    std::map<std::string, suite::Profile> profiles;    ///< by path
    std::map<std::string, model::Baseline> baselines;  ///< by path
    std::map<std::string, std::string> ledgers;        ///< by path: the text
    std::map<std::string, std::string> unreadable;     ///< by path: why
    std::set<std::string> devices;      ///< the keys of all baselines, changed or not
    std::vector<std::string> left_out;  ///< problems of suites, and parts that `workloads` lacks
};

/// Reads the files to compare: all suites, and other files if they differ from those in `other`.
Expectations read_expectations(const Files& files, const Files& other,
                               const model::WorkloadCatalogue& workloads);

}  // namespace perfgate::review
