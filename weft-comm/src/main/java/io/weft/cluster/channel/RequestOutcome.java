// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.channel;

import io.weft.comm.CommException;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/// What became of a request.
public sealed interface RequestOutcome {

  /// The peer has replied.
  ///
  /// @param body valid during the call
  /// @param written bytes at the beginning of `Request.into` that the peer has written
  record Replied(MemorySegment body, long written) implements RequestOutcome {
    /// Throws `NullPointerException` where a part is missing.
    public Replied {
      Objects.requireNonNull(body, "body");
    }
  }

  /// There is no reply, and none will come.
  record Failed(CommException cause) implements RequestOutcome {
    /// Throws `NullPointerException` where a part is missing.
    public Failed {
      Objects.requireNonNull(cause, "cause");
    }
  }
}
