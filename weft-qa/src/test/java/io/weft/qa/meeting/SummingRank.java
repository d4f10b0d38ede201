// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.meeting;

import static io.weft.collective.CollectiveOptions.named;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.weft.Weft;
import io.weft.comm.CommException;
import io.weft.tensor.DType;
import io.weft.tensor.OwnedTensor;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;

/// A rank that sums its number with those of all ranks of its job and prints the sum.
final class SummingRank {

  private SummingRank() {}

  /// @param arguments the number of this rank
  public static void main(String[] arguments) throws InterruptedException {
    try (Weft weft = Weft.init();
        OwnedTensor tensor = OwnedTensor.allocate(DType.INT32, Shape.of(1))) {
      tensor.view().data().set(JAVA_INT, 0, Integer.parseInt(arguments[0]));
      var unused =
          weft.communicator()
              .allreduce(tensor.view(), tensor.view(), ReduceOp.SUM, named("sum"))
              .await();
      System.out.println("sum " + tensor.view().data().get(JAVA_INT, 0));
    } catch (CommException refused) {
      System.out.println("refused: " + refused.getMessage());
      System.exit(2);
    }
  }
}
