// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.saved;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.WeftConfig;
import io.weft.tensorflow.ChildJvm;
import io.weft.testkit.job.LocalJob;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tensorflow.Operand;
import org.tensorflow.Signature;
import org.tensorflow.ndarray.Shape;
import org.tensorflow.types.TFloat32;

class WeftSavedModelTest {

  @TempDir Path directory;

  @Test
  void exportedModelIsServedWithoutWeft() throws Exception {
    Path model = directory.resolve("models").resolve("1");
    on(line -> WeftSavedModel.export(line.session, line.signature(), model));
    ChildJvm.Output served = withoutWeft("model", model);
    assertThat(served.text()).contains("without Weft").contains("y 17.0");
    assertThat(served.text().lines().filter(line -> line.startsWith("op ")))
        .noneMatch(line -> line.contains("Weft") || line.contains("Adam"))
        .noneMatch(line -> line.contains("labels") || line.contains("Gradient"));
    assertThat(served.exitCode()).isZero();
    assertThat(names(model.getParent())).containsExactly("1");
    assertThat(Files.getPosixFilePermissions(model))
        .isEqualTo(
            Files.getPosixFilePermissions(Files.createDirectory(directory.resolve("ordinary"))));
  }

  @Test
  void secondExportDoesNotChangeTheGraph() throws Exception {
    on(
        line -> {
          WeftSavedModel.export(line.session, line.signature(), directory.resolve("a"));
          int nodes = line.graph.toGraphDef().getNodeCount();
          WeftSavedModel.export(line.session, line.signature(), directory.resolve("b"));
          assertThat(line.graph.toGraphDef().getNodeCount()).isEqualTo(nodes);
        });
    assertThat(names(directory)).containsExactlyInAnyOrder("a", "b");
  }

  @Test
  void computedInputBecomesPlaceholder() throws Exception {
    Path model = directory.resolve("model");
    on(
        line -> {
          Operand<TFloat32> doubled = line.tf.math.mul(line.averageLoss, line.tf.constant(2f));
          Operand<TFloat32> moved = line.tf.math.add(doubled, line.tf.constant(7f));
          WeftSavedModel.export(
              line.session,
              Signature.builder().input("x", doubled).output("y", moved).build(),
              model);
        });
    assertThat(withoutWeft("model", model).text()).contains("y 12.0").doesNotContain("op Weft");
  }

  @Test
  void signatureThatCannotBeServedIsRefused() throws Exception {
    on(
        line -> {
          assertThatThrownBy(
                  () ->
                      export(
                          line,
                          Signature.builder()
                              .input("x", line.x)
                              .input("labels", line.labels)
                              .output("loss", line.averageLoss)))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("output 'loss' of signature 'serving_default'")
              .hasMessageContaining("WeftAllreduce");
          assertThatThrownBy(
                  () -> export(line, Signature.builder().input("x", line.x).output("l", line.loss)))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("'labels', a placeholder that is not an input");
          assertThatThrownBy(() -> export(line, Signature.builder().input("x", line.x)))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("has no output");
        });
    assertThat(names(directory)).isEmpty();
  }

  @Test
  void existingFilesAreNotOverwritten() throws Exception {
    Path model = Files.createDirectory(directory.resolve("model"));
    Files.writeString(model.resolve("precious"), "mine");
    on(
        line ->
            assertThatThrownBy(() -> WeftSavedModel.export(line.session, line.signature(), model))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(model.toString())
                .hasMessageContaining("new or empty"));
    assertThat(names(model)).containsExactly("precious");
  }

  @Test
  void variableWithoutValueIsNamedAndNothingIsLeft() throws Exception {
    onRankZero(
        line -> {
          var bare = line.tf.withName("bare").variable(Shape.scalar(), TFloat32.class);
          assertThatThrownBy(() -> export(line, Signature.builder().output("s", bare)))
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("'bare' has no value");
          assertThatThrownBy(() -> export(line, Signature.builder().output("s", line.shift)))
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("'shift' has no value");
        });
    assertThat(names(directory)).isEmpty();
  }

  @Test
  void checkpointIsRestoredWithoutWeft() throws Exception {
    Path prefix = directory.resolve("line");
    on(line -> WeftCheckpoint.save(line.session, prefix));
    assertThat(withoutWeft("checkpoint", prefix).text()).contains("slope 3.0 offset 2.0");
    assertThat(names(directory))
        .containsExactlyInAnyOrder("line.index", "line.data-00000-of-00001");
  }

  @Test
  void checkpointOfTensorFlowIsRestoredWithoutWeft() throws Exception {
    Path prefix = directory.resolve("line");
    on(line -> line.session.save(prefix.toString()));
    assertThat(withoutWeft("checkpoint", prefix).text()).contains("slope 3.0 offset 2.0");
  }

  @Test
  void checkpointRestoresVariablesOfBothKinds() throws Exception {
    Path prefix = directory.resolve("line");
    on(
        line -> {
          line.shift(9);
          WeftCheckpoint.save(line.session, prefix);
        });
    on(
        line -> {
          assertThat(line.value(line.shift)).isZero();
          WeftCheckpoint.restore(line.session, prefix);
          assertThat(line.value(line.shift)).isEqualTo(9);
          assertThat(line.value(line.slope)).isEqualTo(3);
        });
  }

  @Test
  void missingAndDamagedCheckpointsAreNamed() throws Exception {
    Path prefix = directory.resolve("line");
    on(
        line -> {
          assertThatThrownBy(() -> WeftCheckpoint.restore(line.session, prefix))
              .isInstanceOf(IOException.class)
              .hasMessageContaining("no checkpoint at " + prefix);
          WeftCheckpoint.save(line.session, prefix);
          Path data = directory.resolve("line.data-00000-of-00001");
          byte[] bytes = Files.readAllBytes(data);
          bytes[3] ^= 1;
          Files.write(data, bytes);
          assertThatThrownBy(() -> WeftCheckpoint.restore(line.session, prefix))
              .isInstanceOf(IOException.class)
              .hasMessageContaining("cannot restore from " + prefix);
          assertThat(line.value(line.slope)).isEqualTo(3);
        });
  }

  private interface Use {
    void of(Line line) throws Exception;
  }

  /// Runs `use` on rank 0 of two, with initialized variables.
  private static void on(Use use) {
    onRankZero(
        line -> {
          line.initialize();
          use.of(line);
        });
  }

  private static void onRankZero(Use use) {
    WeftConfig config = WeftConfig.load(Map.of("WEFT_TRANSPORT", "inproc"), new Properties());
    try (LocalJob job = LocalJob.start(2, config)) {
      job.run(
          weft -> {
            if (weft.rank() == 0) {
              try (Line line = new Line(weft.communicator())) {
                use.of(line);
              }
            }
            return "";
          });
    }
  }

  private void export(Line line, Signature.Builder signature) throws IOException {
    WeftSavedModel.export(line.session, signature.build(), directory.resolve("refused"));
  }

  private static ChildJvm.Output withoutWeft(String what, Path path) throws Exception {
    return ChildJvm.run(
        List.of(),
        entry -> !entry.contains("weft-") || entry.contains("weft-tensorflow/target/test-classes"),
        ServingProgram.class,
        what,
        path.toString());
  }

  private static List<String> names(Path directory) throws IOException {
    List<String> names = new ArrayList<>();
    try (Stream<Path> entries = Files.list(directory)) {
      entries.forEach(entry -> names.add(entry.getFileName().toString()));
    }
    return names;
  }
}
