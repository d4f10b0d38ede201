// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import io.weft.tensor.ReduceOp;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.tensorflow.Graph;
import org.tensorflow.Operand;
import org.tensorflow.Result;
import org.tensorflow.Session;
import org.tensorflow.op.Ops;
import org.tensorflow.proto.ConfigProto;
import org.tensorflow.types.TFloat32;

/// The program of two ranks in one process whose kernels block.
final class BlockingProgram {

  private BlockingProgram() {}

  public static void main(String[] args) throws Exception {
    OpLibrary library = OpLibrary.load();
    System.out.println("mode " + library.mode());
    try (InMemoryRanks ranks = new InMemoryRanks(2)) {
      List<Float> sums =
          Together.run(
              2,
              rank ->
                  () -> {
                    try (Graph graph = new Graph()) {
                      Ops tf = Ops.create(graph);
                      WeftOps weft = new WeftOps(graph, ranks.of(rank));
                      List<Operand<TFloat32>> sums8 = new ArrayList<>();
                      for (int i = 0; i < 8; i++) {
                        int number = rank == 0 ? i : 7 - i;
                        sums8.add(
                            weft.allreduce(tf.constant(rank + 1f), "x" + number, ReduceOp.SUM));
                      }
                      Operand<TFloat32> sum = tf.math.addN(sums8);
                      ConfigProto config = library.sessionConfig(graph);
                      if (config.getInterOpParallelismThreads() > 8) {
                        System.out.println("threads enough");
                      }
                      try (Session session = new Session(graph, config);
                          Result result = session.runner().fetch(sum).run()) {
                        return TensorViews.of(result.get(0))
                            .data()
                            .get(ValueLayout.JAVA_FLOAT_UNALIGNED, 0);
                      }
                    }
                  });
      System.out.println("sum " + sums.getFirst());
    }
  }
}
