// SPDX-License-Identifier: Apache-2.0
package io.weft.perf;

import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/// The memory of the tensors of a measured collective.
enum TensorMemory {
  /// Memory that Weft allocates. Peers can access it if the transport shares memory.
  OWN,
  /// Private memory of the program, which the transport does not know.
  PRIVATE;

  /// Returns the name on the command line and in reports.
  String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  /// Returns the memory of this label. Throws `IllegalArgumentException` with the allowed labels.
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
