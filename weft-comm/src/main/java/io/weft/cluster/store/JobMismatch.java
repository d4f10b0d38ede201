// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.store;

import java.io.IOException;
import java.io.Serial;

/// A rank and a store have the same secret but belong to different jobs. The store ends when its
/// job's ranks have met.
final class JobMismatch extends IOException {

  @Serial private static final long serialVersionUID = 1L;

  JobMismatch(String message) {
    super(message);
  }
}
