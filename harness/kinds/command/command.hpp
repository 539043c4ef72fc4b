// SPDX-License-Identifier: Apache-2.0
// A program that a suite names, and a case of it: a part of what it does on the GPU. A benchmark
// (kinds/benchmark) is a program that measures itself.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "model/capture_range.hpp"
#include "model/launch_size.hpp"
#include "model/subject.hpp"

namespace perfgate::command {

/// Default of `max_overhead`.
inline constexpr double usual_max_overhead = 0.05;

/// A program to be measured, with its parameters filled in. No shell is involved.
struct Command {
    std::string name;
    std::vector<std::string> words;  ///< the first is found through its PATH
    /// Run in the same folder after the program: exit status 0 means that its result is correct.
    /// Empty: the result is not checked.
    std::vector<std::string> check;
    model::Variables environment;  ///< beside the inherited ones
    /// Those whose value is the command line's, not the suite's.
    std::vector<std::string> overridden = {};
    std::string folder;  ///< to run in; relative: to the suite's folder
    double time_limit_s = 600;
    int exit_status = 0;                       ///< the expected exit status
    int warm_up_runs = 0;                      ///< before the first one that counts
    int gpus = 1;                              ///< that it sees
    double max_overhead = usual_max_overhead;  ///< as CaseResult has it
    /// Fingerprints of its kernels' machine code are taken, by which unchanged launches are known.
    bool code = true;
    /// The part of its recorded activity that its cases are about.
    model::CaptureRange capture{};
    /// How the file ends that takes the place of `{out}`, which a benchmark writes, recorded or
    /// not. Empty: it is no benchmark.
    std::string out_extension;
    bool recorded = false;  ///< a benchmark's, for the labels of its `measure`

    bool operator==(const Command&) const = default;
};

/// The part of a program's activity that a case measures. The patterns are globs, if not said
/// otherwise.
struct Piece {
    enum class Kind {
        program,  ///< all of it
        range,    ///< NVTX ranges: each is an instance
        kernels,  ///< by name: each launch is an instance, or with `within` those of each range
    };
    Kind kind = Kind::program;
    std::string pattern;      ///< of the range's or the kernel's name
    std::string within;       ///< for kernels: the ranges they are launched in; empty: anywhere
    bool own_thread = false;  ///< a range contains only launches of its own thread
    std::int64_t skip = 0;    ///< how many first instances of each process are left out
    std::int64_t counted =
        1;  ///< for kernels: launches of each process whose counters are collected
    /// For kernels: only launches of this size.
    model::LaunchSize size{};

    bool operator==(const Piece&) const = default;
};

/// What the cases of programs and benchmarks have in common: the command whose processes they
/// share.
class CommandSubject : public model::Subject {
  public:
    explicit CommandSubject(std::shared_ptr<const Command> command)
        : command_(std::move(command)) {}

    [[nodiscard]] const Command& command() const { return *command_; }

    void describe(model::CaseResult& result) const override;
    int gpus() const override { return command_->gpus; }
    std::string group_identity() const override;
    model::SideDifferences sides() const override {
        return {.checkouts = true, .environments = true};
    }
    std::string same_as(const model::Subject& base) const override;

  protected:
    [[nodiscard]] const std::shared_ptr<const Command>& shared_command() const { return command_; }
    /// The command on a side of a comparison.
    [[nodiscard]] std::shared_ptr<const Command> there(const model::Placement& placement) const;

  private:
    std::shared_ptr<const Command> command_;
};

/// A case of a program that is recorded.
class Program final : public CommandSubject {
  public:
    Program(std::shared_ptr<const Command> command, Piece piece)
        : CommandSubject(std::move(command)), piece_(std::move(piece)) {}

    [[nodiscard]] const Piece& piece() const { return piece_; }

    std::string_view kind() const override { return "program"; }
    std::string_view in_words() const override { return "a program"; }
    void describe(model::CaseResult& result) const override;
    std::string identity() const override;
    std::shared_ptr<const model::Subject> placed(const model::Placement& placement) const override;

  private:
    Piece piece_;
};

/// Of a case of a program or benchmark, and of a program's.
const Command& command_of(const model::Subject& subject);
const Piece& piece_of(const model::Subject& subject);

}  // namespace perfgate::command
