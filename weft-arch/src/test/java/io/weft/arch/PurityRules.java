// SPDX-License-Identifier: Apache-2.0
package io.weft.arch;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.lang.ArchRule;
import java.util.List;

/// The rule that algorithms and formats are pure functions of their arguments.
final class PurityRules {

  private static final String IMPURE =
      "java\\.(io|net|nio\\.channels|nio\\.file|util\\.concurrent|util\\.random)\\..*"
          + "|java\\.time\\.(Clock|Instant)"
          + "|java\\.util\\.(.*Random|Timer.*|UUID)"
          + "|java\\.security\\.SecureRandom"
          + "|java\\.lang\\.(Thread.*|Process.*|System|Runtime)";

  private PurityRules() {}

  static List<ArchRule> all() {
    return List.of(
        noClasses()
            .that()
            .resideInAnyPackage(
                "io.weft..schedule..", "io.weft.transport.ring..", "io.weft..frame..")
            .should()
            .dependOnClassesThat(
                DescribedPredicate.<JavaClass>describe(
                    "depend on clock, threads, files, sockets or random numbers",
                    type -> type.getFullName().matches(IMPURE)))
            .because("a pure function can be verified for all cases without a network"));
  }
}
