// SPDX-License-Identifier: Apache-2.0
package io.weft;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The warning about missing Java flags, without which a job runs more slowly.
final class MissingFlags {

  private static final Logger LOG = LoggerFactory.getLogger(MissingFlags.class);

  private MissingFlags() {}

  /// Warns once, on rank 0 of a job of several ranks.
  ///
  /// @param kernels the implementation of the reductions, from `Kernels.description`
  static void warn(int size, String kernels) {
    if (size > 1 && !kernels.startsWith("vector")) {
      LOG.warn(
          "Java runs without the module jdk.incubator.vector, so that reductions are up to three"
              + " times slower ({}): start the ranks with 'java --add-modules"
              + " jdk.incubator.vector'; only 'weft train', 'weft java' and 'weft run' on its own"
              + " host set the flag",
          kernels);
    }
  }
}
