// SPDX-License-Identifier: Apache-2.0
package io.weft.collective;

import io.weft.tensor.DType;
import io.weft.tensor.TensorView;

/// What happens to a tensor before it goes to the wire, and to what came from it: a scale, a
/// narrower element type. The type of the elements on the wire must be the same on all ranks, the
/// rest may differ from rank to rank. Stateless; any thread.
public interface WireHook {

  /// Nothing happens: the input is read and the output written where they lie.
  WireHook NONE =
      new WireHook() {
        @Override
        public DType wireType(DType own) {
          return own;
        }

        @Override
        public void copyIn(TensorView input, TensorView wire) {}

        @Override
        public void copyOut(TensorView wire, TensorView output) {}

        @Override
        public String toString() {
          return "none";
        }
      };

  /// Multiplies the input by `before` and the result by `after`, in floating types. Horovod's
  /// prescale and postscale factors. Throws `IllegalArgumentException` for a factor that is 0,
  /// infinite or not a number, and its `wireType` for one that is not a normal number of the type
  /// in which elements are multiplied.
  static WireHook scaling(double before, double after) {
    return new Scaling(before, after);
  }

  /// Sends FLOAT32 as FLOAT16 or BFLOAT16: half of the bytes, and sums in that type. What has
  /// another type already travels as it is; what the narrower type does not hold becomes infinite
  /// in it. Throws `IllegalArgumentException` for other types.
  static WireHook narrowing(DType narrow) {
    return new Narrowing(narrow);
  }

  /// The type of the elements that travel for a tensor of type `own`. Where it is the same, they
  /// travel in the output's memory; else in memory of the communicator, which lasts until the
  /// operation is done. Throws `IllegalArgumentException` for a type that this does not take.
  DType wireType(DType own);

  /// Writes what travels. On the thread that submits.
  ///
  /// @param wire of the input's shape and the wire's type; perhaps the input's memory
  void copyIn(TensorView input, TensorView wire);

  /// Writes the result from what came. Where the progress thread runs, before the handle completes:
  /// it must not block. What it throws fails the operation on this rank.
  ///
  /// @param wire perhaps the output's memory
  void copyOut(TensorView wire, TensorView output);
}
