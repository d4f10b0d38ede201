// SPDX-License-Identifier: Apache-2.0
package examples;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.launch.cli.Main;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ExamplesTest {

  private static final long LIMIT_SECONDS = 120;

  @TempDir private Path folder;

  @Test
  void allreduceAddsOverTwoProcesses() throws Exception {
    assertThat(runOnTwo(Allreduce.class)).contains("sum over 2 ranks: [10.0, 12.0, 14.0, 16.0]");
  }

  @Test
  void tensorFlowFindsTheLineOnTwoProcesses() throws Exception {
    assertThat(runOnTwo(TensorFlowTraining.class))
        .contains("rank 0 of 2: y = 3.00 x + 2.00")
        .contains("rank 1 of 2: y = 3.00 x + 2.00");
  }

  @Test
  void aProcessWithoutDataJoinsAndBothFindTheLine() throws Exception {
    assertThat(runOnTwo(Join.class))
        .contains("rank 0, after rank 0 joined last: y = 3.00 x + 2.00")
        .contains("rank 1, after rank 0 joined last: y = 3.00 x + 2.00");
  }

  @Test
  void eachProcessTrainsLocallyAndBothFindTheSameLine() throws Exception {
    assertThat(runOnTwo(LocalTraining.class))
        .contains("rank 0: y = 3.00 x + 2.00, 2000 steps")
        .contains("rank 1: y = 3.00 x + 2.00, 2000 steps");
  }

  @Test
  void parameterServerAndWorkerFindTheLine() throws Exception {
    assertThat(runOnTwo(ParameterServer.class)).contains("y = 3.00 x + 2.00");
  }

  @Test
  void aWorkerLearnsTheEmbeddingsThatAServerStores() throws Exception {
    assertThat(runOnTwo(Embeddings.class)).contains("three words: 1.00 2.00 3.00");
  }

  @Test
  void djlFindsTheLineOnTwoProcesses() throws Exception {
    assertThat(runOnTwo(DjlTraining.class))
        .contains("rank 0 of 2: y = 3.00 x + 2.00")
        .contains("rank 1 of 2: y = 3.00 x + 2.00");
  }

  @Test
  void aServerAppliesTheRuleOfTheProgram() throws Exception {
    assertThat(runOnTwo(OwnRule.class)).contains("the values: 3.0 -2.0");
  }

  @Test
  void documentShowsThePartOfTheExampleThatIsRun() throws Exception {
    String document = "docs/parameter-server.md";
    String source = Files.readString(Path.of("ParameterServer.java"));
    String shown =
        source
            .substring(
                source.indexOf('\n', source.indexOf("// " + document + " begins")) + 1,
                source.lastIndexOf('\n', source.indexOf("// " + document + " ends")) + 1)
            .stripTrailing()
            .stripIndent();
    assertThat(Files.readString(Path.of("..", document))).contains(shown);
  }

  /// Runs the example as its header comment says, with the compiled class instead of the source.
  private String runOnTwo(Class<?> example) throws Exception {
    List<String> command = new ArrayList<>(java());
    command.addAll(List.of(Main.class.getName(), "run", "-np", "2", "--"));
    command.addAll(java());
    command.add(example.getName());
    File output = folder.resolve("output.txt").toFile();
    Process run =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output).start();
    try {
      boolean ended = run.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS);
      String text = Files.readString(output.toPath());
      assertThat(ended).as("%s ended within %d s: %s", example, LIMIT_SECONDS, text).isTrue();
      assertThat(run.exitValue()).as("exit status; output: %s", text).isZero();
      return text;
    } finally {
      run.descendants().forEach(ProcessHandle::destroyForcibly);
      run.destroyForcibly();
    }
  }

  private static List<String> java() {
    return List.of(
        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "--add-modules=jdk.incubator.vector",
        "--enable-native-access=ALL-UNNAMED",
        "--sun-misc-unsafe-memory-access=allow",
        "-XX:+UseSerialGC",
        "-cp",
        System.getProperty("java.class.path"));
  }
}
