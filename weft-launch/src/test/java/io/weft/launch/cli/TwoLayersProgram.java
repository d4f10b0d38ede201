// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import io.weft.Weft;
import io.weft.comm.Handle;
import io.weft.dataparallel.DataParallel;
import io.weft.dataparallel.Reducer;
import io.weft.dataparallel.ReductionRequest;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.time.Duration;

/// The program of a rank with two layers whose tensors have equal names. It prints the sums of each
/// round in which a sum mixes the layers, and at the end the number of correct rounds.
public final class TwoLayersProgram {

  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final int ROUNDS = 20;

  private TwoLayersProgram() {}

  /// Sums 1 and 1000 of each rank, in a different order on each rank.
  public static void main(String[] arguments) throws InterruptedException {
    try (Weft weft = Weft.init();
        DataParallel one = DataParallel.open(weft);
        DataParallel other = DataParallel.open(weft)) {
      Reducer small = one.reducer(weft.communicator());
      Reducer large = other.reducer(weft.communicator());
      int right = 0;
      for (int round = 0; round < ROUNDS; round++) {
        float[] sums = new float[2];
        Handle<TensorView> first = sum(weft.rank() == 0 ? small : large, weft.rank() == 0);
        Handle<TensorView> second = sum(weft.rank() == 0 ? large : small, weft.rank() != 0);
        sums[weft.rank()] = value(first);
        sums[1 - weft.rank()] = value(second);
        if (sums[0] == 2 && sums[1] == 2000) {
          right++;
        } else {
          System.out.println("round " + round + ": " + sums[0] + " and " + sums[1]);
        }
      }
      System.out.println(right + " rounds are right");
    }
  }

  private static Handle<TensorView> sum(Reducer reducer, boolean small) {
    TensorView tensor =
        new TensorView(
            DType.FLOAT32,
            Shape.of(1),
            Arena.ofAuto().allocateFrom(ValueLayout.JAVA_FLOAT, small ? 1f : 1000f));
    return reducer.allreduce(ReductionRequest.of("gradient", tensor, ReduceOp.SUM));
  }

  private static float value(Handle<TensorView> sum) throws InterruptedException {
    return sum.await(LIMIT).data().get(ValueLayout.JAVA_FLOAT, 0);
  }
}
