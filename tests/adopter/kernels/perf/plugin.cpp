#include <cmath>
#include <memory>
#include <vector>

#include "perfgate.hpp"
#include "sums.hpp"
using namespace perfgate::sdk;

class Sum : public Instance {
  public:
    Sum(const Values& values, bool pairwise)
        : values_(static_cast<std::size_t>(values.integer("n"))), pairwise_(pairwise) {}
    void fill(std::uint64_t seed) override {
        for (std::size_t i = 0; i < values_.size(); ++i)
            values_[i] = static_cast<double>((seed + i) % 17);
        result_ = NAN;
    }
    void launch(void*) override {
        result_ = pairwise_ ? pairwise_sum(values_.data(), values_.size()) : plain_sum(values_);
    }
    Verification verify() override {
        long double expected = 0;
        for (const double value : values_) expected += value;
        return {std::abs(static_cast<double>(expected) - result_) < 1e-6, "the sum"};
    }

  private:
    std::vector<double> values_;
    bool pairwise_;
    double result_ = NAN;
};

static Plugin plugin() {
    Variant plain{.name = "plain", .help = "one loop", .target = Target::host};
    plain.create = [](const Values& values) { return std::make_unique<Sum>(values, false); };
    Variant pairwise{.name = "pairwise", .help = "halves", .target = Target::host};
    pairwise.create = [](const Values& values) { return std::make_unique<Sum>(values, true); };
    Workload sum;
    sum.name = "sum";
    sum.params = {Param::integer("n", "elements", 1, 1 << 30)};
    sum.variants = {plain, pairwise};
    return {.name = "sums", .cuda_module = "", .workloads = {sum}};
}
PERFGATE_PLUGIN(plugin);
