// SPDX-License-Identifier: Apache-2.0
package io.weft.rendezvous;

import io.weft.comm.CommException;
import io.weft.tensor.TensorLease;
import java.util.Objects;

/// The outcome of a receive.
public sealed interface Arrival {

  /// A tensor, **given**: the receiver must close it, once, on any thread. Its memory is aligned to
  /// 64 bytes if it came from another rank. Otherwise it is the producer's memory.
  record Live(TensorLease tensor) implements Arrival {
    /// Throws `NullPointerException` if a component is null.
    public Live {
      Objects.requireNonNull(tensor, "tensor");
    }
  }

  /// The branch that would have produced the tensor was not taken.
  record Dead() implements Arrival {}

  /// The receive failed: with `Aborted` (for example because the step was aborted or has ended, or
  /// the limit passed), `Broken`, `PeerLost` or `Excluded`. Except after `Excluded`, other steps
  /// continue.
  record Failed(CommException cause) implements Arrival {
    /// Throws `NullPointerException` if a component is null.
    public Failed {
      Objects.requireNonNull(cause, "cause");
    }
  }
}
