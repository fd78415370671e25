#include "jobs/spec/job_keys.h"

#include <gtest/gtest.h>

#include "jobs/spec/host_entry.h"
#include "jobs/spec/nearest_name.h"

namespace egpurun::jobs {
namespace {

TEST(EditDistance, CountsEdits) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("abc", ""), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("batchsize", "batch_size"), 1u);
}

TEST(NearestName, FindsTypingErrorsOnly) {
  EXPECT_EQ(nearest_name("epoch", {"epochs", "max_steps"}), "epochs");
  EXPECT_EQ(nearest_name("zzzzzzzz", {"epochs", "max_steps"}), std::nullopt);
  EXPECT_EQ(nearest_name(std::string(1000, 'e'), {"epochs"}), std::nullopt);
  EXPECT_EQ(nearest_name("x", {}), std::nullopt);
}

std::string limits_of(const char* section, const char* key) {
  return limits_text(*find_job_key(section, key));
}

TEST(JobKeys, LimitsAsText) {
  EXPECT_EQ(limits_of("job", "name"), "");
  EXPECT_EQ(limits_of("job", "seed"), "at least 0");
  EXPECT_EQ(limits_of("model", "dropout"), "0 to below 1");
  EXPECT_EQ(limits_of("train", "learning_rate"), "above 0");
  EXPECT_EQ(limits_of("train", "max_steps"), "0 to 1000000000000");
  EXPECT_EQ(limits_of("train", "optimizer"), "sgd or adamw");
  EXPECT_EQ(limits_of("train", "device"), "auto, cpu or cuda");
}

TEST(JobKeys, TypesAsText) {
  EXPECT_EQ(type_text(*find_job_key("data", "shuffle")), "true or false");
  EXPECT_EQ(type_text(*find_job_key("train", "epochs")), "a whole number");
  EXPECT_EQ(type_text(*find_job_key("train", "momentum")), "a number");
  EXPECT_EQ(type_text(*find_job_key("model", "name")), "a text");
  EXPECT_EQ(type_text(*find_job_key("hosts", "list")), "a list of texts");
  EXPECT_EQ(find_job_key("train", "name"), nullptr);
}

TEST(HostEntry, ReadsNamesAndSlots) {
  EXPECT_EQ(parse_host_entry("pc1")->slots, 1);
  EXPECT_EQ(parse_host_entry("pc1:12")->slots, 12);
  EXPECT_EQ(parse_host_entry("10.0.0.7:2")->host, "10.0.0.7");
  for (const char* bad :
       {"",
        ":",
        "pc1:",
        ":2",
        "pc1:0",
        "pc1:-1",
        "pc1:2:3",
        "pc1:9999999999999999999999",
        "-np",
        "pc 1",
        "pc1;reboot",
        "$(id)"}) {
    EXPECT_FALSE(parse_host_entry(bad)) << bad;
  }
}

TEST(HostEntry, KnowsNetworks) {
  for (const char* good :
       {"eth0", "10.0.0.0/24", "eth0,10.0.0.0/8", "enp3s0.7", "wl@if3"}) {
    EXPECT_TRUE(is_network_choice(good)) << good;
  }
  for (const char* bad :
       {"",
        ",",
        "eth0,",
        "10.0.0.0/33",
        "10.0.0/24",
        "256.0.0.0/8",
        "1.2.3.4.5/8",
        "an_interface_name_too_long",
        "eth0 --help"}) {
    EXPECT_FALSE(is_network_choice(bad)) << bad;
  }
}

} // namespace
} // namespace egpurun::jobs
