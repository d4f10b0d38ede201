// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.negotiation;

import io.weft.dataparallel.frame.TensorSignature;

/// A tensor that this rank has submitted and that is not ready on all ranks. Confined to one
/// thread.
final class LocalTensor {

  enum State {
    /// The other ranks do not know of the tensor.
    UNTOLD,
    /// A byte of the vector announces the tensor.
    CACHED,
    /// The tensor was announced in a report.
    TOLD,
    /// The tensor is ready on all ranks, and waits for the rest of its group.
    HELD
  }

  final String name;
  final TensorSignature signature;
  final long submitted;
  final long deadline;
  State state = State.UNTOLD;
  long toldRound;

  /// @param submitted submission time, in nanoseconds of the layer's clock
  /// @param deadline deadline, in nanoseconds of the layer's clock
  LocalTensor(String name, TensorSignature signature, long submitted, long deadline) {
    this.name = name;
    this.signature = signature;
    this.submitted = submitted;
    this.deadline = deadline;
  }
}
