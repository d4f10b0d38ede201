// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import java.util.Objects;

/// Where the ranks of a job find each other.
public sealed interface StoreLocation {

  /// A job of one rank: inside the process.
  record InProcess() implements StoreLocation {}

  /// All ranks are on this host: a private directory, named by the job.
  record LocalDirectory() implements StoreLocation {}

  /// All ranks are on this host, and nothing but the process that started all of them tells their
  /// job from others: a private directory, named by that process, too.
  record SiblingDirectory() implements StoreLocation {}

  /// A server that somebody else, such as the launcher, keeps at this address.
  ///
  /// @param host name or address
  /// @param port 1 to 65535
  record Hosted(String host, int port) implements StoreLocation {
    /// Throws `NullPointerException` where a part is missing.
    public Hosted {
      Objects.requireNonNull(host, "host");
    }
  }

  /// A server at this address, which rank 0 keeps.
  ///
  /// @param host name or address of rank 0's host
  /// @param port 1 to 65535
  record ByRankZero(String host, int port) implements StoreLocation {
    /// Throws `NullPointerException` where a part is missing.
    public ByRankZero {
      Objects.requireNonNull(host, "host");
    }
  }

  /// `HOST:PORT` from the settings, kept by rank 0. Throws `CommException.Setup` where it is not.
  static ByRankZero byRankZero(String hostAndPort) {
    HostAndPort location = HostAndPort.parse(hostAndPort, "store");
    return new ByRankZero(location.host(), location.port());
  }
}
