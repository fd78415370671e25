#include "runtime/transport/mpi_transport.h"

#include <fmt/format.h>
// Without Open MPI 4's C++ bindings.
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

#include <climits>
#include <string>

#include "topology/error.h"

namespace egpurun::runtime {

namespace {

void check_mpi(int code, const char* action, int rank) {
  if (code == MPI_SUCCESS) {
    return;
  }
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw Error(
      ErrorKind::kRun,
      std::string("cannot ") + action,
      std::string("MPI says: ") + std::string(text, std::size_t(length)),
      "look for the first rank that failed: the others only lost contact",
      {.host = {}, .rank = rank, .path = {}, .line = 0, .column = 0});
}

class MpiTransport : public Transport {
 public:
  MpiTransport() {
    int provided = MPI_THREAD_SINGLE;
    check_mpi(
        MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided),
        "start MPI",
        -1);
    if (provided < MPI_THREAD_SERIALIZED) {
      throw Error(
          ErrorKind::kEnvironment,
          "MPI with calls from one thread at a time (MPI_THREAD_SERIALIZED)",
          fmt::format("this MPI offers thread level {} only", provided),
          "install an Open MPI that was built with threads");
    }
    check_mpi(
        MPI_Comm_dup(MPI_COMM_WORLD, &communicator_),
        "make a communicator",
        -1);
    MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN);
    MPI_Comm_rank(communicator_, &rank_);
    MPI_Comm_size(communicator_, &world_size_);
  }

  ~MpiTransport() override {
    MPI_Comm_free(&communicator_);
    MPI_Finalize();
  }

  MpiTransport(const MpiTransport&) = delete;
  MpiTransport& operator=(const MpiTransport&) = delete;

  int rank() const override {
    return rank_;
  }

  int world_size() const override {
    return world_size_;
  }

  RequestId start_send(int peer, int tag, std::span<const std::byte> data)
      override {
    const std::uint32_t slot = free_slot();
    check_mpi(
        MPI_Isend(
            data.data(),
            message_length(data.size()),
            MPI_BYTE,
            peer,
            tag,
            communicator_,
            &requests_[slot]),
        "send",
        rank_);
    expected_bytes_[slot] = kNoLength;
    counters_.sent += Bytes{data.size()};
    return RequestId{slot};
  }

  RequestId start_receive(int peer, int tag, std::span<std::byte> data)
      override {
    const std::uint32_t slot = free_slot();
    check_mpi(
        MPI_Irecv(
            data.data(),
            message_length(data.size()),
            MPI_BYTE,
            peer,
            tag,
            communicator_,
            &requests_[slot]),
        "receive",
        rank_);
    expected_bytes_[slot] = static_cast<int>(data.size());
    counters_.received += Bytes{data.size()};
    return RequestId{slot};
  }

  std::size_t progress() override {
    finished_.resize(requests_.size());
    statuses_.resize(requests_.size());
    int count = 0;
    const int code = MPI_Testsome(
        static_cast<int>(requests_.size()),
        requests_.data(),
        &count,
        finished_.data(),
        statuses_.data());
    if (code != MPI_ERR_IN_STATUS) {
      check_mpi(code, "exchange data", rank_);
    }
    if (count == MPI_UNDEFINED) {
      return 0; // no active request
    }
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      const auto slot = static_cast<std::size_t>(finished_[i]);
      if (code == MPI_ERR_IN_STATUS) {
        check_mpi(statuses_[i].MPI_ERROR, "exchange data", rank_);
      }
      check_length(statuses_[i], expected_bytes_[slot]);
      states_[slot] = SlotState::kDone;
    }
    return static_cast<std::size_t>(count);
  }

  bool take_done(RequestId request) override {
    const auto slot = static_cast<std::uint32_t>(request);
    if (states_[slot] != SlotState::kDone) {
      return false;
    }
    states_[slot] = SlotState::kFree;
    free_slots_.push_back(slot);
    return true;
  }

  TransportCounters counters() const override {
    return counters_;
  }

 private:
  static constexpr int kNoLength = -1; // a send has none to check

  enum class SlotState : std::uint8_t {
    kFree,
    kActive,
    kDone
  };

  int message_length(std::size_t bytes) const {
    if (bytes > INT_MAX) {
      throw Error(
          ErrorKind::kRun,
          fmt::format("one message of {} bytes", bytes),
          "MPI counts a message's bytes in 31 bits",
          "send it in pieces",
          {.host = {}, .rank = rank_, .path = {}, .line = 0, .column = 0});
    }
    return static_cast<int>(bytes);
  }

  // A message shorter than its buffer would leave old bytes in a sum.
  void check_length(const MPI_Status& status, int expected) const {
    int bytes = 0;
    if (expected == kNoLength) {
      return;
    }
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    if (bytes != expected) {
      throw Error(
          ErrorKind::kRun,
          fmt::format(
              "a message of {} bytes from rank {}",
              expected,
              status.MPI_SOURCE),
          fmt::format("one of {} bytes came", bytes),
          "all ranks must run the same job file and version",
          {.host = {}, .rank = rank_, .path = {}, .line = 0, .column = 0});
    }
  }

  std::uint32_t free_slot() {
    if (free_slots_.empty()) {
      requests_.push_back(MPI_REQUEST_NULL);
      expected_bytes_.push_back(kNoLength);
      states_.push_back(SlotState::kActive);
      return static_cast<std::uint32_t>(requests_.size() - 1);
    }
    const std::uint32_t slot = free_slots_.back();
    free_slots_.pop_back();
    states_[slot] = SlotState::kActive;
    return slot;
  }

  MPI_Comm communicator_ = MPI_COMM_NULL;
  int rank_ = 0;
  int world_size_ = 1;
  std::vector<MPI_Request> requests_;
  std::vector<SlotState> states_;
  std::vector<std::uint32_t> free_slots_;
  std::vector<int> expected_bytes_; // of a receive
  std::vector<int> finished_;
  std::vector<MPI_Status> statuses_;
  TransportCounters counters_;
};

} // namespace

std::unique_ptr<Transport> make_mpi_transport() {
  return std::make_unique<MpiTransport>();
}

} // namespace egpurun::runtime
