// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.arch;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.lang.ArchRule;
import java.util.ArrayList;
import java.util.List;

/// Names that say something, and packages that are small and show little.
final class ShapeRules {

  private ShapeRules() {}

  static List<ArchRule> all() {
    List<ArchRule> rules = new ArrayList<>(PackageSizes.all());
    rules.add(
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
    return rules;
  }
}
