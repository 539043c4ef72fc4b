// SPDX-License-Identifier: Apache-2.0
#include "activity/outputs.hpp"
#include "activity/profile_fields.hpp"

namespace perfgate::activity {

namespace {

constexpr document::Schema schema{"perfgate.profile", 1, 1};

}  // namespace

std::string write_profiles(const std::vector<Profile>& profiles) {
    return document::write_document(schema, ProfileDocument{profiles});
}

std::vector<Profile> parse_profiles(std::string_view json, std::string_view source) {
    document::JsonDocument parsed(std::string(json), source);
    ProfileDocument document;
    document::read_document(parsed, schema, document);
    return std::move(document.processes);
}

}  // namespace perfgate::activity
