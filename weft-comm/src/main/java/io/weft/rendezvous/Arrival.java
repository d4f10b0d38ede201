// SPDX-License-Identifier: Apache-2.0
package io.weft.rendezvous;

import io.weft.comm.CommException;
import io.weft.tensor.TensorLease;
import java.util.Objects;

/// What became of a receive.
public sealed interface Arrival {

  /// A tensor, **given**: the receiver closes it, once, on any thread. Its memory is aligned to 64
  /// bytes if it came from another rank, else it is the producer's.
  record Live(TensorLease tensor) implements Arrival {
    /// Throws `NullPointerException` where a part is missing.
    public Live {
      Objects.requireNonNull(tensor, "tensor");
    }
  }

  /// The branch that would have produced the tensor was not taken.
  record Dead() implements Arrival {}

  /// Nothing comes: `Aborted` (the step was aborted or has ended, or the deadline passed),
  /// `PeerLost` or `Excluded`. Other steps work on.
  record Failed(CommException cause) implements Arrival {
    /// Throws `NullPointerException` where a part is missing.
    public Failed {
      Objects.requireNonNull(cause, "cause");
    }
  }
}
