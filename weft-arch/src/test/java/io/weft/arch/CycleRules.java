// SPDX-License-Identifier: Apache-2.0
package io.weft.arch;

import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import java.util.List;

/// Each package can be read before those that use it.
final class CycleRules {

  private CycleRules() {}

  static List<ArchRule> all() {
    return List.of(
        slices()
            .assignedFrom(new Packages())
            .should()
            .beFreeOfCycles()
            .because("a cycle of packages is one package in several places"));
  }

  /// Each package is a slice of its own.
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
