// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import io.weft.collective.CollectiveOptions;
import io.weft.collective.Communicator;
import io.weft.comm.Handle;
import io.weft.gradient.GradientReducer;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.TensorView;
import io.weft.tensorflow.ffm.KernelConstruction;

/// What an op of the graph does, as its attributes say. Input and output have one shape.
sealed interface CollectiveOp {

  /// Starts it. `output` is `input` itself where TensorFlow forwarded the memory.
  Handle<TensorView> submit(
      CommunicatorTable.Served served,
      TensorView input,
      TensorView output,
      CollectiveOptions options);

  /// Reads a collective from the attributes of its node.
  interface NodeReader {
    /// Throws `IllegalStateException` if an attribute is missing.
    CollectiveOp read(KernelConstruction construction);
  }

  /// The op `WeftAllreduce`.
  record Allreduce(ReduceOp op) implements CollectiveOp {

    static CollectiveOp read(KernelConstruction construction) {
      return new Allreduce(ReduceOp.valueOf(construction.string("op")));
    }

    @Override
    public Handle<TensorView> submit(
        CommunicatorTable.Served served,
        TensorView input,
        TensorView output,
        CollectiveOptions options) {
      GradientReducer reducer = served.reducer();
      return reducer != null && op == ReduceOp.AVERAGE
          ? reducer.reduce(options.name(), input, output)
          : served.communicator().allreduce(input, output, op, options);
    }
  }

  /// The op `WeftBroadcast`.
  record Broadcast(int root) implements CollectiveOp {

    static CollectiveOp read(KernelConstruction construction) {
      return new Broadcast(Math.toIntExact(construction.integer("root")));
    }

    @Override
    public Handle<TensorView> submit(
        CommunicatorTable.Served served,
        TensorView input,
        TensorView output,
        CollectiveOptions options) {
      Communicator communicator = served.communicator();
      if (communicator.rank() == root && input.data().address() != output.data().address()) {
        output.data().copyFrom(input.data());
      }
      return communicator.broadcast(output, root, options);
    }
  }
}
