// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.service;

import io.weft.collective.Tuning;
import io.weft.collective.choice.Choice;
import io.weft.collective.choice.Segments;
import io.weft.collective.choice.Way;
import io.weft.collective.frame.Hash;
import io.weft.collective.group.OperationSignature;
import io.weft.collective.plan.CollectiveKind;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import org.jspecify.annotations.Nullable;

/// The cached signatures of a communicator's latest allreduces. Programs repeat few of them, and
/// describing one takes longer than the rest of a short submission. A place contains the latest
/// signature whose hash selects it. Any thread: an entry is immutable, and is compared before use.
final class Signatures {

  private static final int PLACES = 64;

  private final Tuning tuning;
  private final long version;
  private final @Nullable Entry[] latest = new Entry[PLACES];

  /// @param version number of the communicator's tuning, from 0
  Signatures(Tuning tuning, long version) {
    this.tuning = tuning;
    this.version = version;
  }

  Tuning tuning() {
    return tuning;
  }

  long version() {
    return version;
  }

  private record Entry(
      DType dtype, Shape shape, ReduceOp op, String by, OperationSignature signature) {

    boolean is(DType otherDtype, Shape otherShape, ReduceOp otherOp, String otherBy) {
      return dtype == otherDtype && op == otherOp && shape.equals(otherShape) && by.equals(otherBy);
    }
  }

  /// Hot path.
  ///
  /// @param segments segments in which the tensor is sent, if it is sent
  OperationSignature allreduce(
      DType dtype, Shape shape, ReduceOp op, Choice choice, Segments segments) {
    String by = choice.way() == Way.WIRE ? choice.algorithm() : choice.way().words();
    int place = (int) Hash.mix(31L * (31L * shape.hashCode() + dtype.hashCode()) + op.hashCode());
    place &= PLACES - 1;
    Entry entry = latest[place];
    if (entry == null || !entry.is(dtype, shape, op, by)) {
      OperationSignature signature =
          OperationSignature.of(
              CollectiveKind.ALLREDUCE, dtype, shape, op + by(choice), segments, tuning);
      entry = new Entry(dtype, shape, op, by, signature);
      latest[place] = entry;
    }
    return entry.signature();
  }

  /// Creates the signature of another collective, which is not cached.
  ///
  /// @param detail further properties on which ranks must agree
  OperationSignature of(
      CollectiveKind kind, TensorView tensor, String detail, Choice choice, Segments segments) {
    String words = (detail + by(choice)).strip();
    return OperationSignature.of(kind, tensor.dtype(), tensor.shape(), words, segments, tuning);
  }

  private String by(Choice choice) {
    String by =
        switch (choice.way()) {
          case WIRE -> choice.algorithm();
          case MAILBOX -> choice.way().words();
          case MAPPED -> choice.way().words() + choice.segments().words();
        };
    return " by " + by + tuning.words();
  }
}
