// SPDX-License-Identifier: Apache-2.0
#include "stacks/memory.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string_view>

namespace perfgate::stacks {

std::vector<Mapping> mappings_of(pid_t process) {
    std::vector<Mapping> found;
    std::ifstream maps("/proc/" + std::to_string(process) + "/maps");
    for (std::string line; std::getline(maps, line);) {
        const std::size_t path = line.find('/');
        if (path == std::string::npos) continue;
        // 7f0000001000-7f0000002000 r-xp 00000000 08:01 1234     /lib/…
        Mapping mapping;
        std::string_view rest(line.data(), path);
        const auto word = [&rest](char end) {
            const std::size_t size = std::min(rest.find(end), rest.size());
            const std::string_view taken = rest.substr(0, size);
            rest.remove_prefix(std::min(size + 1, rest.size()));
            return taken;
        };
        const auto number = [](std::string_view digits, auto& to, int base) {
            return std::from_chars(digits.data(), digits.data() + digits.size(), to, base).ec ==
                   std::errc{};
        };
        if (!number(word('-'), mapping.begin, 16) || !number(word(' '), mapping.end, 16)) continue;
        mapping.executable = word(' ').find('x') != std::string_view::npos;
        word(' '), word(' ');  // offset and device
        if (!number(word(' '), mapping.inode, 10)) continue;
        mapping.file = line.substr(path);
        found.push_back(std::move(mapping));
    }
    return found;
}

std::optional<Address> first_of(const std::vector<Mapping>& mappings, const std::string& file) {
    const auto found = std::ranges::find_if(
        mappings, [&](const Mapping& each) { return !file.empty() && each.file == file; });
    return found == mappings.end() ? std::nullopt : std::optional(found->begin);
}

}  // namespace perfgate::stacks
