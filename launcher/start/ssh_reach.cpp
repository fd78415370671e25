#include "launcher/start/ssh_reach.h"

#include <fmt/format.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <memory>
#include <sstream>

#include "launcher/hosts/host_address.h"
#include "launcher/start/program_output.h"
#include "launcher/start/program_search.h"
#include "topology/error.h"

namespace egpurun::launcher {

namespace {

using Clock = std::chrono::steady_clock;

// One connection being opened; `failure` is an errno value, 0 = none so far.
class Attempt {
 public:
  explicit Attempt(const SshTarget& target)
      : target_(target), address_(resolve_address(target.host_name)) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
    addrinfo* found = nullptr;
    const std::string port = std::to_string(target.tcp_port);
    if (getaddrinfo(address_.c_str(), port.c_str(), &hints, &found) != 0) {
      failure_ = EHOSTUNREACH;
      return;
    }
    const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(
        found, &freeaddrinfo);
    descriptor_ =
        socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (connect(descriptor_, found->ai_addr, found->ai_addrlen) == 0) {
      done_ = true;
    } else if (errno != EINPROGRESS) {
      failure_ = errno;
    }
  }
  ~Attempt() {
    if (descriptor_ >= 0) {
      close(descriptor_);
    }
  }
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  bool is_open() const {
    return !done_ && failure_ == 0;
  }
  int descriptor() const {
    return descriptor_;
  }
  void finish() {
    socklen_t length = sizeof(failure_);
    getsockopt(descriptor_, SOL_SOCKET, SO_ERROR, &failure_, &length);
    done_ = true;
  }
  void give_up() {
    failure_ = ETIMEDOUT;
  }
  // "" if the connection came about.
  std::string complaint() const {
    return failure_ == 0 ? ""
                         : fmt::format(
                               "{} ({} port {}): {}",
                               target_.name,
                               address_,
                               target_.tcp_port,
                               topology::errno_text(failure_));
  }

 private:
  SshTarget target_;
  std::string address_;
  int descriptor_ = -1;
  int failure_ = 0;
  bool done_ = false;
};

using Attempts = std::vector<std::unique_ptr<Attempt>>;

// Waits until every attempt is over or the time is.
void wait_for(Attempts& attempts, Clock::time_point end) {
  while (true) {
    std::vector<pollfd> waiting;
    std::vector<Attempt*> open;
    for (const auto& attempt : attempts) {
      if (attempt->is_open()) {
        waiting.push_back({attempt->descriptor(), POLLOUT, 0});
        open.push_back(attempt.get());
      }
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - Clock::now());
    if (open.empty() || left.count() <= 0) {
      std::ranges::for_each(open, [](Attempt* a) { a->give_up(); });
      return;
    }
    poll(waiting.data(), waiting.size(), static_cast<int>(left.count()));
    for (std::size_t i = 0; i < open.size(); ++i) {
      if (waiting[i].revents != 0) {
        open[i]->finish();
      }
    }
  }
}

} // namespace

SshTarget parse_ssh_target(const std::string& name, const std::string& text) {
  SshTarget target{.name = name, .host_name = name};
  std::istringstream lines(text);
  std::string key;
  std::string value;
  while (lines >> key && std::getline(lines >> std::ws, value)) {
    if (key == "hostname") {
      target.host_name = value;
    } else if (key == "port") {
      std::from_chars(
          value.data(), value.data() + value.size(), target.tcp_port);
    } else if (key == "proxycommand" || key == "proxyjump") {
      target.has_proxy = value != "none";
    }
  }
  return target;
}

SshTarget read_ssh_target(const std::string& name) {
  const auto ssh = find_program("ssh", read_environment("PATH"), "");
  if (ssh.result != SearchResult::kFound) {
    return parse_ssh_target(name, "");
  }
  constexpr Seconds kLimit{5};
  const auto output = read_program_output(
      {ssh.path, "-G", "--", name}, kLimit, StandardError::kDropped);
  return parse_ssh_target(name, output ? output->text : "");
}

std::vector<std::string> find_unreachable(
    const std::vector<SshTarget>& targets,
    Seconds limit) {
  Attempts attempts;
  for (const SshTarget& target : targets) {
    if (!target.has_proxy) {
      attempts.push_back(std::make_unique<Attempt>(target));
    }
  }
  wait_for(
      attempts,
      Clock::now() + std::chrono::duration_cast<Clock::duration>(limit));
  std::vector<std::string> complaints;
  for (const auto& attempt : attempts) {
    if (const std::string text = attempt->complaint(); !text.empty()) {
      complaints.push_back(text);
    }
  }
  return complaints;
}

} // namespace egpurun::launcher
