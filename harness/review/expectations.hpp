// SPDX-License-Identifier: Apache-2.0
// What a tree of files expects of a program: its suites, profiles and baselines as values. The
// contents are untrusted: files that cannot be read are kept by name, so that they are not
// overlooked.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "kinds/python/declared.hpp"
#include "model/baseline.hpp"
#include "model/catalogue.hpp"
#include "model/run.hpp"
#include "suite/profile.hpp"
#include "suite/suite.hpp"

namespace perfgate::review {

enum class FileRole { suite, profile, baseline, ledger, python };

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
    std::map<std::string, std::vector<python::DeclaredWorkload>> python;  ///< by path
    std::map<std::string, suite::Profile> profiles;                       ///< by path
    std::map<std::string, model::Baseline> baselines;                     ///< by path
    std::map<std::string, std::string> ledgers;                           ///< by path: the text
    std::map<std::string, std::string> unreadable;                        ///< by path: why
    std::set<std::string> devices;      ///< the keys of all baselines, changed or not
    std::vector<std::string> left_out;  ///< problems of suites, and parts that `workloads` lacks
};

/// The suite in one of the files, with what the Python files that it names declare; the problems of
/// these are added to `notes`.
suite::Suite read_suite(const std::string& path, const Files& files,
                        model::WorkloadCatalogue workloads, std::vector<std::string>& notes);

/// Reads the files to compare: all suites and Python files, and others if they differ from those in
/// `other`.
Expectations read_expectations(const Files& files, const Files& other,
                               const model::WorkloadCatalogue& workloads);

// What the suites of one state gate of the cases of a baseline.
struct CaseGates {
    std::vector<model::GateRule> rules;  ///< of metrics that the baseline has
    std::map<std::string, model::MetricDefinition> definitions;  ///< of all its metrics
};

/// By case id. A case of no suite that can be read (its plugin is not known) is gated in all of its
/// metrics, by tolerances that suites usually state.
std::map<std::string, CaseGates> gates_of(const Expectations& state,
                                          const model::Baseline& baseline);

}  // namespace perfgate::review
