// SPDX-License-Identifier: Apache-2.0
package io.weft.arch;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// Checks the layer rules on the code of all modules, which are on this module's class path.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class CodeLayersTest {

  private JavaClasses classes;

  @BeforeAll
  void importClasses() {
    classes =
        new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .withImportOption(location -> !location.contains("-tests.jar"))
            .importPackages("io.weft");
  }

  static List<ArchRule> rules() {
    return LayerRules.all();
  }

  @ParameterizedTest
  @MethodSource("rules")
  void codeObeys(ArchRule rule) {
    rule.check(classes);
  }

  @Test
  void allModulesAreChecked() {
    for (String part :
        List.of(
            "tensor",
            "transport",
            "shm",
            "verbs",
            "cluster",
            "kv",
            "tensorflow",
            "djl",
            "spark",
            "workloads",
            "launch",
            "perf",
            "testkit",
            "qa")) {
      assertThat(classes)
          .as(part)
          .anyMatch(type -> type.getPackageName().startsWith("io.weft." + part));
    }
  }

  @Test
  void allClassesAboveALimitExist() {
    assertThat(ParameterRules.ABOVE).allMatch(name -> classes.contain(name));
  }
}
