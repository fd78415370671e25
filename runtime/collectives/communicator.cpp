#include "runtime/collectives/communicator.h"

#include <sched.h>
#include <sys/prctl.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "runtime/collectives/control.h"

namespace egpurun::runtime {

namespace {

using Clock = std::chrono::steady_clock;

// A blocking task in the shape of an operation: all its work is in start().
class Task : public Operation {
 public:
  explicit Task(std::function<void(Transport&)> body)
      : body_(std::move(body)) {}

  void start(Transport& transport) override {
    body_(transport);
  }
  bool advance(Transport&) override {
    return true;
  }

 private:
  std::function<void(Transport&)> body_;
};

} // namespace

struct Communicator::State {
  std::mutex mutex;
  std::condition_variable submitted; // for the communication thread
  std::condition_variable finished; // for those who wait
  std::deque<Operation*> queue;
  std::vector<Operation*> unfinished; // queued or active
  std::exception_ptr failure;
  bool stop = false;
  bool ready = false;
  int rank = 0;
  int world_size = 1;
  TransportCounters counters;
  std::atomic<std::int64_t> busy_ns{0};
  std::thread thread;

  void run(const std::function<std::unique_ptr<Transport>()>& make_transport);
  void serve(Transport& transport);
  // Moves newly queued operations to `fresh`; waits for one when idle.
  // False when the thread shall end.
  bool take_queue(std::vector<Operation*>& fresh, bool idle);
  void finish(const std::vector<Operation*>& done, TransportCounters now);
  void run_task(Communicator& self, std::function<void(Transport&)> body);
};

void Communicator::State::run(
    const std::function<std::unique_ptr<Transport>()>& make_transport) {
  // Sleeps of some microseconds shall not be rounded up to 50.
  prctl(PR_SET_TIMERSLACK, 1000UL);
  try {
    const std::unique_ptr<Transport> transport = make_transport();
    {
      const std::lock_guard lock(mutex);
      rank = transport->rank();
      world_size = transport->world_size();
      ready = true;
    }
    finished.notify_all();
    serve(*transport);
  } catch (...) {
    const std::lock_guard lock(mutex);
    failure = std::current_exception();
    ready = true;
  }
  finished.notify_all();
}

bool Communicator::State::take_queue(
    std::vector<Operation*>& fresh,
    bool idle) {
  std::unique_lock lock(mutex);
  if (idle) {
    submitted.wait(lock, [&] { return stop || !queue.empty(); });
  }
  fresh.assign(queue.begin(), queue.end());
  queue.clear();
  return !(stop && fresh.empty() && idle);
}

void Communicator::State::finish(
    const std::vector<Operation*>& done,
    TransportCounters now) {
  {
    const std::lock_guard lock(mutex);
    counters = now;
    for (Operation* operation : done) {
      std::erase(unfinished, operation);
    }
  }
  finished.notify_all();
}

void Communicator::State::serve(Transport& transport) {
  std::vector<Operation*> active;
  std::vector<Operation*> fresh;
  std::vector<Operation*> done;
  Backoff backoff;
  while (take_queue(fresh, active.empty())) {
    const auto begin = Clock::now();
    for (Operation* operation : fresh) {
      operation->start(transport);
      active.push_back(operation);
    }
    bool moved = !fresh.empty() || transport.progress() > 0;
    done.clear();
    if (moved) {
      // A finished transfer may let any operation go on.
      std::erase_if(active, [&](Operation* operation) {
        const bool is_done = operation->advance(transport);
        if (is_done) {
          done.push_back(operation);
        }
        return is_done;
      });
    }
    if (!done.empty()) {
      finish(done, transport.counters());
    }
    if (moved) {
      backoff.reset();
    } else if (!active.empty()) {
      backoff.pause();
    }
    busy_ns += std::chrono::nanoseconds(Clock::now() - begin).count();
  }
}

void Communicator::State::run_task(
    Communicator& self,
    std::function<void(Transport&)> body) {
  Task task(std::move(body));
  self.start(task);
  self.wait(task);
}

Communicator::Communicator(
    std::function<std::unique_ptr<Transport>()> make_transport)
    : state_(std::make_unique<State>()) {
  State& state = *state_;
  state.thread = std::thread(
      [&state, make = std::move(make_transport)] { state.run(make); });
  std::unique_lock lock(state.mutex);
  state.finished.wait(lock, [&] { return state.ready; });
  if (state.failure) {
    const std::exception_ptr failure = state.failure;
    lock.unlock();
    state.thread.join();
    std::rethrow_exception(failure);
  }
}

Communicator::~Communicator() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->stop = true;
  }
  state_->submitted.notify_all();
  state_->thread.join();
}

int Communicator::rank() const {
  return state_->rank;
}

int Communicator::world_size() const {
  return state_->world_size;
}

void Communicator::start(Operation& operation) {
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->failure) {
      std::rethrow_exception(state_->failure);
    }
    state_->queue.push_back(&operation);
    state_->unfinished.push_back(&operation);
  }
  state_->submitted.notify_all();
}

void Communicator::wait(Operation& operation) {
  std::unique_lock lock(state_->mutex);
  state_->finished.wait(lock, [&] {
    return state_->failure ||
        std::find(
            state_->unfinished.begin(), state_->unfinished.end(), &operation) ==
        state_->unfinished.end();
  });
  if (state_->failure) {
    std::rethrow_exception(state_->failure);
  }
}

void Communicator::broadcast(std::span<std::byte> data, int root) {
  state_->run_task(*this, [&](Transport& transport) {
    broadcast_bytes(transport, data, root);
  });
}

std::vector<std::string> Communicator::all_gather(const std::string& mine) {
  std::vector<std::string> all;
  state_->run_task(*this, [&](Transport& transport) {
    all = all_gather_text(transport, mine);
  });
  return all;
}

std::vector<std::string> Communicator::gather(
    const std::string& mine,
    int root) {
  std::vector<std::string> all;
  state_->run_task(*this, [&](Transport& transport) {
    all = gather_text(transport, mine, root);
  });
  return all;
}

void Communicator::barrier() {
  all_gather("");
}

TransportCounters Communicator::counters() const {
  const std::lock_guard lock(state_->mutex);
  return state_->counters;
}

Seconds Communicator::busy_time() const {
  return std::chrono::nanoseconds(state_->busy_ns.load());
}

} // namespace egpurun::runtime
