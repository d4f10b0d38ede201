// SPDX-License-Identifier: Apache-2.0
package io.weft.collective;

import io.weft.tensor.DType;
import io.weft.tensor.TensorView;

/// A transformation of a tensor before it is sent, and of the received result: a scale or a
/// narrower element type. Hooks may differ between ranks, but the element type on the wire must be
/// equal. Stateless; any thread.
public interface WireHook {

  /// The hook that changes nothing: input and output are accessed in place.
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

  /// Returns a hook that multiplies the input by `before` and the result by `after`, in floating
  /// types: Horovod's prescale and postscale factors. Throws `IllegalArgumentException` for a
  /// factor that is 0, infinite or not a number. Its `wireType` throws for a factor that is not a
  /// normal number of the type in which the elements are multiplied.
  static WireHook scaling(double before, double after) {
    return new Scaling(before, after);
  }

  /// Returns a hook that sends FLOAT32 as FLOAT16 or BFLOAT16: half of the bytes are sent, and the
  /// sums are computed in that type. Tensors of other types are sent unchanged. A value beyond the
  /// range of the narrower type becomes infinite. Throws `IllegalArgumentException` if `narrow` is
  /// another type.
  static WireHook narrowing(DType narrow) {
    return new Narrowing(narrow);
  }

  /// Returns the element type on the wire for a tensor of type `own`. If both are equal, the
  /// elements are sent from the output's memory, otherwise from memory that the communicator keeps
  /// until the operation has ended. Throws `IllegalArgumentException` for an unsupported type.
  DType wireType(DType own);

  /// Writes the elements to be sent. Runs on the submitting thread.
  ///
  /// @param wire has the input's shape and the wire's type; may be the input's memory
  void copyIn(TensorView input, TensorView wire);

  /// Writes the result from the received elements. Runs on the thread that runs the progress
  /// engine, before the handle completes, and must not block. An exception fails the operation on
  /// this rank.
  ///
  /// @param wire may be the output's memory
  void copyOut(TensorView wire, TensorView output);
}
