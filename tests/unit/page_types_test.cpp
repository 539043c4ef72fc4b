// SPDX-License-Identifier: Apache-2.0
// The types of the pages' data, in TypeScript, are those of the descriptions (document/archive.hpp)
// of what is written into the pages. This test links neither page, so that it can write them anew
// for a page that is not compiled without them.
#include <gtest/gtest.h>

#include <cctype>
#include <cstdlib>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "activity/profile_fields.hpp"
#include "document/archive.hpp"
#include "history/site.hpp"
#include "report/html_data.hpp"

namespace perfgate::document {

/// The name that a struct has in TypeScript.
template <class T>
inline constexpr const char* type_name = nullptr;

#define PERFGATE_TYPE(Struct, Name) \
    template <>                     \
    inline constexpr const char* type_name<Struct> = Name;
PERFGATE_TYPE(activity::Durations, "Durations")
PERFGATE_TYPE(activity::WorkSummary, "Work")
PERFGATE_TYPE(activity::KernelSummary, "Kernel")
PERFGATE_TYPE(activity::CopySummary, "Copies")
PERFGATE_TYPE(activity::CollectiveSummary, "Collective")
PERFGATE_TYPE(activity::SampledMean, "Sampled")
PERFGATE_TYPE(activity::CallSummary, "Calls")
PERFGATE_TYPE(activity::UncapturableCall, "UncapturableCall")
PERFGATE_TYPE(activity::OverheadSummary, "Overhead")
PERFGATE_TYPE(activity::DeviceSummary, "Device")
PERFGATE_TYPE(activity::RangeInstance, "RangeInstance")
PERFGATE_TYPE(activity::RangeKernel, "RangeKernel")
PERFGATE_TYPE(activity::RangeSummary, "Ranges")
PERFGATE_TYPE(activity::Gap, "Gap")
PERFGATE_TYPE(activity::HostActivity, "HostActivity")
PERFGATE_TYPE(activity::FlameFrame, "Flame")
PERFGATE_TYPE(activity::Counts, "Counts")
PERFGATE_TYPE(activity::Profile, "Profile")
PERFGATE_TYPE(activity::PageTrack, "TrackData")
PERFGATE_TYPE(activity::PageKind, "KindData")
PERFGATE_TYPE(activity::PageSamples, "SamplesData")
PERFGATE_TYPE(activity::PageProcess, "Process")
PERFGATE_TYPE(activity::Page, "Page")
PERFGATE_TYPE(model::Ceilings, "Ceilings")
PERFGATE_TYPE(model::Work, "Work")
PERFGATE_TYPE(report::page::Verdict, "Verdict")
PERFGATE_TYPE(report::page::Metric, "Metric")
PERFGATE_TYPE(report::page::Relation, "Relation")
PERFGATE_TYPE(report::page::Suite, "Suite")
PERFGATE_TYPE(report::page::Note, "Note")
PERFGATE_TYPE(report::page::Command, "Command")
PERFGATE_TYPE(model::Kernel, "Kernel")
PERFGATE_TYPE(model::SourcePlace, "Place")
PERFGATE_TYPE(report::page::Value, "ValueData")
PERFGATE_TYPE(report::page::Batch, "Batch")
PERFGATE_TYPE(report::page::Spread, "SpreadData")
PERFGATE_TYPE(report::page::Stall, "Stall")
PERFGATE_TYPE(report::page::CodeLine, "CodeLine")
PERFGATE_TYPE(report::page::CodeKernel, "CodeKernel")
PERFGATE_TYPE(report::page::Case, "CaseData")
PERFGATE_TYPE(report::page::Data, "Data")
PERFGATE_TYPE(history::page::Run, "Run")
PERFGATE_TYPE(history::page::Metric, "Metric")
PERFGATE_TYPE(history::page::Case, "Case")
PERFGATE_TYPE(history::page::Point, "Point")
PERFGATE_TYPE(history::page::Finding, "FindingData")
PERFGATE_TYPE(history::page::Note, "Note")
PERFGATE_TYPE(history::Month, "Month")
PERFGATE_TYPE(history::page::Index, "Index")
PERFGATE_TYPE(history::page::Night, "Night")
PERFGATE_TYPE(history::page::Series, "SeriesData")
PERFGATE_TYPE(history::page::CaseFile, "CaseFile")
#undef PERFGATE_TYPE

template <class T>
struct TypeOf;

/// The archive that collects the fields of one struct.
class TypeFields {
  public:
    static constexpr bool reads = false;

    explicit TypeFields(bool row) : row_(row) {}

    template <class T, class... How>
    void required(Key key, const T& /*member*/, const How&... /*how*/) {
        add(key, false, type_of<T, How...>());
    }
    template <class T, class... How>
    void always(Key key, const T& member, const How&... how) {
        required(key, member, how...);
    }
    template <class T, class... How>
    void optional(Key key, const T& /*member*/, const How&... /*how*/) {
        add(key, true, type_of<T, How...>());
    }
    template <class Make>
    void derived(Key key, const Make& /*make*/) {
        add(key, false, TypeOf<std::decay_t<std::invoke_result_t<Make>>>::text());
    }
    template <class Check>
    void check(const Check& /*check*/) {}

    std::vector<std::string> names, fields;

  private:
    template <class T, class... How>
    static std::string type_of() {
        if constexpr ((std::is_same_v<How, Rows> || ...)) {
            return "Row<" + TypeOf<typename T::value_type>::text() + ">[]";
        } else {
            return TypeOf<T>::text();
        }
    }
    void add(const Key& key, bool is_optional, std::string type) {
        const std::string name(key.name);
        names.push_back(name);
        if (is_optional && row_) type += " | null";
        fields.push_back(name + (is_optional && !row_ ? "?: " : ": ") + type);
    }

    bool row_;
};

template <class T>
struct TypeOf {
    static std::string text() {
        if constexpr (std::is_same_v<T, bool>) {
            return "boolean";
        } else if constexpr (std::is_arithmetic_v<T>) {
            return "number";
        } else if constexpr (std::is_enum_v<T>) {
            std::string all;
            for (const std::string_view word : words_of<T>()) {
                all += (all.empty() ? "\"" : " | \"") + std::string(word) + '"';
            }
            return all;
        } else if constexpr (std::is_convertible_v<T, std::string_view>) {
            return "string";
        } else {
            static_assert(type_name<T> != nullptr);
            return is_row<T> ? "Row<" + std::string(type_name<T>) + ">" : type_name<T>;
        }
    }
};
template <class T>
struct TypeOf<std::optional<T>> : TypeOf<T> {};
template <class T>
struct TypeOf<std::vector<T>> {
    static std::string text() { return TypeOf<T>::text() + "[]"; }
};
template <class T>
struct TypeOf<std::map<std::string, T>> {
    static std::string text() { return "Record<string, " + TypeOf<T>::text() + ">"; }
};
template <class T, std::size_t size>
struct TypeOf<std::array<T, size>> {
    static std::string text() {
        std::string all;
        for (std::size_t i = 0; i < size; ++i) all += (i == 0 ? "[" : ", ") + TypeOf<T>::text();
        return all + "]";
    }
};

/// Items on lines of at most 120 characters.
inline std::string in_lines(const std::vector<std::string>& items, const std::string& end) {
    std::string text, line;
    for (const std::string& item : items) {
        if (!line.empty() && line.size() + item.size() > 116) {
            text += line + '\n';
            line.clear();
        }
        line += (line.empty() ? "  " : " ") + item + end;
    }
    return text + line + '\n';
}

/// An interface; of a row also the names of its fields in their order.
template <class T>
std::string interface_of() {
    const bool row = is_row<T> || std::is_same_v<T, model::Kernel>;  // the page has it in rows
    TypeFields archive(row);
    const T value{};
    describe(archive, value);
    const std::string name = type_name<T>;
    std::string text =
        "\nexport interface " + name + " {\n" + in_lines(archive.fields, ";") + "}\n";
    if (!row) return text;
    for (std::string& field : archive.names) field = '"' + field + '"';
    std::string constant = name;
    constant.front() = static_cast<char>(std::tolower(constant.front()));
    return text + "export const " + constant + "Fields: readonly (keyof " + name + ")[] = [\n" +
           in_lines(archive.names, ",") + "];\n";
}

template <>
struct TypeOf<report::page::CleanText> : TypeOf<std::string> {};

/// The file in the pages' sources has these types. PERFGATE_UPDATE_GOLDEN=1 writes it anew.
template <class... Types>
void expect_types(const std::string& file, const std::string& descriptions,
                  const std::string& head) {
    const std::string path =
        std::string(PERFGATE_TEST_DATA_DIR) + "/../../harness/report/html/src/" + file;
    const std::string text = "// SPDX-License-Identifier: Apache-2.0\n// Made from " +
                             descriptions +
                             " by page_types_test.cpp: PERFGATE_UPDATE_GOLDEN=1 writes it anew.\n" +
                             head + (interface_of<Types>() + ...);
    if (std::getenv("PERFGATE_UPDATE_GOLDEN") != nullptr) {
        std::ofstream(path, std::ios::binary) << text;
    }
    std::ifstream in(path, std::ios::binary);
    std::stringstream found;
    found << in.rdbuf();
    EXPECT_EQ(found.str(), text) << path;
}

TEST(PageTypes, OfAProfileAreThoseOfItsDescription) {
    using namespace activity;
    expect_types<Durations, WorkSummary, KernelSummary, CopySummary, CollectiveSummary, SampledMean,
                 CallSummary, UncapturableCall, OverheadSummary, DeviceSummary, RangeInstance,
                 RangeKernel, RangeSummary, Gap, HostActivity, FlameFrame, Counts, Profile,
                 PageTrack, PageKind, PageSamples, PageProcess, Page>(
        "profile/data.ts", "activity/profile_fields.hpp", "");
}

TEST(PageTypes, OfAHistoryAreThoseOfItsDescription) {
    using namespace history::page;
    expect_types<history::page::Run, Metric, Case, Point, Finding, Note, history::Month, Index,
                 Night, Series, CaseFile>("history/data.ts", "history/site.hpp",
                                          "import type { Row } from \"../row\";\n");
}

TEST(PageTypes, OfAReportAreThoseOfItsDescription) {
    using namespace report::page;
    expect_types<model::Ceilings, model::Work, Verdict, Metric, Relation, Suite, Note, Command,
                 model::SourcePlace, model::Kernel, Value, Batch, Spread, Stall, CodeLine,
                 CodeKernel, Case, Data>("data.ts", "report/html_data.hpp",
                                         "import type { Row } from \"./row\";\n");
}

}  // namespace perfgate::document
