// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.torture;

import static io.weft.collective.CollectiveOptions.named;

import io.weft.Weft;
import io.weft.comm.CommException;
import io.weft.tensor.DType;
import io.weft.tensor.OwnedTensor;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import java.io.PrintStream;

/// A target program for harm. It sums a megabyte repeatedly and exits with 1 after a failure.
public final class EndlessSums {

  private static final int ELEMENTS = 1 << 18;

  private EndlessSums() {}

  /// Joins the job that the environment names.
  public static void main(String[] arguments) throws InterruptedException {
    System.exit(run(System.out, System.err));
  }

  private static int run(PrintStream out, PrintStream err) throws InterruptedException {
    try (Weft weft = Weft.init();
        OwnedTensor tensor = OwnedTensor.allocate(DType.FLOAT32, Shape.of(ELEMENTS))) {
      for (long step = 0; ; step++) {
        var sum =
            weft.communicator()
                .allreduce(tensor.view(), tensor.view(), ReduceOp.AVERAGE, named("sum"));
        var unused = sum.await();
        if (step == 0) {
          out.println("working");
        }
      }
    } catch (CommException failed) {
      err.println("failed: " + failed.getMessage());
      return 1;
    }
  }
}
