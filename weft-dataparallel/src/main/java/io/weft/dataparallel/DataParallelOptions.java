// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import io.weft.WeftConfig;
import java.time.Duration;
import java.util.Objects;

/// How gradients travel. The first three and the name are the same on all ranks.
///
/// @param fusion whether tensors travel together
/// @param fusionThreshold longest fusion buffer, in bytes
/// @param cacheCapacity how many tensors the response cache remembers; 0 = none
/// @param stallCheckTime after which wait a stall is told
/// @param deadline after which wait for other ranks a tensor fails on all of them
/// @param name by which ranks match the `DataParallel`; empty = by the order in which a thread
///   makes those without a name
public record DataParallelOptions(
    Fusion fusion,
    long fusionThreshold,
    int cacheCapacity,
    Duration stallCheckTime,
    Duration deadline,
    String name) {

  private static final int MOST_CHARACTERS = 128;
  private static final Duration NEVER = Duration.ofDays(7);

  /// Throws `IllegalArgumentException` for a size below 0, a duration that is not positive, or a
  /// name of more than 128 characters.
  public DataParallelOptions {
    Objects.requireNonNull(fusion, "fusion");
    if (fusionThreshold < 1 || cacheCapacity < 0) {
      throw new IllegalArgumentException(
          "fusion threshold of "
              + fusionThreshold
              + " bytes, cache for "
              + cacheCapacity
              + " tensors: the first is at least 1, the second at least 0");
    }
    if (!stallCheckTime.isPositive() || !deadline.isPositive()) {
      throw new IllegalArgumentException(
          "stall check time " + stallCheckTime + ", deadline " + deadline + ": both are positive");
    }
    if (name.length() > MOST_CHARACTERS) {
      throw new IllegalArgumentException(
          "a DataParallel's name has " + name.length() + " characters, at most " + MOST_CHARACTERS);
    }
  }

  /// Returns what the settings say.
  public static DataParallelOptions of(WeftConfig config) {
    return new DataParallelOptions(
        config.required(DataParallelConfig.FUSION),
        config.required(DataParallelConfig.FUSION_THRESHOLD),
        config.required(DataParallelConfig.CACHE_CAPACITY),
        stallCheckTime(config),
        config.deadline(),
        "");
  }

  /// Returns the time of the settings, of which 0 is never: longer than any wait.
  private static Duration stallCheckTime(WeftConfig config) {
    Duration time = config.required(DataParallelConfig.STALL_CHECK_TIME);
    return time.isZero() ? NEVER : time;
  }

  /// Returns these options with fusion on, off, or as Weft chooses.
  public DataParallelOptions with(Fusion other) {
    Objects.requireNonNull(other, "other");
    return new DataParallelOptions(
        other, fusionThreshold, cacheCapacity, stallCheckTime, deadline, name);
  }

  /// Returns these options with fusion buffers of at most `bytes`.
  public DataParallelOptions withThreshold(long bytes) {
    return new DataParallelOptions(fusion, bytes, cacheCapacity, stallCheckTime, deadline, name);
  }

  /// Returns these options with a response cache for this number of tensors.
  public DataParallelOptions withCacheCapacity(int tensors) {
    return new DataParallelOptions(
        fusion, fusionThreshold, tensors, stallCheckTime, deadline, name);
  }

  /// Returns these options with other limits of the wait for other ranks.
  ///
  /// @param warning after which a stall is told, where ranks negotiate
  /// @param limit after which the tensor fails on all ranks
  public DataParallelOptions withLimits(Duration warning, Duration limit) {
    return new DataParallelOptions(fusion, fusionThreshold, cacheCapacity, warning, limit, name);
  }

  /// Returns these options with a name, by which ranks match the `DataParallel`: needed where
  /// several threads of a process make some over one communicator, or ranks make them in different
  /// orders.
  public DataParallelOptions named(String other) {
    return new DataParallelOptions(
        fusion, fusionThreshold, cacheCapacity, stallCheckTime, deadline, other);
  }
}
