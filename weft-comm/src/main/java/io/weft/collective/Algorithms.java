// SPDX-License-Identifier: Apache-2.0
package io.weft.collective;

import io.weft.collective.schedule.Algorithm;
import io.weft.collective.schedule.BinomialTree;
import io.weft.collective.schedule.Direct;
import io.weft.collective.schedule.HalvingDoubling;
import io.weft.collective.schedule.Hierarchical;
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

  /// Works on the memory of other ranks where it lies; no schedule.
  static final String SHARED = "shared";

  private static final long SMALL_BYTES = 8 << 10;
  private static final long MEDIUM_BYTES = 512 << 10;
  private static final int FEW_RANKS = 8;
  private static final int FEW_HOSTS = 8;
  private static final long LONGEST_HALVED_CHUNK_BYTES = 64 << 10;

  /// The bytes that a link carries while a message is on its way, about: a ring whose chunks are
  /// shorter spends its 2(n-1) rounds on waiting.
  private static final long LEAST_RING_CHUNK_BYTES = 32 << 10;

  private final Map<PlanKey, Plan> plans = new ConcurrentHashMap<>();
  private final List<Integer> hosts;

  /// For ranks of which rank r lives on host `hosts.get(r)`; with no plans yet, it keeps those it
  /// makes.
  Algorithms(List<Integer> hosts) {
    this.hosts = List.copyOf(hosts);
  }

  private record PlanKey(Kind kind, String name, int root, int rank) {}

  /// For tests and tools: the names that `CollectiveOptions.by` takes for allreduce on every
  /// transport. (`shared` is one more, for ranks that share memory.)
  public static List<String> allreduceNames() {
    return all(Kind.ALLREDUCE, List.of(0)).stream().map(Algorithm::name).toList();
  }

  /// For tests and tools: which algorithm allreduce takes by itself.
  ///
  /// @param hosts host of each rank, any numbers
  public static String forAllreduce(long bytes, List<Integer> hosts) {
    return new Algorithms(hosts).choose(Kind.ALLREDUCE, Optional.empty(), bytes);
  }

  /// What a collective takes by itself.
  ///
  /// @param algorithm its name
  /// @param reason why, for people
  public record Choice(String algorithm, String reason) {}

  /// For tools: what a collective takes by itself for this size, and why.
  ///
  /// @param collective allreduce, reducescatter, allgather, broadcast, alltoall or barrier
  /// @param hosts host of each rank, any numbers
  /// @param sharesMemory whether the ranks may share memory
  public static Choice chosen(
      String collective, long bytes, List<Integer> hosts, boolean sharesMemory) {
    Kind kind =
        Stream.of(Kind.values())
            .filter(k -> k.words().equals(collective))
            .findFirst()
            .orElseThrow(() -> new IllegalArgumentException("no collective '" + collective + "'"));
    boolean shared = isShared(kind, Optional.empty(), bytes, sharesMemory);
    String name = shared ? SHARED : new Algorithms(hosts).choose(kind, Optional.empty(), bytes);
    return new Choice(name, Reasons.of(kind, name));
  }

  /// The plan of this rank by the named algorithm. Throws `IllegalArgumentException` naming the
  /// algorithms there are.
  Plan plan(Kind kind, String name, int root, int rank) {
    return plans.computeIfAbsent(
        new PlanKey(kind, name, root, rank),
        key ->
            Plan.of(
                root == 0 ? named(kind, name) : new Rooted(named(kind, name), root),
                rank,
                hosts.size()));
  }

  /// Whether a collective is to work on the memory of other ranks where it lies, if that can be
  /// reached: of longer tensors by itself, or because `wanted` says so. `shares`: whether the ranks
  /// of the communicator may share memory. Throws `IllegalArgumentException` if it is wanted where
  /// they do not.
  static boolean isShared(Kind kind, Optional<String> wanted, long bytes, boolean shares) {
    if (wanted.isEmpty()) {
      return switch (kind) {
        case ALLREDUCE, REDUCE_SCATTER, BROADCAST -> shares && bytes > SMALL_BYTES;
        case ALLGATHER, ALLTOALL -> shares; // no rank knows the others' sizes yet
        case BARRIER -> false;
      };
    }
    if (wanted.get().equals(SHARED) && !shares) {
      throw new IllegalArgumentException(
          "algorithm 'shared' needs ranks of one host over a transport that shares memory; this"
              + " communicator's do not; leave the choice to Weft, or take one of "
              + all(kind, List.of(0)).stream().map(Algorithm::name).toList());
    }
    return wanted.get().equals(SHARED);
  }

  /// The given name, checked, or the best for this size.
  String choose(Kind kind, Optional<String> wanted, long bytes) {
    int size = hosts.size();
    if (wanted.isPresent()) {
      return named(kind, wanted.get()).name();
    }
    return switch (kind) {
      case ALLREDUCE -> {
        if (bytes <= SMALL_BYTES) {
          yield "recursive-doubling";
        }
        int several = (int) hosts.stream().distinct().count();
        if (several > 1 && several < size) {
          yield amongHosts(several, bytes / size);
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

  /// Simulated on 16 ranks: from chunks of 64 KiB on the ring wins, with shorter ones its rounds
  /// cost more than they carry; three hosts, say, make halving move whole parts twice.
  private static String amongHosts(int number, long chunkBytes) {
    boolean fits = Integer.bitCount(number) == 1 || number > FEW_HOSTS;
    boolean halving = fits && chunkBytes <= LONGEST_HALVED_CHUNK_BYTES;
    return halving ? "hierarchical-halving" : "hierarchical-ring";
  }

  private Algorithm named(Kind kind, String name) {
    return all(kind, hosts).stream()
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
                        + all(kind, hosts).stream().map(Algorithm::name).toList()));
  }

  private static List<Algorithm> all(Kind kind, List<Integer> hosts) {
    return switch (kind) {
      case ALLREDUCE, BARRIER ->
          List.of(
              Ring.allreduce(),
              new RecursiveDoubling(),
              new HalvingDoubling(),
              BinomialTree.allreduce(),
              Direct.allreduce(),
              Hierarchical.ring(hosts),
              Hierarchical.halving(hosts));
      case REDUCE_SCATTER -> List.of(Ring.reduceScatter(), Direct.reduceScatter());
      case ALLGATHER -> List.of(Ring.allgather(), Direct.allgather());
      case BROADCAST -> List.of(BinomialTree.broadcast());
      case ALLTOALL -> Stream.of(Direct.alltoall()).toList();
    };
  }
}
