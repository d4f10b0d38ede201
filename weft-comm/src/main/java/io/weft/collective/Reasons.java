// SPDX-License-Identifier: Apache-2.0
package io.weft.collective;

/// Why `Algorithms` takes what it takes, for people. The bounds are those that stand there.
final class Reasons {

  private Reasons() {}

  /// One line, without a full stop.
  static String of(Kind kind, String algorithm) {
    if (algorithm.equals(Algorithms.SHARED)) {
      return ofShared(kind);
    }
    return switch (kind) {
      case ALLREDUCE -> ofAllreduce(algorithm);
      case REDUCE_SCATTER ->
          algorithm.equals("direct")
              ? "at most 512 KiB and 8 ranks: one round, every pair at once"
              : "each rank sends (n-1)/n of the bytes, the least there is, in n-1 rounds";
      case ALLGATHER -> "no rank knows the others' sizes before; each sends (n-1)/n of the bytes";
      case BROADCAST -> "every rank that has the tensor sends it on: log2 n rounds";
      case ALLTOALL -> "every share has another goal: one round, every pair at once";
      case BARRIER -> "log2 n rounds, no rank waits for a root";
    };
  }

  private static String ofShared(Kind kind) {
    return switch (kind) {
      case ALLREDUCE, REDUCE_SCATTER ->
          "longer than 8 KiB, and these ranks share memory: each combines one part of all tensors"
              + " where they lie";
      case BROADCAST ->
          "longer than 8 KiB, and these ranks share memory: each copies the root's tensor where it"
              + " lies";
      case ALLGATHER, ALLTOALL ->
          "these ranks share memory: each copies its part of the others' tensors where they lie";
      case BARRIER -> throw new IllegalArgumentException("a barrier has no tensors");
    };
  }

  private static String ofAllreduce(String algorithm) {
    return switch (algorithm) {
      case "recursive-doubling" ->
          "at most 8 KiB: the time is that of the rounds, and log2 n are the fewest";
      case "direct" -> "at most 512 KiB and 8 ranks: two rounds, every pair at once";
      case "ring" ->
          "each rank sends 2(n-1)/n of the bytes, the least there is, in parts that are long"
              + " enough to hide the rounds";
      case "halving-doubling" ->
          "parts of a ring would be too short to hide its 2(n-1) rounds: 2 log2 n rounds with as"
              + " few bytes";
      case "hierarchical-halving" ->
          "several hosts with several ranks each: one part of each host crosses between them, too"
              + " short for a ring's rounds";
      case "hierarchical-ring" ->
          "several hosts with several ranks each: one part of each host crosses between them, by"
              + " rings";
      default -> throw new IllegalArgumentException("nothing is known of '" + algorithm + "'");
    };
  }
}
