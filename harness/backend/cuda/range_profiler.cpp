// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/range_profiler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

namespace perfgate::backend::cuda {
namespace {

// CUPTI may request more passes than it announced, but not without bound.
constexpr std::size_t extra_passes = 8;

}  // namespace

// One collection: the enabled profiler, its buffers (which must live until decoding is done) and
// the list of what was launched.
class RangeProfiler::Session final : public Pass {
  public:
    Session(RangeProfiler& owner, const Request& request, const CounterConfig& config)
        : owner_(owner),
          request_(request),
          config_(config),
          session_(cupti::own_counters(), owner.context_.get()) {
        session_.configure(request.metrics, config.image,
                           request.mode == RangeMode::kernel ? CUPTI_AutoRange : CUPTI_UserRange,
                           request.max_ranges, image_);
        owner_.subscriber_.on_launch(
            [this](const Subscriber::Launch& entered) { note(entered.context, entered.symbol); });
    }

    ~Session() override {
        try {
            owner_.subscriber_.on_launch({});
        } catch (const std::exception&) {
            // Unsubscribing later stops the callbacks too.
        }
    }

    CounterData run(const std::function<void(Pass&)>& work) {
        bool all_submitted = false;
        std::vector<Launch> first_pass;
        for (index_ = 0; !all_submitted; ++index_) {
            if (index_ > config_.passes + extra_passes) {
                throw util::Error("counters need more passes than the {} that CUPTI announced",
                                  config_.passes);
            }
            launches_.clear();
            session_.start();
            try {
                work(*this);
                owner_.context_.synchronize();
            } catch (...) {
                session_.stop_quietly();
                throw;
            }
            all_submitted = session_.stop();
            if (index_ == 0) {
                first_pass = launches_;
            } else if (launches_ != first_pass) {
                throw util::Error(differing(first_pass));
            }
        }
        return decode();
    }

    void launch(std::size_t tag, const std::function<void()>& submit) override {
        if (request_.mode == RangeMode::kernel) {
            const std::lock_guard lock(mutex_);
            tag_ = tag;
        } else {
            const std::string name = std::to_string(tag);
            PERFGATE_CUPTI_PARAMS(CUpti_RangeProfiler_PushRange_Params, push);
            push.pRangeProfilerObject = session_.get();
            push.pRangeName = name.c_str();
            check(cupti::own().cuptiRangeProfilerPushRange(&push), "cannot open a counter range");
            launches_.push_back({tag, {}});
        }
        submit();
        if (request_.mode == RangeMode::kernel) {
            const std::lock_guard lock(mutex_);
            tag_.reset();
        } else {
            PERFGATE_CUPTI_PARAMS(CUpti_RangeProfiler_PopRange_Params, pop);
            pop.pRangeProfilerObject = session_.get();
            check(cupti::own().cuptiRangeProfilerPopRange(&pop), "cannot close a counter range");
        }
    }

    [[nodiscard]] std::size_t index() const override { return index_; }

  private:
    struct Launch {
        std::optional<std::size_t> tag;
        std::string symbol;
        bool operator==(const Launch&) const = default;
    };

    // Called from the launch callback, perhaps on one of the workload's own threads.
    void note(CUcontext context, std::string_view symbol) {
        // Kernels of other contexts are not profiled and do not become ranges.
        if (request_.mode != RangeMode::kernel || context != owner_.context_.get()) return;
        const std::lock_guard lock(mutex_);
        launches_.push_back({tag_, std::string(symbol)});
    }

    std::string differing(const std::vector<Launch>& first) const {
        std::string text = fmt::format(
            "the kernels differ between counter passes: pass 0 launched {}, pass {} launched {}",
            first.size(), index_, launches_.size());
        for (std::size_t i = 0; i < std::min(first.size(), launches_.size()); ++i) {
            if (first[i] != launches_[i]) {
                text += fmt::format("; launch {} was {}, then {}", i, first[i].symbol,
                                    launches_[i].symbol);
                break;
            }
        }
        return text + "; a workload must do the same in each launch";
    }

    CounterData decode() {
        const cupti::RangeSession::Ranges found = session_.decode(image_);
        if (found.dropped != 0) {
            throw util::Error("{} counter ranges were dropped: {} launched, room for {}",
                              found.dropped, launches_.size(), request_.max_ranges);
        }
        CounterData data;
        data.passes = index_;
        if (found.total != launches_.size()) {
            throw util::Error("{} counter ranges for {} launches: they cannot be matched",
                              found.total, launches_.size());
        }
        const std::vector<std::size_t> range_of = range_of_launches();
        for (std::size_t i = 0; i < launches_.size(); ++i) {
            if (!launches_[i].tag) continue;
            data.ranges.push_back(
                {.tag = *launches_[i].tag,
                 .symbol = launches_[i].symbol,
                 .values = owner_.host().evaluate(image_, range_of[i], request_.metrics)});
        }
        return data;
    }

    // Which range belongs to launch i, by the range's name: the tag, or the launch's number.
    std::vector<std::size_t> range_of_launches() const {
        std::map<std::string, std::size_t> range_named;
        for (std::size_t range = 0; range < launches_.size(); ++range) {
            PERFGATE_CUPTI_PARAMS(CUpti_RangeProfiler_CounterData_GetRangeInfo_Params, info);
            info.pCounterDataImage = image_.data();
            info.counterDataImageSize = image_.size();
            info.rangeIndex = range;
            info.rangeDelimiter = "/";
            check(cupti::own().cuptiRangeProfilerCounterDataGetRangeInfo(&info),
                  "cannot read a counter range's name");
            range_named[info.rangeName != nullptr ? info.rangeName : ""] = range;
        }
        std::vector<std::size_t> result;
        for (std::size_t i = 0; i < launches_.size(); ++i) {
            const std::size_t number =
                request_.mode == RangeMode::kernel ? i : launches_[i].tag.value_or(i);
            const auto found = range_named.find(std::to_string(number));
            if (found == range_named.end()) {
                throw util::Error("there is no counter range named {}", number);
            }
            result.push_back(found->second);
        }
        return result;
    }

    RangeProfiler& owner_;
    const Request& request_;
    const CounterConfig& config_;
    std::vector<std::uint8_t> image_;  ///< outlives the session
    cupti::RangeSession session_;
    std::size_t index_ = 0;
    std::mutex mutex_;
    std::optional<std::size_t> tag_;
    std::vector<Launch> launches_;
};

RangeProfiler::RangeProfiler(const PrimaryContext& context, int ordinal, Subscriber& subscriber)
    : context_(context), subscriber_(subscriber) {
    const cupti::Api& api = cupti::own_counters();
    PERFGATE_CUPTI_PARAMS(CUpti_Profiler_Initialize_Params, params);
    check(cupti::own().cuptiProfilerInitialize(&params), "cannot initialise the counters");
    cupti::require_counters(api, context.device());
    std::vector<std::uint8_t> availability = cupti::availability_of(api, context.get());
    host_ = std::make_unique<HostEvaluator>(cupti::chip_of(api, static_cast<std::size_t>(ordinal)),
                                            std::move(availability));
}

RangeProfiler::~RangeProfiler() {
    PERFGATE_CUPTI_PARAMS(CUpti_Profiler_DeInitialize_Params, params);
    cupti::own().cuptiProfilerDeInitialize(&params);
}

const CounterConfig& RangeProfiler::config(const std::vector<std::string>& metrics) {
    const auto known = configs_.find(metrics);
    if (known != configs_.end()) return known->second;
    return configs_.emplace(metrics, host_->configure(metrics)).first->second;
}

std::size_t RangeProfiler::bytes_per_range(const std::vector<std::string>& metrics) {
    const auto known = bytes_per_range_.find(metrics);
    if (known != bytes_per_range_.end()) return known->second;
    const cupti::RangeSession session(cupti::own_counters(), context_.get());
    const std::size_t bytes = session.data_bytes(metrics, 9) - session.data_bytes(metrics, 1);
    return bytes_per_range_.emplace(metrics, bytes / 8).first->second;
}

CounterData RangeProfiler::collect(const Request& request, const std::function<void(Pass&)>& run) {
    if (request.max_ranges == 0) throw util::Error("a counter session needs room for a range");
    Session session(*this, request, config(request.metrics));
    return session.run(run);
}

}  // namespace perfgate::backend::cuda
