// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import io.weft.collective.Communicator;
import java.util.function.IntFunction;

/// The ranks of a reducer.
///
/// @param communicator that only the reducer uses, and closes
/// @param describe returns a rank of the communicator in words
record LayerMembers(Communicator communicator, IntFunction<String> describe) {

  /// Returns this rank in words.
  String self() {
    return describe.apply(communicator.rank());
  }
}
