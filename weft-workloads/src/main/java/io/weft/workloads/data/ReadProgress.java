// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.data;

/// Hears how far a source of examples has come, on the thread that reads; called for each example
/// or file, so it must be quick.
@FunctionalInterface
public interface ReadProgress {

  /// How many there are is not known.
  long UNKNOWN = -1;

  /// Hears nothing.
  ReadProgress SILENT = (done, all, unit) -> {};

  /// So many are done.
  ///
  /// @param all how many there are, or `UNKNOWN`
  /// @param unit what they are, in the plural
  void at(long done, long all, String unit);
}
