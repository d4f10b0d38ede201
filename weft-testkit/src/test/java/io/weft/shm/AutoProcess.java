// SPDX-License-Identifier: Apache-2.0
package io.weft.shm;

import static io.weft.collective.CollectiveOptions.named;

import io.weft.Weft;
import io.weft.cluster.ProcessSet;
import io.weft.collective.Communicator;
import io.weft.tensor.DType;
import io.weft.tensor.OwnedTensor;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/// A rank of a job that the environment names: sums tensors of several lengths with all ranks, then
/// with ranks 0 and 1 alone, and prints each sum and whether the two may share memory.
final class AutoProcess {

  private static final int[] ELEMENTS = {1, 100, 5_000, 300_000};

  private AutoProcess() {}

  public static void main(String[] args) throws InterruptedException {
    List<String> words = new ArrayList<>();
    try (Weft weft = Weft.init()) {
      words.add("rank " + weft.rank() + " by " + weft.transport());
      words.add("all " + sums(weft, weft.communicator()));
      if (weft.rank() < 2) {
        try (Communicator pair = weft.communicator(new ProcessSet(List.of(0, 1)))) {
          words.add("pair " + sums(weft, pair) + (shares(weft, pair) ? " in memory" : " by wire"));
        }
      }
      words.add("all again " + sums(weft, weft.communicator()));
    }
    System.out.println(String.join(", ", words));
  }

  /// Of rank + 1, one for each length: the same in each element.
  private static List<Integer> sums(Weft weft, Communicator communicator)
      throws InterruptedException {
    List<Integer> sums = new ArrayList<>();
    for (int elements : ELEMENTS) {
      Shape shape = Shape.of(elements);
      try (OwnedTensor tensor = OwnedTensor.allocate(DType.INT32, shape)) {
        for (int e = 0; e < elements; e++) {
          tensor.view().data().setAtIndex(ValueLayout.JAVA_INT, e, weft.rank() + 1);
        }
        var options = named("sum of " + elements);
        var sum = communicator.allreduce(tensor.view(), tensor.view(), ReduceOp.SUM, options);
        int[] got = sum.await().data().toArray(ValueLayout.JAVA_INT);
        int first = got[0];
        for (int each : got) {
          if (each != first) {
            throw new IllegalStateException("sum of " + elements + " has " + first + ", " + each);
          }
        }
        sums.add(first);
      }
    }
    return sums;
  }

  /// Whether the communicator takes an algorithm that needs shared memory.
  private static boolean shares(Weft weft, Communicator communicator) throws InterruptedException {
    try (OwnedTensor tensor = OwnedTensor.allocate(DType.INT32, Shape.of(5_000))) {
      var options = named("shared").by("shared");
      var sum = communicator.allreduce(tensor.view(), tensor.view(), ReduceOp.SUM, options);
      var unused = sum.await();
      return true;
    } catch (IllegalArgumentException apart) {
      return false;
    }
  }
}
