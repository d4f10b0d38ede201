// SPDX-License-Identifier: Apache-2.0
package io.weft.perf;

import io.weft.config.ConfigOption;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/// What can be measured. `bytes` of a collective is the larger of a rank's input and output, else
/// what one message or write moves; bus bandwidth is what a link carries in an optimal algorithm:
/// factor · bytes / p50.
enum Benchmark {
  /// Sum of all ranks' tensors to all; out of place.
  ALLREDUCE,
  /// Rank 0's tensor to all.
  BROADCAST,
  /// One share from each rank to all; `bytes` is the whole.
  ALLGATHER,
  /// Sum of all ranks' tensors, one share to each; `bytes` is the input.
  REDUCESCATTER,
  /// One share from each rank to each; `bytes` is a rank's input.
  ALLTOALL,
  /// No data.
  BARRIER,
  /// Half a round trip between two ranks, without a collective.
  PINGPONG,
  /// One way between two ranks, into registered memory of the peer, without a collective.
  BANDWIDTH,
  /// Many small requests between two ranks at once, each answered, without a collective.
  MESSAGES,
  /// One way between two ranks, many writes into registered memory of the peer at once, without a
  /// collective.
  WRITES,
  /// The other way: many reads of the peer's registered memory at once.
  READS,
  /// Registering memory before a write between two ranks and giving that up after it, without a
  /// collective.
  REGISTRATION,
  /// A step of a graph over two processes: variables of one, consumed by the other.
  SENDRECV;

  /// Answers that one iteration of `MESSAGES` counts.
  static final int ANSWERS = 2048;

  /// Writes or reads of one iteration.
  static final int TRANSFERS = 128;

  /// Shortest message: a number at either end.
  private static final long LEAST_MESSAGE_BYTES = 16;

  private static final int MESSAGE_ITERATIONS = 200;
  private static final int REGISTRATIONS = 1000;

  /// Tensors of all steps of a case of `SENDRECV`, at most.
  private static final int TENSORS_PER_CASE = 30_000;

  private static final int MOST_STEPS = 1000;
  private static final long MOST_TENSOR_BYTES = 1L << 30;

  /// The name on the command line and in reports.
  String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  /// All labels, for messages.
  static List<String> labels() {
    return Stream.of(values()).map(Benchmark::label).toList();
  }

  /// Throws `IllegalArgumentException` that names what is allowed.
  static Benchmark of(String label) {
    return of(label, List.of());
  }

  /// The same where these words are allowed too, for the message.
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

  /// Bytes over a link per byte of tensor, for `ranks` ranks.
  double busFactor(int ranks) {
    double others = (ranks - 1) / (double) ranks;
    return switch (this) {
      case ALLREDUCE -> 2 * others;
      case BROADCAST, PINGPONG, BANDWIDTH, MESSAGES, WRITES, READS, REGISTRATION, SENDRECV -> 1;
      case ALLGATHER, REDUCESCATTER, ALLTOALL -> others;
      case BARRIER -> 0;
    };
  }

  /// Whether it runs collectives of any number of ranks; else a transport between two.
  boolean isCollective() {
    return switch (this) {
      case ALLREDUCE, BROADCAST, ALLGATHER, REDUCESCATTER, ALLTOALL, BARRIER -> true;
      case PINGPONG, BANDWIDTH, MESSAGES, WRITES, READS, REGISTRATION, SENDRECV -> false;
    };
  }

  /// Whether it keeps many calls on their way at once.
  boolean isStream() {
    return callsPerIteration() > 1;
  }

  /// The sizes that are measured where none are asked for.
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

  /// How many calls one timed iteration holds: figures are those of one call.
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

  /// Iterations per round unless the user says otherwise.
  int iterations(long bytes) {
    return switch (this) {
      case MESSAGES -> MESSAGE_ITERATIONS;
      case REGISTRATION -> REGISTRATIONS;
      default -> MeasuringPlan.iterations(bytes * callsPerIteration());
    };
  }

  /// Steps per round of `SENDRECV` unless the user says otherwise.
  static int steps(int tensors, long bytes) {
    int most = Math.min(MOST_STEPS, TENSORS_PER_CASE / Math.max(1, tensors));
    return Math.min(most, MeasuringPlan.iterations(bytes * tensors));
  }

  /// The sizes that are measured for those asked: whole shares where a tensor is shared out, one
  /// empty case for a barrier. Ascending, each once. Throws `IllegalArgumentException` for messages
  /// that are too short to be numbered.
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
              "--bytes: a message of %s cannot be numbered; allowed: 16 B and more"
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
