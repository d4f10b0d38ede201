// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.sendrecv;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/// The arguments of a `SendRecvRank`.
///
/// @param ports ports of the two tasks under gRPC, empty under Weft
/// @param warmUp duration of each of the two warm-ups of a case
/// @param limit time limit of one step
/// @param cases the cases in measuring order
record SendRecvArguments(
    List<Integer> ports, Duration warmUp, Duration limit, List<SendRecvCase> cases) {

  private static final String USAGE =
      "usage: weft|grpc:PORT:PORT WARM_UP_MILLIS LIMIT_SECONDS BYTES:STEPS:TENSORS...";

  /// One measurement.
  ///
  /// @param bytes size of each tensor
  /// @param steps number of timed steps
  /// @param tensors number of tensors of a step
  record SendRecvCase(int bytes, int steps, int tensors) {

    private static SendRecvCase of(String text) {
      List<Integer> numbers = Stream.of(text.split(":")).map(Integer::valueOf).toList();
      if (numbers.size() != 3
          || numbers.get(0) % Float.BYTES != 0
          || numbers.stream().anyMatch(n -> n < 0)
          || numbers.get(0) == 0 != (numbers.get(2) == 0)) {
        throw new IllegalArgumentException(
            USAGE + "; '" + text + "': bytes must be a multiple of 4, and 0 only without tensors");
      }
      return new SendRecvCase(numbers.get(0), numbers.get(1), numbers.get(2));
    }

    int elements() {
      return bytes / Float.BYTES;
    }
  }

  /// Parses the arguments. Throws `IllegalArgumentException` with the expected format.
  static SendRecvArguments parse(List<String> words) {
    if (words.size() < 4) {
      throw new IllegalArgumentException(USAGE);
    }
    try {
      return new SendRecvArguments(
          ports(words.getFirst()),
          Duration.ofMillis(Long.parseLong(words.get(1))),
          Duration.ofSeconds(Long.parseLong(words.get(2))),
          words.stream().skip(3).map(SendRecvCase::of).toList());
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(USAGE + ": " + e.getMessage(), e);
    }
  }

  private static List<Integer> ports(String runtime) {
    List<String> words = List.of(runtime.split(":"));
    if (words.equals(List.of("weft"))) {
      return List.of();
    }
    if (words.size() != 3 || !words.getFirst().equals("grpc")) {
      throw new IllegalArgumentException(USAGE);
    }
    return words.stream().skip(1).map(Integer::valueOf).toList();
  }
}
