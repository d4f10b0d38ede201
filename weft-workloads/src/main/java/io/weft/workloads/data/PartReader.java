// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.data;

import java.util.Optional;

/// A reader of one of several parts of a data set's files. The parts in order are the rows of the
/// files in order; a reader of a part reads no more of plain files.
public interface PartReader {

  /// Returns a part of the training examples. Throws `DataException`.
  ///
  /// @param part from 0
  /// @param parts the number of readers
  Examples train(int part, int parts, ReadProgress progress);

  /// Returns a part of the test examples; empty if the last of the training examples are for
  /// testing. Throws `DataException`.
  Optional<Examples> test(int part, int parts, ReadProgress progress);

  /// Returns the number of rows at the end of all training examples that are for testing.
  ///
  /// @param rows of all parts
  default int heldOut(int rows) {
    return 0;
  }
}
