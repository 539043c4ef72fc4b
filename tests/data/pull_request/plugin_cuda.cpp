// SPDX-License-Identifier: Apache-2.0
// The CUDA module: device memory around the stages.
#include "catalogue.hpp"
#include "checks.hpp"
#include "common/cuda.hpp"
#include "common/device_inputs.hpp"
#include "kernels.hpp"

namespace camera {
namespace {

using common::DeviceMemory;

std::size_t bytes(std::int64_t elements, std::size_t element) {
    return static_cast<std::size_t>(elements) * element;
}

void fill_floats(DeviceMemory& memory, std::uint64_t operand, std::uint64_t seed) {
    common::fill_device(memory.get(), common::Dtype::kF32, operand, seed,
                        memory.bytes() / sizeof(float));
}

/// What all stages have: an output, which is poisoned, and the seed of the inputs.
class Stage : public sdk::Instance {
  public:
    explicit Stage(std::size_t out_bytes) : out_(out_bytes, "the output") {}

    void fill(std::uint64_t seed) final {
        seed_ = seed;
        fill_inputs();
        out_.poison();
        common::check(cudaStreamSynchronize(nullptr), "filling the inputs");
    }
    void launch(void* stream) final {
        common::check(enqueue(static_cast<cudaStream_t>(stream)), "launch");
    }

  protected:
    virtual void fill_inputs() = 0;
    virtual cudaError_t enqueue(cudaStream_t stream) = 0;

    DeviceMemory out_;
    std::uint64_t seed_ = 0;
};

class ToneCurve : public Stage {
  public:
    explicit ToneCurve(const sdk::Values& values)
        : Stage(bytes(kPlanes * values.integer("pixels"), sizeof(float))),
          pixels_(values.integer("pixels")),
          raw_(bytes(kPlanes * pixels_, sizeof(std::uint16_t)), "the sensor values"),
          curves_(bytes(std::int64_t{kPlanes} * kCodes, sizeof(float)), "the curves") {}

    sdk::Verification verify() override {
        return check_tone_curve(out_.read<float>(), pixels_, seed_);
    }

  private:
    void fill_inputs() override {
        common::check(fill_codes(raw_.as<std::uint16_t>(), kPlanes * pixels_, kCodes - 1,
                                 common::stream_key(seed_, kFirst), nullptr),
                      "filling the sensor values");
        fill_floats(curves_, kSecond, seed_);
    }
    cudaError_t enqueue(cudaStream_t stream) override {
        return tone_curve(raw_.as<std::uint16_t>(), curves_.as<float>(), out_.as<float>(), pixels_,
                          stream);
    }

    std::int64_t pixels_;
    DeviceMemory raw_, curves_;
};

class Blend : public Stage {
  public:
    explicit Blend(const sdk::Values& values)
        : Stage(bytes(values.integer("n"), 1)),
          a_(out_.bytes(), "the first image"),
          b_(out_.bytes(), "the second image") {}

    sdk::Verification verify() override { return check_blend(out_.read<std::uint8_t>(), seed_); }

  private:
    void fill_inputs() override {
        const auto n = static_cast<std::int64_t>(out_.bytes());
        common::check(
            fill_bytes(a_.as<std::uint8_t>(), n, common::stream_key(seed_, kFirst), nullptr),
            "filling the first image");
        common::check(
            fill_bytes(b_.as<std::uint8_t>(), n, common::stream_key(seed_, kSecond), nullptr),
            "filling the second image");
    }
    cudaError_t enqueue(cudaStream_t stream) override {
        return blend(a_.as<std::uint8_t>(), b_.as<std::uint8_t>(), out_.as<std::uint8_t>(),
                     static_cast<std::int64_t>(out_.bytes()), kBlendWeight, stream);
    }

    DeviceMemory a_, b_;
};

class FilterBank : public Stage {
  public:
    explicit FilterBank(const sdk::Values& values)
        : Stage(bytes(kFilters * values.integer("n"), sizeof(float))),
          n_(values.integer("n")),
          signal_(bytes(n_ + kTaps - 1, sizeof(float)), "the signal"),
          taps_(bytes(std::int64_t{kTaps} * kFilters, sizeof(float)), "the taps") {}

    sdk::Verification verify() override { return check_filter_bank(out_.read<float>(), n_, seed_); }

  private:
    void fill_inputs() override {
        fill_floats(signal_, kFirst, seed_);
        fill_floats(taps_, kSecond, seed_);
    }
    cudaError_t enqueue(cudaStream_t stream) override {
        return filter_bank(signal_.as<float>(), taps_.as<float>(), out_.as<float>(), n_, stream);
    }

    std::int64_t n_;
    DeviceMemory signal_, taps_;
};

class Pointwise : public Stage {
  public:
    explicit Pointwise(const sdk::Values& values)
        : Stage(bytes(kFeatures * values.integer("pixels"), sizeof(float))),
          pixels_(values.integer("pixels")),
          x_(out_.bytes(), "the features"),
          weights_(bytes(std::int64_t{kFeatures} * kFeatures, sizeof(float)), "the weights"),
          bias_(bytes(kFeatures, sizeof(float)), "the bias") {}

    sdk::Verification verify() override {
        return check_pointwise(out_.read<float>(), pixels_, seed_);
    }

  private:
    void fill_inputs() override {
        fill_floats(x_, kFirst, seed_);
        fill_floats(weights_, kSecond, seed_);
        fill_floats(bias_, kThird, seed_);
    }
    cudaError_t enqueue(cudaStream_t stream) override {
        return pointwise(x_.as<float>(), weights_.as<float>(), bias_.as<float>(), out_.as<float>(),
                         pixels_, stream);
    }

    std::int64_t pixels_;
    DeviceMemory x_, weights_, bias_;
};

class RowScan : public Stage {
  public:
    explicit RowScan(const sdk::Values& values)
        : Stage(bytes(values.integer("rows") * values.integer("cols"), sizeof(float))),
          rows_(static_cast<int>(values.integer("rows"))),
          cols_(static_cast<int>(values.integer("cols"))),
          in_(out_.bytes(), "the rows") {}

    sdk::Verification verify() override {
        return check_row_scan(out_.read<float>(), rows_, cols_, seed_);
    }

  private:
    void fill_inputs() override { fill_floats(in_, kFirst, seed_); }
    cudaError_t enqueue(cudaStream_t stream) override {
        return row_scan(in_.as<float>(), out_.as<float>(), rows_, cols_, stream);
    }

    int rows_, cols_;
    DeviceMemory in_;
};

class RowSum : public Stage {
  public:
    explicit RowSum(const sdk::Values& values)
        : Stage(bytes(values.integer("rows"), sizeof(float))),
          rows_(static_cast<int>(values.integer("rows"))),
          cols_(static_cast<int>(values.integer("cols"))),
          in_(bytes(values.integer("rows") * values.integer("cols"), sizeof(float)), "the rows") {}

    sdk::Verification verify() override { return check_row_sum(out_.read<float>(), cols_, seed_); }

  private:
    void fill_inputs() override { fill_floats(in_, kFirst, seed_); }
    cudaError_t enqueue(cudaStream_t stream) override {
        return row_sum(in_.as<float>(), out_.as<float>(), rows_, cols_, stream);
    }

    int rows_, cols_;
    DeviceMemory in_;
};

class Normalize : public Stage {
  public:
    explicit Normalize(const sdk::Values& values)
        : Stage(bytes(values.integer("n"), sizeof(float))), in_(out_.bytes(), "the values") {}

    sdk::Verification verify() override { return check_normalize(out_.read<float>(), seed_); }

  private:
    void fill_inputs() override { fill_floats(in_, kFirst, seed_); }
    cudaError_t enqueue(cudaStream_t stream) override {
        return normalize(in_.as<float>(), out_.as<float>(),
                         static_cast<std::int64_t>(out_.bytes() / sizeof(float)), kMean,
                         kInverseDeviation, stream);
    }

    DeviceMemory in_;
};

template <class T>
Create make() {
    return [](const sdk::Values& values) { return std::make_unique<T>(values); };
}

sdk::Plugin plugin() {
    return catalogue([](std::string_view stage) -> Create {
        if (stage == "tone_curve") return make<ToneCurve>();
        if (stage == "blend") return make<Blend>();
        if (stage == "filter_bank") return make<FilterBank>();
        if (stage == "pointwise") return make<Pointwise>();
        if (stage == "row_scan") return make<RowScan>();
        if (stage == "row_sum") return make<RowSum>();
        return make<Normalize>();
    });
}

}  // namespace
}  // namespace camera

PERFGATE_PLUGIN(camera::plugin);
