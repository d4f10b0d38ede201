// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import io.weft.WeftConfig;
import java.time.Duration;
import java.util.Objects;

/// The options of a `DataParallel`. Fusion, threshold, cache capacity and name must be equal on all
/// ranks.
///
/// @param fusion fusion mode
/// @param fusionThreshold length of the longest fusion buffer, in bytes
/// @param cacheCapacity capacity of the response cache, in tensors; 0 = no cache
/// @param stallCheckTime the wait for other ranks after which a stall is reported
/// @param deadline the wait for other ranks after which a tensor fails on all ranks
/// @param name the name by which ranks match the `DataParallel`; empty = ranks match it by the
///   order of first use over a communicator
public record DataParallelOptions(
    Fusion fusion,
    long fusionThreshold,
    int cacheCapacity,
    Duration stallCheckTime,
    Duration deadline,
    String name) {

  private static final int MOST_CHARACTERS = 128;
  private static final Duration NEVER = Duration.ofDays(7);

  /// Throws `IllegalArgumentException` for a threshold below 1, a capacity below 0, a duration that
  /// is not positive, or a name of more than 128 characters.
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

  /// Returns the options of these settings.
  public static DataParallelOptions of(WeftConfig config) {
    return new DataParallelOptions(
        config.required(DataParallelConfig.FUSION),
        config.required(DataParallelConfig.FUSION_THRESHOLD),
        config.required(DataParallelConfig.CACHE_CAPACITY),
        stallCheckTime(config),
        config.deadline(),
        "");
  }

  /// Returns the stall check time of the settings; 0 (never) becomes a duration longer than any
  /// wait.
  private static Duration stallCheckTime(WeftConfig config) {
    Duration time = config.required(DataParallelConfig.STALL_CHECK_TIME);
    return time.isZero() ? NEVER : time;
  }

  /// Returns these options with another fusion mode.
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

  /// Returns these options with other limits for the wait for other ranks.
  ///
  /// @param warning the wait after which ranks that negotiate report a stall
  /// @param limit the wait after which the tensor fails on all ranks
  public DataParallelOptions withLimits(Duration warning, Duration limit) {
    return new DataParallelOptions(fusion, fusionThreshold, cacheCapacity, warning, limit, name);
  }

  /// Returns these options with a name, by which ranks match the `DataParallel`. A name is needed
  /// if several threads of a process use layers over one communicator, or if ranks use layers in
  /// different orders.
  public DataParallelOptions named(String other) {
    return new DataParallelOptions(
        fusion, fusionThreshold, cacheCapacity, stallCheckTime, deadline, other);
  }
}
