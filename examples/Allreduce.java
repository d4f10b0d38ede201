// SPDX-License-Identifier: Apache-2.0
package examples;

import static io.weft.collective.CollectiveOptions.named;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import io.weft.Weft;
import io.weft.tensor.DType;
import io.weft.tensor.OwnedTensor;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import java.util.Arrays;

/// Sums a tensor over all ranks. On two processes:
///
/// ```
/// ./weft run -np 2 -- ./weft java examples/Allreduce.java
/// ```
final class Allreduce {

  private Allreduce() {}

  static void main() throws InterruptedException {
    try (Weft weft = Weft.init();
        OwnedTensor tensor = OwnedTensor.allocate(DType.FLOAT32, Shape.of(4))) {
      for (int i = 0; i < 4; i++) {
        tensor.view().data().setAtIndex(JAVA_FLOAT, i, i + 10 * weft.rank());
      }
      weft.communicator()
          .allreduce(tensor.view(), tensor.view(), ReduceOp.SUM, named("numbers"))
          .await();
      if (weft.rank() == 0) {
        float[] sum = tensor.view().data().toArray(JAVA_FLOAT);
        System.out.println("sum over " + weft.size() + " ranks: " + Arrays.toString(sum));
      }
    }
  }
}
