#include "nn/backend.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <stdexcept>

#include "nn/model_zoo.hpp"
#include "tests/nn/refusal_of.hpp"

namespace rubato::nn {
namespace {

TEST(Backend, AutoIsTheFirstName) {
  EXPECT_EQ(backend("auto"), backend(backend_names().front()));
  EXPECT_EQ(backend("eigen"), Backend::eigen);
}

TEST(Backend, EigenIsAlwaysThere) { EXPECT_THAT(backend_names(), testing::Contains("eigen")); }

TEST(Backend, AnUnknownNameListsTheValidOnes) {
  EXPECT_THROW(backend("cudnn"), std::invalid_argument);
  EXPECT_THAT(refusal_of([] { backend("cudnn"); }),
              testing::AllOf(testing::HasSubstr("\"cudnn\""), testing::HasSubstr("auto"),
                             testing::HasSubstr("eigen")));
}

TEST(SelectKernels, AnUnknownInstructionSetListsTheValidOnes) {
  EXPECT_THROW(select_kernels(Backend::eigen, "avx3"), std::invalid_argument);
  EXPECT_THAT(refusal_of([] { select_kernels(Backend::eigen, "avx3"); }),
              testing::AllOf(testing::HasSubstr("\"avx3\""),
                             testing::HasSubstr("auto, sse41, avx, avx2, avx512_core")));
}

TEST(SelectKernels, EigenIsCompiledForOneInstructionSet) {
  const std::string compiled = kernels(Backend::eigen).isa;
  const std::string other = compiled == "sse41" ? "avx" : "sse41";
  EXPECT_THAT(refusal_of<std::logic_error>([&] { select_kernels(Backend::eigen, other); }),
              testing::HasSubstr("this build's Eigen kernels are for " + compiled));
}

// What is selected holds for the whole process: each case has a process of its own.
void exit_if(bool holds) { std::exit(holds ? 0 : 1); }

TEST(SelectKernelsDeathTest, LimitsAndReportsTheInstructionSet) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  for (const std::string isa : {"sse41", "avx", "avx2"}) {
    if (backend("auto") == Backend::eigen) break;  // nothing that could be limited
    EXPECT_EXIT(
        {
          select_kernels(backend("auto"), isa);
          exit_if(kernels(backend("auto")).isa == isa);
        },
        testing::ExitedWithCode(0), "");
  }
}

TEST(SelectKernelsDeathTest, ASecondCallMustNotChangeTheInstructionSet) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        select_kernels(backend("auto"), "auto");
        select_kernels(backend("auto"), "auto");
        try {
          select_kernels(backend("auto"), "avx2");
        } catch (const std::logic_error& error) {
          exit_if(std::string(error.what()).find("cannot change to avx2") != std::string::npos);
        }
        exit_if(false);
      },
      testing::ExitedWithCode(0), "");
}

// Runs a model of that backend once, so that its kernels have been in use.
void run_once(Backend chosen) {
  const auto model = make_model("mlp:4", {4, 4, 1}, 2, chosen);
  alignas(64) std::array<float, 1024> parameters{};
  alignas(64) std::array<float, 1024> gradient{};
  alignas(64) std::array<float, 16> inputs{};
  const std::array<std::int32_t, 1> labels{};
  const std::size_t elements = model->layout().total_elements();
  model->use_parameters(std::span(parameters).first(elements));
  model->gradient({inputs, labels, {}}, std::span(gradient).first(elements));
}

TEST(SelectKernelsDeathTest, BackendsMayAlternateAfterTheyHaveRun) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto alternate = [] {
    for (const Backend chosen : {backend("auto"), Backend::eigen, backend("auto")}) {
      select_kernels(chosen, "auto");
      run_once(chosen);
    }
    exit_if(true);
  };
  EXPECT_EXIT(alternate(), testing::ExitedWithCode(0), "");
}

TEST(Kernels, NameBackendAndVersion) {
  EXPECT_EQ(kernels(Backend::eigen).backend, "eigen");
  EXPECT_THAT(kernels(Backend::eigen).version, testing::StartsWith("Eigen 3."));
  for (const std::string& name : backend_names()) {
    EXPECT_EQ(kernels(backend(name)).backend, name);
    EXPECT_FALSE(kernels(backend(name)).isa.empty());
  }
}

}  // namespace
}  // namespace rubato::nn
