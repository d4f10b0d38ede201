// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.testkit.job.OwnLoopback;
import io.weft.testkit.program.Needs;
import io.weft.testkit.program.OptionalProgram;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.ObjectMapper;

/// Checks real trainings with a parameter server and two workers that `weft train` does not start.
@Timeout(240)
class LaunchedServersTest {

  private static final long LIMIT_SECONDS = 200;
  private static final String[] TRAINING = {"train", "mnist-dnn", "--via", "weft", "--epochs", "1"};
  private static final String[] TASKS = {"--workers", "2", "--servers", "1"};

  @TempDir private Path directory;
  private final List<Process> processes = new ArrayList<>();

  @AfterEach
  void end() {
    for (Process process : processes) {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
    }
  }

  @Test
  void tasksThatTfConfigNamesConnectAndTrain() throws Exception {
    Path secret = directory.resolve("secret");
    Files.createFile(
        secret, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    Files.writeString(secret, "a secret of thirty-two bytes or more");
    String server = OwnLoopback.free(1);
    for (String task : List.of("ps 0", "worker 0", "worker 1")) {
      String config =
          """
          {"cluster": {"ps": ["%s"], "worker": ["127.0.0.1:1", "127.0.0.1:2"]},
           "task": {"type": "%s", "index": %s}}\
          """
              .formatted(server, task.split(" ")[0], task.split(" ")[1]);
      start(
          task,
          CommandProcess.of(with(TRAINING, "--json", directory.resolve(task + ".json").toString())),
          Map.of("TF_CONFIG", config, "WEFT_SECRET_FILE", secret.toString()));
    }
    assertAllSucceed("ps 0", "worker 0", "worker 1");
    assertHasTrained(directory.resolve("worker 0.json"));
    assertThat(directory.resolve("ps 0.json")).doesNotExist();
    assertThat(directory.resolve("worker 1.json")).doesNotExist();
  }

  @Tag("long")
  @Test
  @Needs(OptionalProgram.MPIRUN)
  void processesOfMpirunBecomeTheTasks() throws Exception {
    assertTrainsUnder(List.of("mpirun", "--allow-run-as-root", "--oversubscribe", "-np", "3"));
  }

  @Tag("long")
  @Test
  void ranksOfAnotherJobBecomeTheTasks() throws Exception {
    assertTrainsUnder(CommandProcess.of("run", "-np", "3", "--").command());
  }

  private void assertTrainsUnder(List<String> launcher) throws Exception {
    Path report = directory.resolve("report.json");
    ProcessBuilder task =
        CommandProcess.of(with(with(TRAINING, TASKS), "--json", report.toString()));
    List<String> command = new ArrayList<>(launcher);
    command.addAll(task.command());
    start("all", task.command(command), Map.of());
    assertAllSucceed("all");
    assertHasTrained(report);
  }

  private void start(String name, ProcessBuilder builder, Map<String, String> environment)
      throws IOException {
    builder.environment().put(RehearsedTraining.REAL, "1");
    builder.environment().putAll(environment);
    builder.redirectErrorStream(true).redirectOutput(output(name).toFile());
    processes.add(builder.start());
  }

  private void assertAllSucceed(String... names) throws Exception {
    for (int i = 0; i < names.length; i++) {
      boolean ended = processes.get(i).waitFor(LIMIT_SECONDS, TimeUnit.SECONDS);
      assertThat(ended && processes.get(i).exitValue() == 0)
          .as("%s, ended %s: %s", names[i], ended, Files.readString(output(names[i])))
          .isTrue();
    }
  }

  private Path output(String name) {
    return directory.resolve(name + ".txt");
  }

  private static void assertHasTrained(Path file) {
    JsonNode report = new ObjectMapper().readTree(file.toFile());
    assertThat(report.get("workers").asInt()).isEqualTo(2);
    assertThat(report.get("servers").asInt()).isEqualTo(1);
    assertThat(report.get("ranks").asInt()).isEqualTo(3);
    assertThat(report.get("lostWorkers")).isEmpty();
    assertThat(report.get("testAccuracy").asDouble()).isGreaterThan(0.8);
  }

  private static String[] with(String[] first, String... more) {
    List<String> all = new ArrayList<>(List.of(first));
    all.addAll(List.of(more));
    return all.toArray(String[]::new);
  }
}
