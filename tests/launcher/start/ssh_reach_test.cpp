#include "launcher/start/ssh_reach.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "launcher/hosts/host_address.h"

namespace egpurun::launcher {
namespace {

TEST(SshTarget, TakesWhatSshSays) {
  const SshTarget target = parse_ssh_target(
      "pc2",
      "user me\nhostname 10.0.0.2\nport 2222\nproxycommand none\n"
      "identityfile ~/.ssh/a key\n");
  EXPECT_EQ(target.name, "pc2");
  EXPECT_EQ(target.host_name, "10.0.0.2");
  EXPECT_EQ(target.tcp_port, 2222);
  EXPECT_FALSE(target.has_proxy);
}

TEST(SshTarget, SeesProxies) {
  EXPECT_TRUE(parse_ssh_target("a", "proxyjump gate\n").has_proxy);
  EXPECT_TRUE(parse_ssh_target("a", "proxycommand nc %h %p\n").has_proxy);
}

TEST(SshTarget, NameAndPort22WithoutAnAnswer) {
  const SshTarget target = parse_ssh_target("pc2", "");
  EXPECT_EQ(target.host_name, "pc2");
  EXPECT_EQ(target.tcp_port, 22);
}

class Listener {
 public:
  Listener() : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in any{};
    any.sin_family = AF_INET;
    any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* address = reinterpret_cast<sockaddr*>(&any);
    socklen_t length = sizeof(any);
    bind(socket_, address, length);
    listen(socket_, 4);
    getsockname(socket_, address, &length);
    port_ = ntohs(any.sin_port);
  }
  ~Listener() {
    close(socket_);
  }
  int port() const {
    return port_;
  }

 private:
  int socket_;
  int port_ = 0;
};

TEST(FindUnreachable, TellsOnlyThoseThatDoNotAnswer) {
  const Listener listener;
  const int closed = find_free_port();
  const auto complaints = find_unreachable(
      {{.name = "good", .host_name = "127.0.0.1", .tcp_port = listener.port()},
       {.name = "bad", .host_name = "127.0.0.1", .tcp_port = closed},
       {.name = "behind",
        .host_name = "127.0.0.1",
        .tcp_port = closed,
        .has_proxy = true}},
      Seconds(5));
  ASSERT_EQ(complaints.size(), 1u);
  EXPECT_EQ(
      complaints[0],
      "bad (127.0.0.1 port " + std::to_string(closed) +
          "): Connection refused");
}

TEST(FindUnreachable, NothingToTryIsNoFailure) {
  EXPECT_TRUE(find_unreachable({}, Seconds(1)).empty());
}

} // namespace
} // namespace egpurun::launcher
