// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.data;

/// Where a workload's examples come from. Reading takes memory and time; `check` does not.
public interface DataSource {

  /// What it is, for the report: "synthetic digits", "MNIST files in data/mnist".
  String name();

  /// Looks whether the files are there and begin as they should. Throws `DataException`.
  void check();

  /// The examples to train on. Throws `DataException`.
  ///
  /// @param progress hears how much of it is read
  Examples train(ReadProgress progress);

  /// The same, of which nobody hears.
  default Examples train() {
    return train(ReadProgress.SILENT);
  }

  /// The examples that measure accuracy; none of them is in `train`. Throws `DataException`.
  ///
  /// @param progress hears how much of it is read
  Examples test(ReadProgress progress);

  /// The same, of which nobody hears.
  default Examples test() {
    return test(ReadProgress.SILENT);
  }
}
