// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.parameterserver;

import java.io.Serial;

/// What a runtime other than Weft refused or did not do in time, in its words.
public final class GraphException extends IllegalStateException {

  @Serial private static final long serialVersionUID = 1L;

  /// With the runtime's message.
  public GraphException(String message) {
    super(message);
  }
}
