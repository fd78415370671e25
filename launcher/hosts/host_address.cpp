#include "launcher/hosts/host_address.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstring>
#include <memory>
#include <string_view>

namespace egpurun::launcher {

namespace {

class Socket {
 public:
  Socket(int family, int type)
      : descriptor_(socket(family, type | SOCK_CLOEXEC, 0)) {}
  ~Socket() {
    if (descriptor_ >= 0) {
      close(descriptor_);
    }
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int descriptor() const {
    return descriptor_;
  }

 private:
  int descriptor_;
};

std::string format_address(const sockaddr* address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* bytes = nullptr;
  if (address->sa_family == AF_INET) {
    bytes = &reinterpret_cast<const sockaddr_in*>(address)->sin_addr;
  } else if (address->sa_family == AF_INET6) {
    bytes = &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr;
  } else {
    return "";
  }
  inet_ntop(address->sa_family, bytes, text.data(), text.size());
  return text.data();
}

using AddressList = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

AddressList look_up(const std::string& name, int flags) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  addrinfo* found = nullptr;
  if (getaddrinfo(name.c_str(), nullptr, &hints, &found) != 0) {
    found = nullptr;
  }
  return {found, &freeaddrinfo};
}

struct LocalAddress {
  std::string interface;
  std::string address;
};

std::vector<LocalAddress> read_local_addresses() {
  std::vector<LocalAddress> addresses;
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) {
    return addresses;
  }
  for (const ifaddrs* entry = list; entry; entry = entry->ifa_next) {
    if (entry->ifa_addr != nullptr && (entry->ifa_flags & IFF_UP) != 0) {
      addresses.push_back({entry->ifa_name, format_address(entry->ifa_addr)});
    }
  }
  freeifaddrs(list);
  return addresses;
}

std::string short_name(const std::string& host) {
  return host.substr(0, host.find('.'));
}

// Whether IPv4 `address` lies in `network`, "10.0.0.0/24".
bool is_in_network(const std::string& address, const std::string& network) {
  const auto slash = network.find('/');
  in_addr base{};
  in_addr host{};
  unsigned bits = 0;
  const char* end = network.data() + network.size();
  if (slash == std::string::npos ||
      std::from_chars(network.data() + slash + 1, end, bits).ptr != end ||
      bits > 32 ||
      inet_pton(AF_INET, network.substr(0, slash).c_str(), &base) != 1 ||
      inet_pton(AF_INET, address.c_str(), &host) != 1) {
    return false;
  }
  const std::uint32_t mask = bits == 0 ? 0 : ~std::uint32_t{0} << (32 - bits);
  return ((ntohl(base.s_addr) ^ ntohl(host.s_addr)) & mask) == 0;
}

} // namespace

std::string read_host_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

bool is_local_host(const std::string& name) {
  const std::string own = read_host_name();
  if (name == "localhost" || name == own) {
    return true;
  }
  // A bare name equals our own with any domain; two full names must agree.
  const bool numeric = look_up(name, AI_NUMERICHOST) != nullptr;
  const bool is_full = name != short_name(name);
  if (!numeric && (!is_full || own == short_name(own)) &&
      short_name(name) == short_name(own)) {
    return true;
  }
  for (const auto& local : read_local_addresses()) {
    if (!name.empty() && local.address == name) {
      return true;
    }
  }
  return false;
}

std::string resolve_address(const std::string& name) {
  const auto found = look_up(name, 0);
  std::string other;
  for (const addrinfo* entry = found.get(); entry; entry = entry->ai_next) {
    if (entry->ai_family == AF_INET) {
      return format_address(entry->ai_addr);
    }
    if (other.empty()) {
      other = format_address(entry->ai_addr);
    }
  }
  return other;
}

std::string find_local_address(const std::string& network) {
  const auto addresses = read_local_addresses();
  std::string_view rest = network;
  while (!rest.empty()) {
    const auto comma = std::min(rest.size(), rest.find(','));
    const std::string entry(rest.substr(0, comma));
    rest.remove_prefix(std::min(rest.size(), comma + 1));
    for (const auto& local : addresses) {
      if (!local.address.empty() &&
          (local.interface == entry || is_in_network(local.address, entry))) {
        return local.address;
      }
    }
  }
  return "";
}

std::string find_source_address(const std::string& peer) {
  const auto target = look_up(peer, AI_NUMERICHOST);
  if (target == nullptr) {
    return "";
  }
  // Port 9 (discard): connecting a datagram socket only asks for the route.
  reinterpret_cast<sockaddr_in*>(target->ai_addr)->sin_port = htons(9);
  const Socket socket(target->ai_family, SOCK_DGRAM);
  sockaddr_storage own{};
  socklen_t length = sizeof(own);
  auto* own_address = reinterpret_cast<sockaddr*>(&own);
  if (connect(socket.descriptor(), target->ai_addr, target->ai_addrlen) != 0 ||
      getsockname(socket.descriptor(), own_address, &length) != 0) {
    return "";
  }
  return format_address(own_address);
}

int find_free_port() {
  const Socket socket(AF_INET, SOCK_STREAM);
  sockaddr_in any{};
  any.sin_family = AF_INET;
  socklen_t length = sizeof(any);
  auto* address = reinterpret_cast<sockaddr*>(&any);
  if (bind(socket.descriptor(), address, length) != 0 ||
      getsockname(socket.descriptor(), address, &length) != 0) {
    return 0;
  }
  return ntohs(any.sin_port);
}

} // namespace egpurun::launcher
