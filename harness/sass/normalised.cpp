// SPDX-License-Identifier: Apache-2.0
#include "sass/normalised.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <utility>

#include "elf/instruction_listing.hpp"

namespace perfgate::sass {
namespace {

constexpr std::string_view register_files[] = {"UR", "UP", "R", "P", "B"};
constexpr int highest_register = 1023;

bool is_name_character(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
}

/// The register at the begin of `text` and its length; 0: there is none.
std::size_t length_of_register(std::string_view text, Register& found) {
    for (const std::string_view file : register_files) {
        if (!text.starts_with(file)) continue;
        std::size_t end = file.size();
        int number = 0;
        while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])) != 0 &&
               number <= highest_register) {
            number = number * 10 + (text[end++] - '0');
        }
        if (end == file.size() || number > highest_register) continue;
        if (end < text.size() && is_name_character(text[end])) continue;
        found = {std::string(file), number};
        return end;
    }
    return 0;
}

/// The text with the label's name left out, and that of a symbol's hash that each build has anew.
std::string without_places(std::string_view text, std::string& label) {
    constexpr std::string_view begin = "`(.L", hashed = "_INTERNAL_";
    std::string result;
    while (!text.empty()) {
        if (text.starts_with(begin)) {
            const std::size_t end = text.find(')');
            if (end != std::string_view::npos) {
                label = text.substr(2, end - 2);
                result += "`(L)";
                text.remove_prefix(end + 1);
                continue;
            }
        }
        if (text.starts_with(hashed)) {
            result += hashed;
            text.remove_prefix(hashed.size());
            const std::size_t end = text.find_first_not_of("0123456789abcdef");
            text.remove_prefix(std::min(end, text.size()));
            continue;
        }
        result += text.front();
        text.remove_prefix(1);
    }
    return result;
}

std::set<std::string_view> parts_of(std::string_view opcode) {
    std::set<std::string_view> parts;
    while (!opcode.empty()) {
        const std::size_t end = std::min(opcode.find('.'), opcode.size());
        parts.insert(opcode.substr(0, end));
        opcode.remove_prefix(std::min(end + 1, opcode.size()));
    }
    return parts;
}

/// Names by first use: "a", "b", … "z", "a1".
std::string name_of(std::size_t number) {
    std::string name(1, static_cast<char>('a' + number % 26));
    if (number >= 26) name += std::to_string(number / 26);
    return name;
}

struct Class {
    std::string_view name;
    std::vector<std::string_view> opcodes;  ///< before their first dot
};

/// In the order of reports. An opcode that none has counts as `other_class`.
const std::vector<Class>& classes() {
    static const std::vector<Class> all{
        {"global memory", {"LDG", "STG", "LD", "ST", "UBLKCP", "UTMALDG", "UTMASTG"}},
        {"asynchronous copy", {"LDGSTS", "LDGDEPBAR", "DEPBAR", "UBLKPF", "UTMAPF"}},
        {"shared memory", {"LDS", "STS", "LDSM", "STSM", "ATOMS"}},
        {"local memory", {"LDL", "STL"}},
        {"constant memory", {"LDC", "ULDC", "LDCU"}},
        {"texture", {"TEX", "TLD", "TLD4", "TXD", "SULD", "SUST", "SUATOM"}},
        {"atomics", {"ATOM", "ATOMG", "RED", "REDG", "UTMAREDG"}},
        {"tensor",
         {"HMMA", "IMMA", "DMMA", "QMMA", "HGMMA", "IGMMA", "QGMMA", "BGMMA", "BMMA", "UTCHMMA",
          "UTCQMMA", "UTCIMMA"}},
        {"FP64", {"DADD", "DFMA", "DMUL", "DSETP", "DMNMX"}},
        {"FP32",
         {"FADD", "FFMA", "FMUL", "FSETP", "FMNMX", "FSEL", "FCHK", "FSET", "FSWZADD", "FADD2",
          "FFMA2", "FMUL2"}},
        {"FP16", {"HADD2", "HFMA2", "HMUL2", "HSETP2", "HMNMX2", "HSET2"}},
        {"special functions", {"MUFU", "RRO"}},
        {"conversion", {"F2F", "F2FP", "F2I", "I2F", "I2FP", "FRND", "I2I", "I2IP", "F2IP"}},
        {"synchronisation",
         {"BAR", "MEMBAR", "SYNCS", "ERRBAR", "FENCE", "WARPSYNC", "CCTL", "BSSY", "BSYNC",
          "ARRIVES", "UCGABAR_WAIT", "UCGABAR_ARV", "NANOSLEEP", "WARPGROUP", "YIELD"}},
        {"control",
         {"BRA", "BRX", "BRXU", "EXIT", "CALL", "RET", "JMP", "BREAK", "JMX", "KILL", "BPT", "RTT",
          "BMOV"}},
        {"shuffle and vote", {"SHFL", "VOTE", "VOTEU", "MATCH", "REDUX", "CREDUX", "R2UR"}},
        {"moves",
         {"MOV", "UMOV", "MOVM", "PRMT", "UPRMT", "SEL", "USEL", "S2R", "S2UR", "CS2R", "P2R",
          "R2P", "UP2UR", "R2B", "B2R"}},
        {"integer", {}},
    };
    return all;
}

constexpr std::string_view other_class = "integer";

}  // namespace

Normalised normalise(const model::Instruction& instruction) {
    Normalised result;
    const std::string text = without_places(instruction.text, result.label);
    const std::string_view opcode = elf::opcode_of(instruction);
    const std::size_t opcode_at = text.find(opcode, text.starts_with("@") ? 1 : 0);
    const std::size_t operands = std::min(opcode_at, text.size()) + opcode.size();
    std::map<std::pair<std::string, int>, std::string> names;
    std::map<std::string, std::size_t> of_file;
    bool may_be_result = true;  // the first operand, if it is a register and nothing else
    for (std::size_t at = 0; at < text.size();) {
        const bool begins = at == 0 || !(is_name_character(text[at - 1]) || text[at - 1] == '.');
        const bool in_opcode = at >= opcode_at && at < operands;
        Register found;
        const std::size_t length =
            begins && !in_opcode ? length_of_register(std::string_view(text).substr(at), found) : 0;
        if (length == 0) {
            if (at >= operands && text[at] != ' ') may_be_result = false;
            result.key += text[at++];
            continue;
        }
        at += length;
        constexpr std::string_view reuse = ".reuse";
        if (std::string_view(text).substr(at).starts_with(reuse)) {
            found.reuse = true;
            at += reuse.size();
        }
        const bool whole = at == text.size() || text[at] == ',';
        found.result = at > operands && may_be_result && whole;
        if (at > operands) may_be_result = false;
        result.key += found.file;
        if (!found.result) {
            auto [name, is_new] = names.try_emplace({found.file, found.number});
            if (is_new) name->second = name_of(of_file[found.file]++);
            result.key += name->second;
        }
        result.registers.push_back(std::move(found));
    }
    return result;
}

int result_width(std::string_view opcode) {
    const std::set<std::string_view> parts = parts_of(opcode);
    if (parts.contains("128") || parts.contains("4")) return 4;
    if (parts.contains("64") || parts.contains("WIDE") || parts.contains("F64") ||
        opcode.starts_with("D")) {
        return 2;
    }
    const bool tensor = class_of(opcode) == "tensor";
    return tensor ? 4 : 1;
}

std::string_view class_of(std::string_view opcode) {
    static const auto by_opcode = [] {
        std::map<std::string_view, std::string_view> all;
        for (const Class& each : classes()) {
            for (const std::string_view name : each.opcodes) all.emplace(name, each.name);
        }
        return all;
    }();
    const auto found = by_opcode.find(opcode.substr(0, opcode.find('.')));
    return found == by_opcode.end() ? other_class : found->second;
}

const std::vector<std::string_view>& instruction_classes() {
    static const auto names = [] {
        std::vector<std::string_view> all;
        for (const Class& each : classes()) all.push_back(each.name);
        return all;
    }();
    return names;
}

}  // namespace perfgate::sass
