// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.parameterserver;

import java.io.Serial;

/// A failure or timeout of a runtime other than Weft, in the runtime's words.
public final class GraphException extends IllegalStateException {

  @Serial private static final long serialVersionUID = 1L;

  /// Creates the exception with the runtime's message.
  public GraphException(String message) {
    super(message);
  }
}
