// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.perf;

import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/// What can be measured. `bytes` is the larger of a rank's input and output; bus bandwidth is what
/// a link carries in an optimal algorithm: factor · bytes / p50.
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
  BARRIER;

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
    return Stream.of(values())
        .filter(b -> b.label().equals(label))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "unknown benchmark '%s'; allowed: %s"
                        .formatted(label, String.join(", ", labels()))));
  }

  /// Bytes over a link per byte of tensor, for `ranks` ranks.
  double busFactor(int ranks) {
    double others = (ranks - 1) / (double) ranks;
    return switch (this) {
      case ALLREDUCE -> 2 * others;
      case BROADCAST -> 1;
      case ALLGATHER, REDUCESCATTER, ALLTOALL -> others;
      case BARRIER -> 0;
    };
  }

  /// The sizes that are measured for those asked: whole shares where a tensor is shared out, one
  /// empty case for a barrier. Ascending, each once.
  List<Long> sizes(List<Long> asked, int ranks) {
    return switch (this) {
      case ALLREDUCE, BROADCAST -> asked;
      case ALLGATHER, REDUCESCATTER, ALLTOALL -> {
        long unit = (long) Float.BYTES * ranks;
        yield asked.stream().map(b -> Math.ceilDiv(b, unit) * unit).distinct().toList();
      }
      case BARRIER -> List.of(0L);
    };
  }
}
