// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.plan;

import io.weft.collective.Algorithms;
import io.weft.collective.choice.AlgorithmTable;
import io.weft.collective.choice.Choice;
import io.weft.collective.choice.RankLayout;
import io.weft.collective.choice.Way;
import io.weft.qa.fuzz.FuzzTarget;
import io.weft.qa.fuzz.ScratchFile;
import java.io.IOException;
import java.util.List;
import java.util.Optional;

/// A rules file that the setting `algorithms` names.
public final class AlgorithmsFileTarget implements FuzzTarget {

  private static final List<List<Integer>> HOSTS =
      List.of(List.of(0), List.of(0, 0), List.of(0, 0, 1, 1), List.of(0, 0, 0, 1, 2));
  private static final long[] LENGTHS = {0, 8 << 10, 1 << 20, Long.MAX_VALUE};

  private final ScratchFile file = new ScratchFile();

  /// Creates the target. The fuzzer calls this constructor by reflection.
  public AlgorithmsFileTarget() {}

  @Override
  public String name() {
    return "algorithms-file";
  }

  @Override
  public List<byte[]> seeds() {
    return FuzzTarget.texts(
        "# mine\nallreduce | ranks<=4 bytes<2M | wire nested-direct | measured\n",
        "allreduce | crowded hosts=2^k chunk>=64K | wire hierarchical-ring | x\n\n"
            + "barrier || wire recursive-doubling | y\nwire | kernel bytes>1M | 256K x 2 | z\n",
        "broadcast | shared-memory bytes>8K | mapped direct | z\n"
            + "allgather | hosts=1 | wire direct | z\n",
        "allreduce | shared-memory bytes<=99 | mailbox recursive-doubling | z\n"
            + "mapped || 1M x 9 | z");
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
        "mapped",
        "mailbox",
        "wire",
        "kernel",
        "64K x 4",
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

  /// Checks that the chosen algorithm can run on these hosts.
  private static void choose(
      AlgorithmTable table, CollectiveKind kind, long bytes, List<Integer> hosts) {
    RankLayout layout = RankLayout.of(hosts, false, false);
    Choice choice = Algorithms.chosen(table, kind.words(), bytes, layout);
    if (choice.way() != Way.WIRE) {
      throw new AssertionError("shared memory where there is none: " + choice);
    }
    Choice same =
        new AlgorithmSelection(table, hosts, false, false)
            .choose(kind, Optional.of(choice.algorithm()), bytes);
    if (!same.algorithm().equals(choice.algorithm())
        || !same.segments().equals(choice.segments())
        || choice.reason().isEmpty()) {
      throw new AssertionError("accepted " + choice);
    }
  }
}
