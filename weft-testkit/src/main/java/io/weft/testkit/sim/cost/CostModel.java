// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.sim.cost;

import io.weft.WeftConfig;
import io.weft.collective.Algorithms;
import io.weft.collective.choice.Choice;
import io.weft.collective.choice.RankLayout;
import io.weft.testkit.sim.network.Network;
import io.weft.testkit.sim.network.SimLink;
import io.weft.transport.limit.Span;
import java.time.Duration;
import java.util.List;
import java.util.Objects;

/// What an allreduce costs by formula: the model of latency and bandwidth [THAKUR05 §3], in which a
/// message of `b` bytes takes `alpha + beta b`, with Weft's own messages in it. Every rank has the
/// same link to every other one and a port of its own each way: all ranks on one host, or one a
/// host. Combining costs nothing, as in a simulation.
///
/// Symbols: `n` ranks, `m` bytes of the tensor, `p` the largest power of two up to `n`. With the
/// link's latency `L`, cost of a message `c`, and speed `B`:
///
/// * `o(b) = c + b/B`: how long a message of `b` bytes keeps a port. `alpha` is `L + c`, `beta` is
///   `1/B`.
/// * A run of `b` bytes up to the eager limit is one message of `b + 64` bytes: a header of the
///   transport and one of collectives. A longer one is `s` segments, each a write with a header of
///   32 bytes: `O(b)` is the time that all of them keep a port.
/// * `G = L + o(132)`: the grant without which nothing is written; 0 where all runs are eager. All
///   grants leave when the operation begins.
///
/// | algorithm | time |
/// |---|---|
/// | ring [PY09 §3] | `G + L + O + (2(n-1) - 1) max(O, L + o)`, `O` of a chunk, `o` of a segment: a link that carries several segments a round never waits |
/// | recursive doubling [THAKUR05 §4.5] | the same with `log2 p` rounds of the whole tensor |
/// | binomial tree | `G + 2 ceil(log2 n) (L + O(m))`, for a tensor of one segment |
/// | nested-direct, nested-halving [THAKUR05 §4.5] | `G + 2 sum over its exchanges, innermost first, of (L + (f-1) O(m / F))`: `f` members, `F` of all exchanges up to this one multiplied; in nested-direct a part goes in two runs in all but the last |
/// | hierarchical-ring | one rank a host: as ring |
///
/// Where `n` is no power of two, recursive doubling takes two steps more, of the whole tensor, and
/// the innermost nested exchanges have different numbers of members, of which the largest counts;
/// these are estimates, up to 15 % off, because the other ranks go on meanwhile. At the end come
/// two turns of the agent, in which the operation ends and the caller wakes. What arrives during a
/// turn waits for its end: where the latency is not much longer than a turn, small tensors take
/// longer than the formula says.
///
/// @param link between any two ranks
/// @param turn of an agent
/// @param eagerBytes runs up to this travel inside messages
/// @param segmentBytes longest piece of a longer run
public record CostModel(SimLink link, Duration turn, long eagerBytes, long segmentBytes) {
  /// Throws `NullPointerException` where a part is missing.
  public CostModel {
    Objects.requireNonNull(link, "link");
    Objects.requireNonNull(turn, "turn");
  }

  /// What the network puts before everything.
  private static final int TRANSPORT_HEADER_BYTES = 32;

  /// What collectives put before an eager run (docs/protocol/collective.md).
  private static final int HEADER_BYTES = 32;

  private static final int GRANT_BYTES = 100;
  private static final int LAST_TURNS = 2;

  /// Logarithm of the most members of an exchange of nested-direct.
  private static final int MOST_BITS = 3;

  /// With the sizes that these settings have.
  public static CostModel of(SimLink link, Duration turn, WeftConfig config) {
    Objects.requireNonNull(link, "link");
    Objects.requireNonNull(turn, "turn");
    int eagerBytes = config.eagerBytes().orElse(Network.EAGER_BYTES);
    Choice usual =
        Algorithms.chosen(
            Algorithms.table(config.algorithms()),
            "allreduce",
            Long.MAX_VALUE,
            RankLayout.of(List.of(0, 1), false, true));
    long segmentBytes = config.segmentBytes().orElse((int) usual.segments().bytes());
    return new CostModel(link, turn, eagerBytes, segmentBytes);
  }

  /// The time from the moment at which all ranks submit an allreduce of so many bytes until the
  /// last one has its result. Throws `IllegalArgumentException` for an unknown algorithm.
  public Duration allreduce(String algorithm, int ranks, long bytes) {
    Objects.requireNonNull(algorithm, "algorithm");
    if (ranks == 1) {
      return turn.multipliedBy(LAST_TURNS);
    }
    double whole = (double) bytes;
    double nanos =
        switch (algorithm) {
          case "ring", "hierarchical-ring" -> pipeline(2 * (ranks - 1), whole / ranks);
          case "recursive-doubling" -> folded(ranks, whole) + pipeline(rounds(ranks), whole);
          case "binomial-tree" -> 2 * ceilLog2(ranks) * step(whole);
          case "nested-direct", "nested-halving" -> nested(algorithm, ranks, whole);
          default -> throw new IllegalArgumentException("no formula for '" + algorithm + "'");
        };
    return Duration.ofNanos(Math.round(grant(longest(algorithm, ranks, whole)) + nanos))
        .plus(turn.multipliedBy(LAST_TURNS));
  }

  /// So many rounds, each of which forwards what the one before has brought, segment by segment.
  private double pipeline(int rounds, double bytes) {
    double first = latency() + occupancy(Math.min(bytes, (double) segmentBytes));
    return step(bytes) + (rounds - 1) * Math.max(port(bytes), first);
  }

  /// Each member of an exchange sends every other one a part, and gets one: in groups of more than
  /// two, in two runs where the next exchange outwards needs them in turn.
  private double nested(String algorithm, int ranks, double bytes) {
    int[] members = members(algorithm, ranks);
    double nanos = 0;
    double part = bytes;
    for (int level = 0; level < members.length; level++) {
      part /= members[level];
      int runs = algorithm.equals("nested-direct") && level < members.length - 1 ? 2 : 1;
      nanos += 2 * (latency() + (members[level] - 1) * runs * port(part / runs));
    }
    return nanos;
  }

  /// How many members the exchanges of `NestedExchanges` have, innermost first.
  private static int[] members(String algorithm, int ranks) {
    int mostBits = algorithm.equals("nested-direct") ? MOST_BITS : 1;
    int levels = Math.ceilDiv(ceilLog2(ranks), mostBits);
    int[] members = new int[levels];
    int outer = 1;
    for (int level = levels - 1; level > 0; level--) {
      members[level] = 1 << ((ceilLog2(ranks) + level) / levels);
      outer *= members[level];
    }
    members[0] = Math.ceilDiv(ranks, outer);
    return members;
  }

  /// A rank more than a power of two hands its tensor over, and gets the result.
  private double folded(int ranks, double bytes) {
    return Integer.bitCount(ranks) == 1 ? 0 : 2 * step(bytes);
  }

  /// The longest run of an algorithm.
  private static double longest(String algorithm, int ranks, double bytes) {
    return switch (algorithm) {
      case "ring", "hierarchical-ring" -> bytes / ranks;
      case "nested-direct", "nested-halving" -> bytes / members(algorithm, ranks)[0];
      default -> bytes;
    };
  }

  private double grant(double longest) {
    return longest <= eagerBytes
        ? 0
        : latency() + occupancy(GRANT_BYTES); // the header is in `occupancy`
  }

  /// One message or write after the other, and the way of the last one.
  private double step(double bytes) {
    return latency() + port(bytes);
  }

  /// How long a run keeps a port.
  private double port(double bytes) {
    if (bytes <= eagerBytes) {
      return occupancy(HEADER_BYTES + bytes);
    }
    double segments = Math.ceil(bytes / segmentBytes);
    return segments * occupancy(bytes / segments);
  }

  private double occupancy(double bytes) {
    return Span.nanos(link.perMessage())
        + (TRANSPORT_HEADER_BYTES + bytes) * 1e9 / link.bytesPerSecond();
  }

  private double latency() {
    return Span.nanos(link.latency());
  }

  private static int rounds(int ranks) {
    return 31 - Integer.numberOfLeadingZeros(ranks);
  }

  private static int ceilLog2(int ranks) {
    return 32 - Integer.numberOfLeadingZeros(ranks - 1);
  }
}
