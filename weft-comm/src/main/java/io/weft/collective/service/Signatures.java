// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.service;

import io.weft.collective.Tuning;
import io.weft.collective.frame.Hash;
import io.weft.collective.group.OperationSignature;
import io.weft.collective.plan.CollectiveKind;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import org.jspecify.annotations.Nullable;

/// The signatures of a communicator's latest allreduces: programs repeat few of them, and to word
/// one takes longer than the rest of a short submission. A place holds the last one that fell on
/// it. Any thread: what is read is an immutable entry or none, and is compared before it is used.
final class Signatures {

  private static final int PLACES = 64;

  private final Tuning tuning;
  private final @Nullable Entry[] latest = new Entry[PLACES];

  Signatures(Tuning tuning) {
    this.tuning = tuning;
  }

  private record Entry(
      DType dtype, Shape shape, ReduceOp op, String algorithm, OperationSignature signature) {

    boolean is(DType otherDtype, Shape otherShape, ReduceOp otherOp, String otherAlgorithm) {
      return dtype == otherDtype
          && op == otherOp
          && shape.equals(otherShape)
          && algorithm.equals(otherAlgorithm);
    }
  }

  /// Hot path.
  OperationSignature allreduce(DType dtype, Shape shape, ReduceOp op, String algorithm) {
    int place = (int) Hash.mix(31L * (31L * shape.hashCode() + dtype.hashCode()) + op.hashCode());
    place &= PLACES - 1;
    Entry entry = latest[place];
    if (entry == null || !entry.is(dtype, shape, op, algorithm)) {
      OperationSignature signature =
          OperationSignature.of(
              CollectiveKind.ALLREDUCE, dtype, shape, op + " by " + algorithm, tuning);
      entry = new Entry(dtype, shape, op, algorithm, signature);
      latest[place] = entry;
    }
    return entry.signature();
  }
}
