// SPDX-License-Identifier: Apache-2.0
// Manual pages, made from the definition that --help shows.
#pragma once

#include <map>
#include <string>

namespace CLI {
class App;
}

namespace perfgate::cli {

/// The pages of the program and all of its commands, by file name: "perfgate-run.1".
std::map<std::string, std::string> manual_pages(const CLI::App& app, const std::string& version);

}  // namespace perfgate::cli
