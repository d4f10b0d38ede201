// SPDX-License-Identifier: Apache-2.0
package io.weft.arch;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.lang.ArchRule;
import java.util.ArrayList;
import java.util.List;

/// The permitted dependencies between packages.
final class ArrowRules {

  private static final String[] TESTS = {"io.weft.testkit..", "io.weft.qa.."};

  /// The packages on which no user program may depend.
  private static final String[] NOT_IN_PROGRAMS = {
    "io.weft.testkit..", "io.weft.qa..", "io.weft.perf.."
  };

  /// The layers from the lowest to the highest. The parts of one layer must not depend on each
  /// other.
  private static final List<List<Layer>> LAYERS =
      List.of(
          List.of(part("io.weft.text..")),
          List.of(part("io.weft.config..")),
          List.of(part("io.weft.tensor.."), part("io.weft.transport..")),
          List.of(part("io.weft.file..")),
          List.of(
              part("io.weft.agent.."),
              part("io.weft.memory.."),
              part("io.weft.shm.."),
              part("io.weft.verbs..")),
          List.of(part("io.weft.comm..")),
          List.of(part("io.weft.natives.."), part("io.weft.observer..")),
          List.of(part("io.weft.cluster..")),
          List.of(part("io.weft.collective.."), part("io.weft.rendezvous..")),
          List.of(part("io.weft.gradient..")),
          List.of(part("io.weft")),
          List.of(part("io.weft.telemetry..")),
          List.of(part("io.weft.dataparallel.."), part("io.weft.kv..")),
          List.of(
              part(
                  "io.weft.tensorflow",
                  "io.weft.tensorflow.embedding..",
                  "io.weft.tensorflow.ffm..",
                  "io.weft.tensorflow.graph..",
                  "io.weft.tensorflow.natives..",
                  "io.weft.tensorflow.served..",
                  "io.weft.tensorflow.saved.."),
              part("io.weft.djl..")),
          List.of(
              part(
                  "io.weft.tensorflow.cluster..",
                  "io.weft.tensorflow.partition..",
                  "io.weft.tensorflow.placement..",
                  "io.weft.tensorflow.session..",
                  "io.weft.tensorflow.transfer.."),
              part("io.weft.spark..")),
          List.of(part("io.weft.workloads..")),
          List.of(part("io.weft.launch..")),
          List.of(part("io.weft.perf..")));

  private ArrowRules() {}

  private record Layer(DescribedPredicate<? super JavaClass> classes) {}

  private static Layer part(String... packages) {
    return new Layer(resideInAnyPackage(packages));
  }

  static List<ArchRule> all() {
    List<ArchRule> rules = new ArrayList<>();
    for (int layer = 0; layer < LAYERS.size(); layer++) {
      for (Layer part : LAYERS.get(layer)) {
        for (int other = layer; other < LAYERS.size(); other++) {
          for (Layer forbidden : LAYERS.get(other)) {
            if (!forbidden.equals(part)) {
              rules.add(arrow(part, forbidden, other == layer));
            }
          }
        }
      }
    }
    rules.add(
        noClasses()
            .that()
            .resideInAnyPackage("io.weft.tensor..", "io.weft.transport..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.weft", "io.weft.comm..")
            .because("tensor and transport must be usable without the rest of Weft"));
    rules.add(
        noClasses()
            .that()
            .resideOutsideOfPackages(NOT_IN_PROGRAMS)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(TESTS)
            .because("production code runs without its tests"));
    return rules;
  }

  private static ArchRule arrow(Layer from, Layer forbidden, boolean siblings) {
    return noClasses()
        .that(from.classes())
        .should()
        .dependOnClassesThat(forbidden.classes())
        .because(
            siblings
                ? "siblings must be understandable, changeable and removable separately"
                : "dependencies between layers must point downward")
        .allowEmptyShould(true);
  }
}
