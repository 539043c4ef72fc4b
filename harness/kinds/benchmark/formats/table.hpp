// SPDX-License-Identifier: Apache-2.0
// Rows of a table, whatever wrote it, become results: rows of one name and parameters are its
// samples. Nothing is guessed: what the layout does not place, and could make a row another case or
// another quantity, is refused with its place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "document/json_reader.hpp"
#include "kinds/benchmark/formats/layout.hpp"
#include "kinds/benchmark/formats/results.hpp"

namespace perfgate::benchmark {

/// The variant of results that have no name of their own.
inline constexpr const char* only_result = "result";

/// What is known of the rows of a tool, beside where things are.
struct KnownRows {
    /// A row that has a place must have one of the texts there: otherwise its result has a problem.
    std::vector<std::pair<std::string, std::vector<std::string>>> good = {};
    /// Rows of one name and parameters are samples, in whatever else they differ.
    bool all_are_repetitions = false;
    /// A row that has the first place, above 0, and none of `good` must have the same at the
    /// second: otherwise its result has a problem.
    std::optional<std::pair<std::string, std::string>> equal = std::nullopt;
    /// Fields that say what it was measured on, with the words before each: the first that has any.
    std::vector<std::pair<std::string, std::string>> device = {};
};

/// The columns, paths or groups that a layout names, each once.
class Places {
  public:
    explicit Places(const Layout& reading, const KnownRows* known = nullptr);

    [[nodiscard]] const std::vector<std::string>& all() const { return all_; }
    [[nodiscard]] std::size_t index_of(const std::string& place) const;

  private:
    std::vector<std::string> all_;
};

/// What a row has at a place.
struct Cell {
    std::vector<model::ParamValue> values;  ///< several: samples
    std::string lacks = {};                 ///< where one of several is missing; empty: none is
    bool is_part = false;                   ///< of a longer number
};

/// What a row has where the layout names nothing.
struct OtherField {
    std::string_view name;  ///< of the text that is read, which stays
    std::string text;
    bool is_number = false;
};

struct Row {
    std::string at;           ///< "line 3", for messages
    std::string key = {};     ///< its own name, for a layout that states none
    std::vector<Cell> cells;  ///< of Places::all
    std::vector<OtherField> others = {};
};

/// A number as text, wholly; with `thousands`, "1,234.5" is one.
std::optional<double> number_in(std::string_view text, bool thousands = false);

class Table {
  public:
    enum class Numbers : std::uint8_t { are_numbers, are_text, are_text_with_thousands };

    /// With `known`, what the layout leaves out says nothing, and a parameter may be absent.
    Table(const Layout& reading, Numbers numbers, const KnownRows* known = nullptr);

    [[nodiscard]] const Places& places() const { return places_; }
    /// Whether no more rows are of use: there are too many results.
    [[nodiscard]] bool is_full() const { return results_.size() > most_results; }

    /// Throws util::InputError, which begins with the row's place, for a row that lacks its name or
    /// a parameter, has another unit, or differs from the others of its result.
    void add(Row row);
    /// Throws util::InputError if rows differ in a text that the layout does not place.
    Results take();

  private:
    struct Column {
        std::size_t from = 0, unit = 0;
        std::vector<std::pair<std::size_t, std::string>> where;
        std::string words;  ///< "column time", for messages
    };
    /// Rows of one result that have one of the values.
    struct Seen {
        std::shared_ptr<const Row> first;  ///< one row may have several: thousands of columns
        std::string first_with, first_without;
    };
    struct Pending {
        ResultBuilder builder;
        std::vector<std::optional<Seen>> values;
    };

    [[nodiscard]] std::vector<std::size_t> values_of(const Row& row) const;
    [[nodiscard]] const model::ParamValue& only_one(const Row& row, std::size_t place) const;
    Pending& result_of(const Row& row);
    void add_value(const std::shared_ptr<const Row>& shared, std::size_t value, Pending& result);
    [[nodiscard]] double factor_of(const Row& row, std::size_t value) const;
    void require_same(const Row& row, const Row& first, const Pending& result) const;
    void note_texts(const Row& row);
    void require_good(const Row& row, Pending& result) const;
    void note_device(const Row& row);
    void require_stated_units() const;

    Layout reading_;
    Numbers numbers_;
    const KnownRows* known_;
    Places places_;
    std::vector<Column> columns_;
    std::vector<Pending> results_;
    std::map<std::string, std::size_t> by_id_;
    std::size_t rows_left_out_ = 0;  ///< those that no 'where' takes
    std::string first_left_out_;
    struct Text {
        std::string first, at;
        std::string other, other_at;  ///< the first one that differs
    };
    std::map<std::string, Text> texts_;  ///< by field that the layout does not place
    std::set<std::string> devices_;
};

// Reading any JSON by paths, for the formats that are it.

/// `rows` of the layout lead to the rows, all other paths begin there; a place that does not begin
/// with '/' is a member of the row. Throws
/// util::InputError, which begins with the document's source or with the row's path.
Results read_rows_of_json(const document::JsonDocument& document, const Layout& reading,
                          const KnownRows* known = nullptr);

// Reading any text by a regular expression, for the formats that are text. One match takes time in
// proportion to the text, whatever the expression; many that look at all of it take more.

/// Throws util::InputError for a pattern (`rows`) that is none, and for a place that is no group of
/// it.
void check_pattern(const Layout& reading);

/// `^` and `$` match at line ends. Groups that the layout does not name are parameters; the
/// group "case" is the name. None if nothing matches.
Results read_matches(std::string_view text, const Layout& reading,
                     const KnownRows* known = nullptr);

}  // namespace perfgate::benchmark
