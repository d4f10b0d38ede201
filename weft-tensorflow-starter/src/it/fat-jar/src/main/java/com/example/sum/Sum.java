// SPDX-License-Identifier: Apache-2.0
package com.example.sum;

import static io.weft.collective.CollectiveOptions.named;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import io.weft.Weft;
import io.weft.tensor.DType;
import io.weft.tensor.OwnedTensor;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;

/// A program that sums the numbers of the ranks.
final class Sum {

  private Sum() {}

  public static void main(String[] arguments) throws InterruptedException {
    try (Weft weft = Weft.init();
        OwnedTensor tensor = OwnedTensor.allocate(DType.FLOAT32, Shape.of(1))) {
      tensor.view().data().set(JAVA_FLOAT, 0, weft.rank() + 1);
      weft.communicator()
          .allreduce(tensor.view(), tensor.view(), ReduceOp.SUM, named("ranks"))
          .await();
      System.out.println(
          "sum " + tensor.view().data().get(JAVA_FLOAT, 0) + " over " + weft.transport());
    }
  }
}
