// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.sim.cost;

import io.weft.WeftConfig;
import io.weft.collective.Algorithms;
import io.weft.collective.choice.Choice;
import io.weft.collective.choice.RankLayout;
import io.weft.testkit.sim.network.Network;
import io.weft.testkit.sim.network.SimLink;
import io.weft.transport.limit.ClampedDuration;
import java.time.Duration;
import java.util.List;
import java.util.Objects;

/// The cost of an allreduce by formula: the model of latency and bandwidth [THAKUR05 §3], in which
/// a message of `b` bytes takes `alpha + beta b`, extended by Weft's own messages. Every rank has
/// equal links to all others and a separate port in each direction: all ranks are on one host, or
/// one is on each host. Combining costs nothing, as in a simulation.
///
/// Symbols: `n` ranks, `m` bytes of the tensor, `p` the largest power of two up to `n`. With the
/// link's latency `L`, cost of a message `c`, and speed `B`:
///
/// * `o(b) = c + b/B`: the time for which a message of `b` bytes occupies a port. `alpha` is `L +
///   c`, `beta` is `1/B`.
/// * A run of `b` bytes up to the eager limit is one message of `b + 64` bytes: a header of the
///   transport and one of collectives. A longer run is `s` segments, each a write with a header of
///   32 bytes: `O(b)` is the time for which all of them occupy a port.
/// * `G = L + o(132)`: the grant that must precede a write; 0 if all runs are eager. All grants are
///   sent when the operation begins.
///
/// | algorithm | time |
/// |---|---|
/// | ring [PY09 §3] | `G + L + O + (2(n-1) - 1) max(O, L + o)`, `O` of a chunk, `o` of a segment: a link that carries several segments a round never waits |
/// | recursive doubling [THAKUR05 §4.5] | as ring, but with `log2 p` rounds of the whole tensor |
/// | binomial tree | `G + 2 ceil(log2 n) (L + O(m))`, for a tensor of one segment |
/// | nested-direct, nested-halving [THAKUR05 §4.5] | `G + 2 sum over its exchanges, innermost first, of (L + (f-1) O(m / F))`: `f` members, `F` the product of the members of all exchanges up to this one; nested-direct sends a part in two runs in all exchanges but the last |
/// | hierarchical-ring | one rank a host: as ring |
///
/// If `n` is not a power of two, recursive doubling takes two more steps of the whole tensor. The
/// innermost nested exchanges then have different numbers of members, and the largest number
/// counts. These are estimates, up to 15 % off, because the other ranks continue in the meantime.
/// Two duty cycles of the agent follow at the end, in which the operation completes and the caller
/// wakes. Data that arrive during a duty cycle wait for its end: if the latency is not much longer
/// than a duty cycle, small tensors take longer than the formula.
///
/// @param link between any two ranks
/// @param cycle duration of an agent's duty cycle
/// @param eagerBytes longest run that travels inside a message
/// @param segmentBytes longest segment of a longer run
public record CostModel(SimLink link, Duration cycle, long eagerBytes, long segmentBytes) {
  /// Throws `NullPointerException` if a component is null.
  public CostModel {
    Objects.requireNonNull(link, "link");
    Objects.requireNonNull(cycle, "cycle");
  }

  /// The header that the network adds to every packet.
  private static final int TRANSPORT_HEADER_BYTES = 32;

  /// The header that collectives add to an eager run (docs/protocol/collective.md).
  private static final int HEADER_BYTES = 32;

  private static final int GRANT_BYTES = 100;
  private static final int LAST_CYCLES = 2;

  /// The logarithm of the largest number of members of an exchange of nested-direct.
  private static final int MOST_BITS = 3;

  /// Returns a model with the sizes of these settings.
  public static CostModel of(SimLink link, Duration cycle, WeftConfig config) {
    Objects.requireNonNull(link, "link");
    Objects.requireNonNull(cycle, "cycle");
    int eagerBytes = config.eagerBytes().orElse(Network.EAGER_BYTES);
    Choice usual =
        Algorithms.chosen(
            Algorithms.table(config.algorithms()),
            "allreduce",
            Long.MAX_VALUE,
            RankLayout.of(List.of(0, 1), false, true));
    long segmentBytes = config.segmentBytes().orElse((int) usual.segments().bytes());
    return new CostModel(link, cycle, eagerBytes, segmentBytes);
  }

  /// Returns the time from the submission of an allreduce of this size on all ranks until the last
  /// rank has its result. Throws `IllegalArgumentException` for an unknown algorithm.
  public Duration allreduce(String algorithm, int ranks, long bytes) {
    Objects.requireNonNull(algorithm, "algorithm");
    if (ranks == 1) {
      return cycle.multipliedBy(LAST_CYCLES);
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
        .plus(cycle.multipliedBy(LAST_CYCLES));
  }

  /// Returns the time of rounds that forward each other's data, segment by segment.
  private double pipeline(int rounds, double bytes) {
    double first = latency() + occupancy(Math.min(bytes, (double) segmentBytes));
    return step(bytes) + (rounds - 1) * Math.max(port(bytes), first);
  }

  /// Returns the time of nested exchanges of parts between all members. In groups of more than two
  /// a part has two runs if the next outer exchange needs them in turn.
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

  /// Returns the numbers of members of the exchanges of `NestedExchanges`, innermost first.
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

  /// Returns the time in which ranks beyond a power of two send a tensor and get the result.
  private double folded(int ranks, double bytes) {
    return Integer.bitCount(ranks) == 1 ? 0 : 2 * step(bytes);
  }

  /// Returns the longest run of an algorithm.
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
        : latency() + occupancy(GRANT_BYTES); // `occupancy` adds the header
  }

  /// Returns the time of sequential messages or writes, including the latency of the last.
  private double step(double bytes) {
    return latency() + port(bytes);
  }

  /// Returns the time for which a run occupies a port.
  private double port(double bytes) {
    if (bytes <= eagerBytes) {
      return occupancy(HEADER_BYTES + bytes);
    }
    double segments = Math.ceil(bytes / segmentBytes);
    return segments * occupancy(bytes / segments);
  }

  private double occupancy(double bytes) {
    return ClampedDuration.nanos(link.perMessage())
        + (TRANSPORT_HEADER_BYTES + bytes) * 1e9 / link.bytesPerSecond();
  }

  private double latency() {
    return ClampedDuration.nanos(link.latency());
  }

  private static int rounds(int ranks) {
    return 31 - Integer.numberOfLeadingZeros(ranks);
  }

  private static int ceilLog2(int ranks) {
    return 32 - Integer.numberOfLeadingZeros(ranks - 1);
  }
}
