// SPDX-License-Identifier: Apache-2.0
package io.weft.collective;

import io.weft.collective.schedule.Algorithm;
import io.weft.collective.schedule.BinomialTree;
import io.weft.collective.schedule.Direct;
import io.weft.collective.schedule.HalvingDoubling;
import io.weft.collective.schedule.RecursiveDoubling;
import io.weft.collective.schedule.Ring;
import io.weft.collective.schedule.Rooted;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/// Which algorithms there are for each collective, and which is taken for a size and a number of
/// ranks. Thread-safe.
public final class Algorithms {

  private static final long SMALL_BYTES = 8 << 10;
  private static final long MEDIUM_BYTES = 512 << 10;
  private static final int FEW_RANKS = 8;

  /// The bytes that a link carries while a message is on its way, about: a ring whose chunks are
  /// shorter spends its 2(n-1) rounds on waiting.
  private static final long LEAST_RING_CHUNK_BYTES = 32 << 10;

  private final Map<PlanKey, Plan> plans = new ConcurrentHashMap<>();

  /// With no plans yet; it keeps those it makes.
  Algorithms() {}

  private record PlanKey(Kind kind, String name, int root, int rank, int size) {}

  /// For tests and tools: the names that `CollectiveOptions.by` takes for allreduce.
  public static List<String> allreduceNames() {
    return all(Kind.ALLREDUCE).stream().map(Algorithm::name).toList();
  }

  /// For tests and tools: which algorithm allreduce takes by itself.
  public static String forAllreduce(long bytes, int ranks) {
    return choose(Kind.ALLREDUCE, Optional.empty(), bytes, ranks);
  }

  /// The plan of this rank by the named algorithm. Throws `IllegalArgumentException` naming the
  /// algorithms there are.
  Plan plan(Kind kind, String name, int root, int rank, int size) {
    return plans.computeIfAbsent(
        new PlanKey(kind, name, root, rank, size),
        key ->
            Plan.of(
                root == 0 ? named(kind, name) : new Rooted(named(kind, name), root), rank, size));
  }

  /// The given name, checked, or the best for this size.
  static String choose(Kind kind, Optional<String> wanted, long bytes, int size) {
    if (wanted.isPresent()) {
      return named(kind, wanted.get()).name();
    }
    return switch (kind) {
      case ALLREDUCE -> {
        if (bytes <= SMALL_BYTES) {
          yield "recursive-doubling";
        }
        if (size == 2) {
          yield "ring";
        }
        if (size <= FEW_RANKS) {
          yield bytes > MEDIUM_BYTES ? "ring" : "direct";
        }
        boolean ring = bytes > MEDIUM_BYTES && bytes / size >= LEAST_RING_CHUNK_BYTES;
        yield ring ? "ring" : "halving-doubling";
      }
      case REDUCE_SCATTER -> bytes <= MEDIUM_BYTES && size <= FEW_RANKS ? "direct" : "ring";
      case ALLGATHER -> "ring"; // no rank knows the others' sizes yet
      case BROADCAST -> "binomial-tree";
      case ALLTOALL -> "direct";
      case BARRIER -> "recursive-doubling";
    };
  }

  private static Algorithm named(Kind kind, String name) {
    return all(kind).stream()
        .filter(a -> a.name().equals(name))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "no algorithm '"
                        + name
                        + "' for "
                        + kind.words()
                        + "; there are "
                        + all(kind).stream().map(Algorithm::name).toList()));
  }

  private static List<Algorithm> all(Kind kind) {
    return switch (kind) {
      case ALLREDUCE, BARRIER ->
          List.of(
              Ring.allreduce(),
              new RecursiveDoubling(),
              new HalvingDoubling(),
              BinomialTree.allreduce(),
              Direct.allreduce());
      case REDUCE_SCATTER -> List.of(Ring.reduceScatter(), Direct.reduceScatter());
      case ALLGATHER -> List.of(Ring.allgather(), Direct.allgather());
      case BROADCAST -> List.of(BinomialTree.broadcast());
      case ALLTOALL -> Stream.of(Direct.alltoall()).toList();
    };
  }
}
