// SPDX-License-Identifier: Apache-2.0
// docs/metrics.md lists unit, direction, class and source of every metric as the catalogue has
// them. PERFGATE_UPDATE_GOLDEN=1 writes the table anew: read the diff before committing it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "metrics/catalogue.hpp"

namespace perfgate::metrics {
namespace {

const std::string page = PERFGATE_DOCS "/metrics.md";
const std::string heading = "| metrics | unit | better | class | source |\n";

struct Row {
    std::string names, properties;
};

/// A line for those that differ by name alone, in the order of the catalogue.
std::string table() {
    std::vector<Row> rows;
    for (const Metric& metric : catalogue()) {
        const model::MetricDefinition& definition = metric.definition;
        std::string better(to_text(definition.direction));
        if (definition.direction == model::Direction::none) better = "neither";
        std::string properties = " | " + definition.unit + " | " + better + " | ";
        properties += to_text(definition.metric_class);
        properties += " | `" + std::string(source_text(metric)) + "` |\n";
        const auto same = std::find_if(
            rows.begin(), rows.end(), [&](const Row& row) { return row.properties == properties; });
        const std::string name = "`" + definition.name + "`";
        if (same == rows.end()) {
            rows.push_back({name, properties});
        } else {
            same->names += ", " + name;
        }
    }
    std::string text = heading + "|---|---|---|---|---|\n";
    for (const Row& row : rows) text += "| " + row.names + row.properties;
    return text;
}

std::string read_page(const std::string& name = page) {
    std::ostringstream text;
    text << std::ifstream(name).rdbuf();
    return text.str();
}

TEST(MetricsPage, ListsEveryMetricAsTheCatalogueHasIt) {
    std::string text = read_page();
    const std::size_t begin = text.find(heading);
    ASSERT_NE(begin, std::string::npos) << page << " has no line " << heading;
    const std::size_t end = std::min(text.find("\n\n", begin), text.size() - 1) + 1;
    if (std::getenv("PERFGATE_UPDATE_GOLDEN") != nullptr) {
        std::ofstream(page) << text.replace(begin, end - begin, table());
        return;
    }
    EXPECT_EQ(text.substr(begin, end - begin), table());
}

TEST(MetricsRoom, SaysByWhichMethodEachSourceMeasures) {
    const std::string text = read_page(PERFGATE_DOCS "/../harness/metrics/README.md");
    ASSERT_NE(text.find("| source | method of its values |"), std::string::npos);
    for (const Metric& metric : catalogue()) {
        const std::string source(source_text(metric));
        EXPECT_NE(text.find("\n| `" + source + "` | "), std::string::npos) << source;
    }
}

}  // namespace
}  // namespace perfgate::metrics
