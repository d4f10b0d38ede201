// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.plan;

import io.weft.collective.Algorithms;
import io.weft.collective.choice.AlgorithmTable;
import io.weft.collective.choice.Rule;
import io.weft.testkit.fuzz.FuzzTarget;
import io.weft.testkit.fuzz.ScratchFile;
import java.io.IOException;
import java.util.List;
import java.util.Optional;

/// A file of rules as the setting `algorithms` names it.
public final class AlgorithmsFileTarget implements FuzzTarget {

  private static final List<List<Integer>> HOSTS =
      List.of(List.of(0), List.of(0, 0), List.of(0, 0, 1, 1), List.of(0, 0, 0, 1, 2));
  private static final long[] LENGTHS = {0, 8 << 10, 1 << 20, Long.MAX_VALUE};

  private final ScratchFile file = new ScratchFile();

  /// For the fuzzer.
  public AlgorithmsFileTarget() {}

  @Override
  public String name() {
    return "algorithms-file";
  }

  @Override
  public List<byte[]> seeds() {
    return FuzzTarget.texts(
        "# mine\nallreduce | ranks<=4 bytes<2M | direct | measured\n",
        "allreduce | crowded hosts=2^k chunk>=64K | hierarchical-ring | x\n\n"
            + "barrier || recursive-doubling | y",
        "broadcast | shared-memory bytes>8K | shared | z\nallgather | hosts=1 | direct | z\n");
  }

  @Override
  public List<byte[]> dictionary() {
    return FuzzTarget.texts(
        "|",
        "bytes",
        "chunk",
        "ranks",
        "hosts",
        "<=",
        ">=",
        "<",
        ">",
        "=",
        "2^k",
        "crowded",
        "shared-memory",
        "shared",
        "reducescatter",
        "alltoall",
        "ring",
        "9999999999999",
        "16384G");
  }

  @Override
  public void decode(byte[] input) throws IOException {
    AlgorithmTable table;
    try {
      table = Algorithms.table(Optional.of(file.with(input)));
    } catch (IllegalArgumentException refused) {
      if (refused.getMessage() == null) {
        throw new AssertionError("no message", refused);
      }
      return;
    }
    for (CollectiveKind kind : CollectiveKind.values()) {
      for (List<Integer> hosts : HOSTS) {
        for (long bytes : LENGTHS) {
          choose(table, kind, bytes, hosts);
        }
      }
    }
  }

  /// What is chosen can be run there.
  private static void choose(
      AlgorithmTable table, CollectiveKind kind, long bytes, List<Integer> hosts) {
    Rule rule = Algorithms.chosen(table, kind.words(), bytes, hosts, false);
    if (rule.algorithm().equals(AlgorithmRegistry.SHARED)) {
      throw new AssertionError("shared memory where there is none: " + rule);
    }
    String same =
        new AlgorithmSelection(table, hosts, false)
            .choose(kind, Optional.of(rule.algorithm()), bytes);
    if (!same.equals(rule.algorithm()) || rule.why().isEmpty()) {
      throw new AssertionError("accepted " + rule);
    }
  }
}
