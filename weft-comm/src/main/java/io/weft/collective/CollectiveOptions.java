// SPDX-License-Identifier: Apache-2.0
package io.weft.collective;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;

/// The options of one collective.
///
/// @param name matches the operation across ranks; unique among the operations in flight on a
///   communicator
/// @param deadline hard limit from submission to completion, including waits for credit. When it
///   passes, the communicator is aborted on all ranks. Zero selects the communicator's default
/// @param algorithm name of the algorithm; empty if the rule table selects it
public record CollectiveOptions(String name, Duration deadline, Optional<String> algorithm) {

  private static final String FIXED_ORDER = "fixed-order";
  private static final String RANK_ORDER = "rank-order";

  /// Throws `IllegalArgumentException` if the name is null, empty or longer than 512 characters, or
  /// if the deadline is negative.
  public CollectiveOptions {
    Objects.requireNonNull(algorithm, "algorithm");
    if (name == null) {
      throw new IllegalArgumentException(
          "an operation's name is null; it has 1 to 512 characters, the same on all ranks");
    }
    if (name.isEmpty() || name.length() > 512) {
      throw new IllegalArgumentException(
          "an operation's name has 1 to 512 characters, got " + name.length());
    }
    if (deadline.isNegative()) {
      throw new IllegalArgumentException("deadline " + deadline + " of '" + name + "' is negative");
    }
  }

  /// Returns options with the communicator's deadline and without a given algorithm.
  public static CollectiveOptions named(String name) {
    return new CollectiveOptions(name, Duration.ZERO, Optional.empty());
  }

  /// Returns a copy with another deadline.
  public CollectiveOptions within(Duration limit) {
    return new CollectiveOptions(name, limit, algorithm);
  }

  /// Returns a copy that selects the algorithm of this name.
  public CollectiveOptions by(String algorithmName) {
    return new CollectiveOptions(name, deadline, Optional.of(algorithmName));
  }

  /// Returns a copy that selects a fixed order of additions. Each element is combined in the same
  /// order over every transport, regardless of its position and the tensor's length: in a tree of
  /// the ranks of each host, then in a tree of hosts, so that few bytes cross between hosts. The
  /// bits of the result depend on which ranks share a host. They equal those of `inRankOrder` if
  /// every host has the same number of consecutive ranks, a power of two. Only for allreduce; a
  /// reduceScatter between hosts always has the order of `inRankOrder`.
  public CollectiveOptions inFixedOrder() {
    return by(FIXED_ORDER);
  }

  /// Returns a copy that selects the order of ranks: each element is combined in one tree of all
  /// ranks, wherever they run, so the bits of the result depend only on the number of ranks. This
  /// order costs nothing more if `inFixedOrder` gives the same bits. Otherwise the ranks of a host
  /// do not combine first, and the bytes between hosts grow by a factor of up to the number of
  /// ranks on a host. Only for allreduce.
  public CollectiveOptions inRankOrder() {
    return by(RANK_ORDER);
  }
}
