// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import io.weft.WeftConfig;
import java.time.Duration;

/// How gradients travel. The first three are the same on all ranks.
///
/// @param fusion whether tensors travel together
/// @param fusionThreshold longest fusion buffer, in bytes
/// @param cacheCapacity how many tensors the response cache remembers; 0 = none
/// @param stallCheckTime after which wait a stall is told
/// @param deadline after which wait for other ranks a tensor fails on all of them
public record DataParallelOptions(
    Fusion fusion,
    long fusionThreshold,
    int cacheCapacity,
    Duration stallCheckTime,
    Duration deadline) {

  /// Throws `IllegalArgumentException` for a size below 0, or a duration that is not positive.
  public DataParallelOptions {
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
  }

  /// What the settings say.
  public static DataParallelOptions of(WeftConfig config) {
    return new DataParallelOptions(
        config.required(DataParallelConfig.FUSION),
        config.required(DataParallelConfig.FUSION_THRESHOLD),
        config.required(DataParallelConfig.CACHE_CAPACITY),
        config.required(DataParallelConfig.STALL_CHECK_TIME),
        config.deadline());
  }

  /// The same with fusion on, off, or as Weft chooses.
  public DataParallelOptions with(Fusion other) {
    return new DataParallelOptions(other, fusionThreshold, cacheCapacity, stallCheckTime, deadline);
  }

  /// The same with fusion buffers of at most so many bytes.
  public DataParallelOptions withThreshold(long bytes) {
    return new DataParallelOptions(fusion, bytes, cacheCapacity, stallCheckTime, deadline);
  }

  /// The same with a response cache for so many tensors.
  public DataParallelOptions withCacheCapacity(int tensors) {
    return new DataParallelOptions(fusion, fusionThreshold, tensors, stallCheckTime, deadline);
  }

  /// The same with other limits of the wait for other ranks.
  ///
  /// @param warning after which a stall is told
  /// @param limit after which the tensor fails on all ranks
  public DataParallelOptions withLimits(Duration warning, Duration limit) {
    return new DataParallelOptions(fusion, fusionThreshold, cacheCapacity, warning, limit);
  }
}
