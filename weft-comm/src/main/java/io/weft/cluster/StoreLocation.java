// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import java.util.Objects;

/// The place where the ranks of a job find each other.
public sealed interface StoreLocation {

  /// Inside the process, for a job of one rank.
  record InProcess() implements StoreLocation {}

  /// A private directory named by the job, if all ranks are on this host.
  record LocalDirectory() implements StoreLocation {}

  /// A private directory named by the job and by the process that started all its ranks, if all
  /// ranks are on this host and only that process distinguishes their job from others.
  record SiblingDirectory() implements StoreLocation {}

  /// A server at this address that another process, such as the launcher, runs.
  ///
  /// @param host name or address
  /// @param port 1 to 65535
  record Hosted(String host, int port) implements StoreLocation {
    /// Throws `NullPointerException` if a component is null.
    public Hosted {
      Objects.requireNonNull(host, "host");
    }
  }

  /// A server at this address that rank 0 runs.
  ///
  /// @param host name or address of rank 0's host
  /// @param port 1 to 65535
  record ByRankZero(String host, int port) implements StoreLocation {
    /// Throws `NullPointerException` if a component is null.
    public ByRankZero {
      Objects.requireNonNull(host, "host");
    }
  }

  /// Parses `HOST:PORT` from the settings, for a server that rank 0 runs. Throws
  /// `CommException.Setup` if the text is malformed.
  static ByRankZero byRankZero(String hostAndPort) {
    HostAndPort location = HostAndPort.parse(hostAndPort, "store");
    return new ByRankZero(location.host(), location.port());
  }
}
