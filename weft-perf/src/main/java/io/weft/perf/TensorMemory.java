// SPDX-License-Identifier: Apache-2.0
package io.weft.perf;

import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/// Where the tensors of a measured collective lie.
enum TensorMemory {
  /// In memory that Weft gave, which peers can reach where the transport shares memory.
  OWN,
  /// In memory of the program's own, of which the transport knows nothing.
  PRIVATE;

  /// The name on the command line and in reports.
  String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  /// Throws `IllegalArgumentException` that names what is allowed.
  static TensorMemory of(String label) {
    List<TensorMemory> all = List.of(values());
    return all.stream()
        .filter(m -> m.label().equals(label))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "--tensors: unknown memory '%s'; allowed: %s"
                        .formatted(
                            label,
                            String.join(
                                ", ", Stream.of(values()).map(TensorMemory::label).toList()))));
  }
}
