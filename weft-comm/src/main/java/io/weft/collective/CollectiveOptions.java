// SPDX-License-Identifier: Apache-2.0
package io.weft.collective;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;

/// How one collective is to run.
///
/// @param name matched across ranks; unique among the operations in flight on a communicator
/// @param deadline hard and end to end, waiting for credit included: when it passes, the
///   communicator is aborted on all ranks; zero = the communicator's default
/// @param algorithm empty = chosen by size and ranks
public record CollectiveOptions(String name, Duration deadline, Optional<String> algorithm) {

  private static final String FIXED_ORDER = "fixed-order";
  private static final String RANK_ORDER = "rank-order";

  /// Throws `IllegalArgumentException` if the name is null, empty or longer than 512 characters, or
  /// the deadline negative.
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

  /// With the communicator's deadline and the algorithm chosen.
  public static CollectiveOptions named(String name) {
    return new CollectiveOptions(name, Duration.ZERO, Optional.empty());
  }

  /// The same with another hard deadline.
  public CollectiveOptions within(Duration limit) {
    return new CollectiveOptions(name, limit, algorithm);
  }

  /// The same with the algorithm of this name.
  public CollectiveOptions by(String algorithmName) {
    return new CollectiveOptions(name, deadline, Optional.of(algorithmName));
  }

  /// Returns the same with an algorithm that combines the ranks of every element in one order,
  /// wherever in the tensor it lies and however long the tensor is, over all transports: in a tree
  /// of the ranks of each host, and above these in a tree of hosts, so that little crosses between
  /// them. The bits depend on which ranks share a host; they are those of `inRankOrder` where every
  /// host has the same number of consecutive ranks, a power of two. For allreduce; a reduceScatter
  /// between hosts always has the order of `inRankOrder`.
  public CollectiveOptions inFixedOrder() {
    return by(FIXED_ORDER);
  }

  /// Returns the same with an algorithm that combines the ranks of every element in one tree of all
  /// ranks in order, wherever they are: so the bits depend on their number alone. It costs nothing
  /// where `inFixedOrder` has the same bits; elsewhere the ranks of a host do not combine first,
  /// and up to as many times the bytes cross between hosts as a host has ranks. For allreduce.
  public CollectiveOptions inRankOrder() {
    return by(RANK_ORDER);
  }
}
