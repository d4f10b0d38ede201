// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.data;

import java.util.Optional;

/// A source of a workload's examples. Reading takes memory and time; `check` does not.
public interface DataSource {

  /// Returns the name for the report: "synthetic digits", "MNIST files in data/mnist".
  String name();

  /// Checks that the files exist and begin correctly. Throws `DataException`.
  void check();

  /// Returns the training examples. Throws `DataException`.
  ///
  /// @param progress is notified while the examples are read
  Examples train(ReadProgress progress);

  /// Returns the training examples without reporting progress.
  default Examples train() {
    return train(ReadProgress.SILENT);
  }

  /// Returns the test examples, which `train` does not contain. Throws `DataException`.
  ///
  /// @param progress is notified while the examples are read
  Examples test(ReadProgress progress);

  /// Returns the test examples without reporting progress.
  default Examples test() {
    return test(ReadProgress.SILENT);
  }

  /// Returns the reader of parts; empty if the examples are not in files, or if a part costs as
  /// much as the whole.
  default Optional<PartReader> parts() {
    return Optional.empty();
  }
}
