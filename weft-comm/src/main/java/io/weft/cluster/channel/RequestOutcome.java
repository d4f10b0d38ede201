// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.channel;

import io.weft.comm.CommException;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/// The outcome of a request.
public sealed interface RequestOutcome {

  /// The peer has replied.
  ///
  /// @param body valid during the call
  /// @param written number of bytes at the beginning of `Request.into` that the peer has written
  record Replied(MemorySegment body, long written) implements RequestOutcome {
    /// Throws `NullPointerException` if a component is null.
    public Replied {
      Objects.requireNonNull(body, "body");
    }
  }

  /// The request failed and will not be answered.
  record Failed(CommException cause) implements RequestOutcome {
    /// Throws `NullPointerException` if a component is null.
    public Failed {
      Objects.requireNonNull(cause, "cause");
    }
  }
}
