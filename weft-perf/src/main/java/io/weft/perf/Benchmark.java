// SPDX-License-Identifier: Apache-2.0
package io.weft.perf;

import io.weft.config.ConfigOption;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/// The benchmarks. `bytes` of a collective is the larger of a rank's input and output, otherwise
/// the size of one message or transfer. Bus bandwidth is the load of a link in an optimal
/// algorithm: factor · bytes / p50.
enum Benchmark {
  /// The sum of all ranks' tensors on all ranks, out of place.
  ALLREDUCE,
  /// The copy of rank 0's tensor to all ranks.
  BROADCAST,
  /// The concatenation of one share of each rank on all ranks. `bytes` is the size of the result.
  ALLGATHER,
  /// The sum of all ranks' tensors, scattered in one share per rank. `bytes` is the size of the
  /// input.
  REDUCESCATTER,
  /// The exchange of one share between each pair of ranks. `bytes` is the size of a rank's input.
  ALLTOALL,
  /// The barrier, without data.
  BARRIER,
  /// Half a round trip between two ranks, without a collective.
  PINGPONG,
  /// One-way transfers between two ranks into registered memory of the peer, without a collective.
  BANDWIDTH,
  /// Concurrent small requests between two ranks with an answer to each, without a collective.
  MESSAGES,
  /// Concurrent writes between two ranks into registered memory of the peer, without a collective.
  WRITES,
  /// Concurrent reads of the peer's registered memory, without a collective.
  READS,
  /// The registration of memory before a write between two ranks and its end after the write,
  /// without a collective.
  REGISTRATION,
  /// A step of a graph over two processes. One process owns variables, which the other consumes.
  SENDRECV;

  /// The number of answers in one iteration of `MESSAGES`.
  static final int ANSWERS = 2048;

  /// The number of writes or reads in one iteration.
  static final int TRANSFERS = 128;

  /// The size of the shortest message: a number at each end.
  private static final long LEAST_MESSAGE_BYTES = 16;

  private static final int MESSAGE_ITERATIONS = 200;
  private static final int REGISTRATIONS = 1000;

  /// The maximum number of tensors of all steps of a case of `SENDRECV`.
  private static final int TENSORS_PER_CASE = 30_000;

  private static final int MOST_STEPS = 1000;
  private static final long MOST_TENSOR_BYTES = 1L << 30;

  /// Returns the name on the command line and in reports.
  String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  /// Returns all labels, for messages.
  static List<String> labels() {
    return Stream.of(values()).map(Benchmark::label).toList();
  }

  /// Returns the benchmark of this label. Throws `IllegalArgumentException` with the allowed
  /// labels.
  static Benchmark of(String label) {
    return of(label, List.of());
  }

  /// Returns the benchmark of this label. The message of the exception also lists `others`.
  static Benchmark of(String label, Collection<String> others) {
    List<String> allowed = Stream.concat(labels().stream(), others.stream()).toList();
    return Stream.of(values())
        .filter(b -> b.label().equals(label))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "unknown benchmark '%s'; %sallowed: %s"
                        .formatted(
                            label,
                            ConfigOption.nearest(label, allowed)
                                .map(name -> "did you mean " + name + "? ")
                                .orElse(""),
                            String.join(", ", allowed))));
  }

  /// Returns the number of bytes over a link per byte of tensor for `ranks` ranks.
  double busFactor(int ranks) {
    double others = (ranks - 1) / (double) ranks;
    return switch (this) {
      case ALLREDUCE -> 2 * others;
      case BROADCAST, PINGPONG, BANDWIDTH, MESSAGES, WRITES, READS, REGISTRATION, SENDRECV -> 1;
      case ALLGATHER, REDUCESCATTER, ALLTOALL -> others;
      case BARRIER -> 0;
    };
  }

  /// Returns true for a collective of any number of ranks, false for a benchmark of two ranks.
  boolean isCollective() {
    return switch (this) {
      case ALLREDUCE, BROADCAST, ALLGATHER, REDUCESCATTER, ALLTOALL, BARRIER -> true;
      case PINGPONG, BANDWIDTH, MESSAGES, WRITES, READS, REGISTRATION, SENDRECV -> false;
    };
  }

  /// Returns whether many calls are in flight concurrently.
  boolean isStream() {
    return callsPerIteration() > 1;
  }

  /// Returns the default sizes.
  String usualBytes() {
    return switch (this) {
      case ALLREDUCE, BROADCAST, ALLGATHER, REDUCESCATTER, ALLTOALL, BARRIER -> "4..64M";
      case PINGPONG -> "64..64K";
      case BANDWIDTH -> "4K..64M";
      case MESSAGES -> "64";
      case WRITES, READS -> "4K..1M";
      case REGISTRATION -> "1M";
      case SENDRECV -> "4,256,4K,1M,16M,64M";
    };
  }

  /// Returns the number of calls in one timed iteration. Figures are those of one call.
  int callsPerIteration() {
    return switch (this) {
      case ALLREDUCE,
          BROADCAST,
          ALLGATHER,
          REDUCESCATTER,
          ALLTOALL,
          BARRIER,
          PINGPONG,
          BANDWIDTH,
          REGISTRATION,
          SENDRECV ->
          1;
      case MESSAGES -> ANSWERS;
      case WRITES, READS -> TRANSFERS;
    };
  }

  /// Returns the default number of iterations per round.
  int iterations(long bytes) {
    return switch (this) {
      case MESSAGES -> MESSAGE_ITERATIONS;
      case REGISTRATION -> REGISTRATIONS;
      default -> MeasuringPlan.iterations(bytes * callsPerIteration());
    };
  }

  /// Returns the default number of steps per round of `SENDRECV`.
  static int steps(int tensors, long bytes) {
    int most = Math.min(MOST_STEPS, TENSORS_PER_CASE / Math.max(1, tensors));
    return Math.min(most, MeasuringPlan.iterations(bytes * tensors));
  }

  /// Returns the measured sizes for the requested ones: whole shares of a divided tensor, and one
  /// empty case of a barrier. They are distinct and ascending. Throws `IllegalArgumentException`
  /// for messages too short for their number.
  List<Long> sizes(List<Long> asked, int ranks) {
    return switch (this) {
      case ALLREDUCE, BROADCAST, PINGPONG, BANDWIDTH, WRITES, READS, REGISTRATION -> asked;
      case SENDRECV -> {
        if (asked.getFirst() < Float.BYTES
            || asked.getLast() > MOST_TENSOR_BYTES
            || asked.stream().anyMatch(b -> b % Float.BYTES != 0)) {
          throw new IllegalArgumentException(
              "--bytes: tensors of sendrecv are whole floats; allowed: multiples of 4 B up to 1"
                  + " GiB");
        }
        yield asked;
      }
      case MESSAGES -> {
        if (asked.getFirst() < LEAST_MESSAGE_BYTES) {
          throw new IllegalArgumentException(
              "--bytes: a message of %s is too short for its number; allowed: 16 B and more"
                  .formatted(ByteSizes.format(asked.getFirst())));
        }
        yield asked;
      }
      case ALLGATHER, REDUCESCATTER, ALLTOALL -> {
        long unit = (long) Float.BYTES * ranks;
        yield asked.stream().map(b -> Math.ceilDiv(b, unit) * unit).distinct().toList();
      }
      case BARRIER -> List.of(0L);
    };
  }
}
