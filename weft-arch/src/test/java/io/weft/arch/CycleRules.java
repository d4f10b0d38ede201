// SPDX-License-Identifier: Apache-2.0
package io.weft.arch;

import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import java.util.List;

/// The rule that packages are free of cycles, so that each can be read before its users.
final class CycleRules {

  private CycleRules() {}

  static List<ArchRule> all() {
    return List.of(
        slices()
            .assignedFrom(new Packages())
            .should()
            .beFreeOfCycles()
            .because("packages in a cycle cannot be understood separately"));
  }

  /// The assignment of each package to a separate slice.
  private static final class Packages implements SliceAssignment {

    @Override
    public String getDescription() {
      return "packages";
    }

    @Override
    public SliceIdentifier getIdentifierOf(JavaClass type) {
      return type.getPackageName().startsWith("io.weft")
          ? SliceIdentifier.of(type.getPackageName())
          : SliceIdentifier.ignore();
    }
  }
}
