// SPDX-License-Identifier: Apache-2.0
package io.weft.arch;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import io.weft.rendezvous.schedule.OffenderHelper;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LayerRulesTest {

  private final JavaClasses offender =
      new ClassFileImporter().importClasses(OffenderHelper.class, OffenderHelper.Wide.class);

  @ParameterizedTest
  @ValueSource(
      strings = {
        "sibling",
        "above",
        "socket",
        "nativeCode",
        "testkit",
        "impure",
        "clock()",
        "console()",
        "OffenderHelper has a constructor of 6 parameters",
        "OffenderHelper$Wide has a constructor of 0 parameters or 9 components",
        "OffenderHelper> has simple name ending with 'Helper'"
      })
  void eachOffenceIsFound(String offence) {
    assertThat(violations()).anyMatch(violation -> violation.contains(offence));
  }

  @Test
  void everyRuleStatesItsReason() {
    assertThat(LayerRules.all())
        .isNotEmpty()
        .allMatch(rule -> rule.getDescription().contains(", because "));
  }

  private List<String> violations() {
    return LayerRules.all().stream()
        .map(rule -> rule.allowEmptyShould(true).evaluate(offender))
        .flatMap(result -> result.getFailureReport().getDetails().stream())
        .collect(Collectors.toList());
  }
}
