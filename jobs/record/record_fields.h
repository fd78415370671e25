#pragma once

#include <concepts>
#include <type_traits>

#include "jobs/record/step_record.h"

namespace egpurun::jobs {

// Calls visit(name, member) for every field of a record, in the order of the
// JSON line: the one list from which records are written and read.

template <class Record, class Visit>
requires std::same_as<std::remove_const_t<Record>, RunRecord>
void for_each_field(Record& record, Visit&& visit) {
  visit("job_name", record.job_name);
  visit("model", record.model);
  visit("codec", record.codec);
  visit("device", record.device);
  visit("host", record.host);
  visit("rank", record.rank);
  visit("world_size", record.world_size);
  visit("local_rank", record.local_rank);
  visit("parameters", record.parameters);
  visit("global_batch_size", record.global_batch_size);
  visit("first_step", record.first_step);
  visit("started_at", record.started_at);
}

template <class Record, class Visit>
requires std::same_as<std::remove_const_t<Record>, StepRecord>
void for_each_field(Record& record, Visit&& visit) {
  visit("epoch", record.epoch);
  visit("step", record.step);
  visit("step_ms", record.step_time);
  visit("data_ms", record.data_time);
  visit("forward_ms", record.forward_time);
  visit("backward_ms", record.backward_time);
  visit("exposed_ms", record.exposed_time);
  visit("optimizer_ms", record.optimizer_time);
  visit("communication_ms", record.communication_time);
  visit("samples", record.samples);
  visit("global_samples", record.global_samples);
  visit("loss", record.loss);
  visit("learning_rate", record.learning_rate);
  visit("gradient_bytes", record.gradient_bytes);
  visit("sent_bytes", record.sent_bytes);
  visit("received_bytes", record.received_bytes);
  visit("buckets", record.buckets);
}

template <class Record, class Visit>
requires std::same_as<std::remove_const_t<Record>, EvaluationRecord>
void for_each_field(Record& record, Visit&& visit) {
  visit("epoch", record.epoch);
  visit("step", record.step);
  visit("loss", record.loss);
  visit("accuracy", record.accuracy);
  visit("samples", record.samples);
  visit("time_ms", record.time);
}

} // namespace egpurun::jobs
