// SPDX-License-Identifier: Apache-2.0
package io.weft.arch;

import com.tngtech.archunit.lang.ArchRule;
import java.util.List;
import java.util.stream.Stream;

/// All rules for production code. They must be checked on the classes of all modules together,
/// because a rule about dependencies needs both sides.
public final class LayerRules {

  private LayerRules() {}

  /// Returns the rules. Each states its reason.
  public static List<ArchRule> all() {
    return Stream.of(
            ArrowRules.all(),
            CycleRules.all(),
            SystemRules.all(),
            FileRules.all(),
            PurityRules.all(),
            ShapeRules.all(),
            ParameterRules.all())
        .flatMap(List::stream)
        .toList();
  }
}
