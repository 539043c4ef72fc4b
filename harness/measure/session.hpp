// SPDX-License-Identifier: Apache-2.0
// One run that is being measured: its cases, a chain of worker processes for each device, the
// journal. Its caller (runner/) decides what is measured next and reads the run in between. Loads
// no plugin, creates no context.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "measure/device_chain.hpp"
#include "measure/item.hpp"
#include "measure/journal.hpp"
#include "measure/measuring.hpp"
#include "measure/workers.hpp"
#include "model/plan.hpp"
#include "model/run.hpp"

namespace perfgate::measure {

/// A device to measure on: every one of a run has the same key.
struct MeasuredDevice {
    std::string board;  ///< model::Device::board
    Workers* workers = nullptr;
};

/// One recorded launch of a case that has no result yet: kernels and host code.
struct RecordedLaunch {
    model::CaseIndex at;
    model::CaseResult result;
};

/// Every case has a result in the run, in the plan's order. All batches of a case are from one
/// device; with several devices, the cases with the most work are first assigned to whichever is
/// free. An error of a worker costs only its case; if no worker can be started, operations throw
/// util::Error. After an interruption operations return early.
class Session final : public Measuring {
  public:
    /// `plan`, `capabilities` (of the first device), the devices' workers and the journal outlive
    /// the session.
    Session(const model::Plan& plan, const Capabilities& capabilities,
            std::vector<MeasuredDevice> devices, MeasureOptions options, Journal& journal);
    Session& operator=(Session&&) = delete;  // nor copied

    enum class Unsupported {
        refuse,  ///< throws util::InputError naming all of them
        skip,    ///< the case is skipped, with the reason
    };
    /// Call it first: asks the plugins about the cases, handles those whose parameters their
    /// variants do not support, and takes over resumed results.
    void prepare(Unsupported unsupported);

    /// Cases that an earlier run measured on one of these devices are measured on the same one.
    /// Between prepare() and measuring.
    void keep_devices_of(const model::Run& earlier);

    /// One launch of each case that has no result yet. A case that fails here is left out:
    /// measuring it says why.
    std::vector<RecordedLaunch> record_launches();
    /// Skips such a case as unchanged, for this reason.
    void leave_out(RecordedLaunch launch, const std::string& reason);

    /// The first process of every case: verifies, times, collects the counters.
    void measure_first();
    /// The same, and then batches in fresh processes until each case has had as many as
    /// MeasureOptions::processes says.
    void measure_all();
    /// The machine code of these cases, each in a process of its own, measured or not; that of a
    /// program's in processes of theirs. Cases that failed are left out. An interruption is the
    /// problem of those that it leaves without, not of the run.
    std::vector<model::CaseCode> machine_code(const std::vector<model::CaseIndex>& cases);
    /// Further processes of the usual run, until each of these cases has had this many. In so many
    /// of them, or in others after them, the counters are collected again.
    void fill_up(const std::vector<model::CaseIndex>& cases, std::size_t processes,
                 std::size_t collections = 0);
    /// What recording costs these cases is measured in their next processes, though it is known.
    void look_slower(const std::vector<model::CaseIndex>& cases);
    /// Excludes the batches that were taken at another clock, and measures cases with too few left
    /// as often again.
    void replace_excluded();
    /// Collects the counters of these cases further times, each in a process of its own.
    void collect_again(const std::vector<model::CaseIndex>& cases, std::int64_t round,
                       std::size_t times);
    /// One process on each device, for its own cases among these.
    void pass(const std::vector<model::CaseIndex>& cases, std::int64_t round);
    /// Like pass(), and adds the processes to the total of the progress.
    void measure_again(const std::vector<model::CaseIndex>& cases, std::int64_t round,
                       std::size_t processes) override;
    /// So many processes with a batch of each of so many cases follow.
    void announce(std::size_t cases, std::size_t processes);

    const model::Run& run() const override { return run_; }
    bool interrupted() const override { return shared_.interrupted; }
    void interrupt() { shared_.interrupted = true; }
    std::size_t done() const { return shared_.done; }
    std::size_t total() const { return shared_.total; }

    /// The finished run: cases with too few batches are invalid, and cases left out by an
    /// interruption say so. The last operation.
    model::Run finish();

  private:
    template <class Work>
    void on_devices(const Work& work);
    template <class Work>
    void begin(const Work& work);
    Item* item_at(const model::CaseIndex& at);
    /// Nothing: interrupted.
    std::optional<model::CaseCode> code_of(const Item& item);
    /// Those of the cases that are measured and can be measured further.
    std::vector<Item*> items_at(const std::vector<model::CaseIndex>& cases);
    void pass(const std::vector<Item*>& items, std::int64_t round);
    /// Of one group.
    std::vector<model::CaseCode> code_of_program(const std::vector<Item*>& cases);

    std::vector<MeasuredDevice> devices_;
    MeasureOptions options_;
    model::Run run_;
    std::vector<Item> items_;  ///< by place
    Shared shared_;
    std::deque<DeviceChain> chains_;
    PhaseTimes recording_;  ///< of record_launches(), before the chains begin
};

}  // namespace perfgate::measure
