// SPDX-License-Identifier: Apache-2.0
package io.weft.perf;

import io.weft.perf.rank.RankArguments.RankCase;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The cases of `sendrecv`: the empty step, then each number of tensors with each size.
final class SendRecvCases {

  private static final String USUAL_TENSORS = "1,100,1000";

  /// The largest number of tensors whose sum is exact.
  private static final int MOST_TENSORS = 1000;

  /// The largest size of several tensors, unless the user has given both numbers and sizes.
  private static final long SMALL_BYTES = 4096;

  /// The limit on all tensors of a step, for which each process has memory several times.
  private static final long MOST_BYTES = 1L << 30;

  private SendRecvCases() {}

  /// Returns the cases. Throws `IllegalArgumentException` with the option.
  ///
  /// @param asked true if the user gave the sizes
  /// @param tensors comma-separated numbers, null for the default
  /// @param steps number of steps of each case, null for the default
  static List<RankCase> of(
      List<Long> sizes, boolean asked, @Nullable String tensors, @Nullable Integer steps) {
    List<RankCase> cases = new ArrayList<>();
    cases.add(new RankCase(0, steps == null ? Benchmark.steps(0, 0) : steps, 0));
    for (int count : counts(tensors == null ? USUAL_TENSORS : tensors)) {
      for (long size : sizes) {
        if ((asked && tensors != null) || count == 1 || size <= SMALL_BYTES) {
          refuseTooMuch(count, size);
          int usual = Benchmark.steps(count, size);
          cases.add(new RankCase(size, steps == null ? usual : steps, count));
        }
      }
    }
    return cases;
  }

  private static void refuseTooMuch(int tensors, long bytes) {
    if (bytes > MOST_BYTES / tensors) {
      throw new IllegalArgumentException(
          "--tensors %d, --bytes %d: a step would carry %d bytes; at most %d"
              .formatted(tensors, bytes, tensors * bytes, MOST_BYTES));
    }
  }

  private static List<Integer> counts(String text) {
    try {
      List<Integer> counts = Stream.of(text.split(",")).map(Integer::valueOf).distinct().toList();
      if (counts.stream().allMatch(count -> count >= 1 && count <= MOST_TENSORS)) {
        return counts.stream().sorted().toList();
      }
    } catch (NumberFormatException e) {
      // The exception is thrown below.
    }
    throw new IllegalArgumentException(
        "--tensors: '%s'; allowed for sendrecv: numbers from 1 to 1000, with commas"
            .formatted(text));
  }
}
