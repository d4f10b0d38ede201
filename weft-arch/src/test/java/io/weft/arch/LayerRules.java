// SPDX-License-Identifier: Apache-2.0
package io.weft.arch;

import com.tngtech.archunit.lang.ArchRule;
import java.util.List;
import java.util.stream.Stream;

/// All rules for production code. Check them on the classes of all modules together: a rule about
/// who uses what sees nothing in a module alone.
public final class LayerRules {

  private LayerRules() {}

  /// The rules; each says why.
  public static List<ArchRule> all() {
    return Stream.of(
            ArrowRules.all(),
            CycleRules.all(),
            SystemRules.all(),
            FileRules.all(),
            PurityRules.all(),
            ShapeRules.all())
        .flatMap(List::stream)
        .toList();
  }
}
