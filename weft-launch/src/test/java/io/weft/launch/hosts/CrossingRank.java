// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.hosts;

import static io.weft.collective.CollectiveOptions.named;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.weft.Weft;
import io.weft.cluster.Member;
import io.weft.collective.CollectiveOptions;
import io.weft.tensor.DType;
import io.weft.tensor.OwnedTensor;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import java.util.List;

/// The program of a rank that sums tensors with all other ranks, by each algorithm that uses hosts
/// and by Weft's choice, and prints whether all sums are correct.
final class CrossingRank {

  private static final List<String> ALGORITHMS =
      List.of(
          "", "hierarchical-ring", "nested-direct", "nested-halving", "recursive-doubling", "ring");

  private CrossingRank() {}

  /// @param arguments lengths of the tensors, in elements
  public static void main(String[] arguments) throws Exception {
    try (Weft weft = Weft.init()) {
      int wrong = 0;
      for (String length : arguments) {
        for (String algorithm : ALGORITHMS) {
          wrong += wrongSums(weft, Integer.parseInt(length), algorithm);
        }
      }
      long hosts = weft.topology().members().stream().map(Member::host).distinct().count();
      System.out.printf(
          "rank %d of %d, local rank %d of %d, of %d hosts: %d wrong%n",
          weft.rank(), weft.size(), weft.localRank(), weft.localSize(), hosts, wrong);
    }
  }

  private static int wrongSums(Weft weft, int length, String algorithm) throws Exception {
    String name = length + " " + algorithm;
    CollectiveOptions options = algorithm.isEmpty() ? named(name) : named(name).by(algorithm);
    int ranks = weft.size();
    try (OwnedTensor tensor = OwnedTensor.allocate(DType.INT32, Shape.of(length))) {
      for (int i = 0; i < length; i++) {
        tensor.view().data().setAtIndex(JAVA_INT, i, weft.rank() * 31 + i);
      }
      var unused =
          weft.communicator()
              .allreduce(tensor.view(), tensor.view(), ReduceOp.SUM, options)
              .await();
      int wrong = 0;
      for (int i = 0; i < length; i++) {
        int expected = ranks * (ranks - 1) / 2 * 31 + ranks * i;
        wrong += tensor.view().data().getAtIndex(JAVA_INT, i) == expected ? 0 : 1;
      }
      return wrong;
    }
  }
}
