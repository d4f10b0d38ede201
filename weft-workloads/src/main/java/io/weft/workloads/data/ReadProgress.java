// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.data;

/// A listener to the progress of reading examples. The reading thread calls it for each example or
/// file, so it must be quick.
@FunctionalInterface
public interface ReadProgress {

  /// The total where it is not known.
  long UNKNOWN = -1;

  /// A listener that does nothing.
  ReadProgress SILENT = (done, all, unit) -> {};

  /// Reports that `done` units have been read.
  ///
  /// @param all the total, or `UNKNOWN`
  /// @param unit the name of the units, in the plural
  void at(long done, long all, String unit);
}
