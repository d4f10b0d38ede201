// SPDX-License-Identifier: Apache-2.0
package io.weft.arch;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.lang.ArchRule;
import java.util.List;

/// The rules for names.
final class ShapeRules {

  private ShapeRules() {}

  static List<ArchRule> all() {
    return List.of(
        noClasses()
            .should()
            .haveSimpleNameEndingWith("Util")
            .orShould()
            .haveSimpleNameEndingWith("Utils")
            .orShould()
            .haveSimpleNameEndingWith("Helper")
            .orShould()
            .haveSimpleNameEndingWith("Manager")
            .orShould()
            .haveSimpleNameEndingWith("Impl")
            .because("a class is a noun of the field"));
  }
}
