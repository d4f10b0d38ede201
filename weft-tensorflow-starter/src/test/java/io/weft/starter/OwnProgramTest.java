// SPDX-License-Identifier: Apache-2.0
package io.weft.starter;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Checks users' programs, each in a Maven project with one dependency on Weft.
class OwnProgramTest {

  @TempDir Path directory;
  private PrivateRepository repository;

  private void build(OwnProject project, String phase) throws Exception {
    // The links must stay until all programs have run, because class paths contain them.
    repository = PrivateRepository.create(directory.resolve("repository"));
    project.build(phase, repository);
  }

  @AfterEach
  void unlink() throws IOException {
    if (repository != null) {
      repository.close();
    }
  }

  @Tag("long")
  @Test
  @Timeout(600)
  void networkTrainsOnTwoRanksAndItsModelLoadsWithoutWeft() throws Exception {
    OwnProject project = OwnProject.copy("own-program", directory.resolve("digits"));
    build(project, "compile");
    Path target = project.directory().resolve("target");
    String jars = Files.readString(target.resolve("classpath")).strip();
    String classes = target.resolve("classes").toString();
    Path model = directory.resolve("model");

    OwnProject.Ended trained =
        project.runTwoRanks(
            List.of(
                "-cp",
                classes + File.pathSeparator + jars,
                "com.example.digits.Train",
                model.toString()));
    assertThat(trained.code()).as(trained.text()).isZero();
    assertThat(trained.text())
        .contains("[0] epoch 1: rate 0.100, loss ")
        .contains("[0] epoch 2: rate 0.080, loss ")
        .contains("[0] no gain in 2 epochs, ended after epoch ")
        .contains("[0] 2 ranks over shm: exported")
        .doesNotContain("WARN io.weft", "SLF4J", "incubator");

    String tensorFlow =
        Stream.of(jars.split(File.pathSeparator))
            .filter(jar -> !jar.contains("weft"))
            .collect(Collectors.joining(File.pathSeparator));
    assertThat(tensorFlow).doesNotContain("io/weft");
    OwnProject.Ended predicted =
        project.runAlone(
            List.of(
                "-cp",
                classes + File.pathSeparator + tensorFlow,
                "com.example.digits.Predict",
                model.toString()));
    assertThat(predicted.code()).as(predicted.text()).isZero();
    assertThat(predicted.text()).containsPattern("read (1[89]\\d|200) of 200 digits");
  }

  @Test
  @Timeout(600)
  void gettingStartedProgramLearnsOnTwoRanks() throws Exception {
    Path document = Path.of("..", "docs", "getting-started.md");
    OwnProject project = OwnProject.shownIn(document, directory.resolve("circle"));
    build(project, "compile");
    Path target = project.directory().resolve("target");
    String jars = Files.readString(target.resolve("classpath")).strip();
    OwnProject.Ended trained =
        project.runTwoRanks(
            List.of(
                "-cp",
                target.resolve("classes") + File.pathSeparator + jars,
                "com.example.Circle"));
    assertThat(trained.code()).as(trained.text()).isZero();
    assertThat(trained.text())
        .containsPattern("rank 0 of 2 over shm: 1[12]\\d of 128 points right")
        .containsPattern("rank 1 of 2 over shm: 1[12]\\d of 128 points right")
        .doesNotContain("WARN io.weft", "SLF4J");
  }

  @Tag("long")
  @Test
  @Timeout(600)
  void fatJarKeepsAllTransports() throws Exception {
    OwnProject project = OwnProject.copy("fat-jar", directory.resolve("sum"));
    build(project, "package");
    for (String how : List.of("plain", "merged")) {
      Path jar = project.directory().resolve("target/sum-1-" + how + ".jar");
      OwnProject.Ended summed =
          project.runTwoRanks(List.of("-cp", jar.toString(), "com.example.sum.Sum"));
      assertThat(summed.code()).as(summed.text()).isZero();
      assertThat(summed.text()).as(how).contains("[0] sum 3.0 over shm", "[1] sum 3.0 over shm");
    }
  }

  @Test
  @Timeout(300)
  void ranksReportOnceWhyTheyDoNotShareMemory() throws Exception {
    OwnProject project = OwnProject.copy("fat-jar", directory.resolve("sum"));
    Path classes = directory.resolve("classes");
    int compiled =
        ToolProvider.getSystemJavaCompiler()
            .run(
                null,
                null,
                null,
                "-proc:none",
                "-d",
                classes.toString(),
                project.directory().resolve("src/main/java/com/example/sum/Sum.java").toString());
    assertThat(compiled).isZero();
    String without =
        Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
            .filter(entry -> !entry.contains("weft-shm"))
            .collect(Collectors.joining(File.pathSeparator));
    OwnProject.Ended summed =
        project.runTwoRanks(
            List.of("-cp", classes + File.pathSeparator + without, "com.example.sum.Sum"));
    assertThat(summed.code()).as(summed.text()).isZero();
    assertThat(summed.text())
        .contains("[0] sum 3.0 over tcp", "[1] sum 3.0 over tcp")
        .containsOnlyOnce(
            "the 2 ranks of this host communicate over TCP, not through shared memory: weft-shm"
                + " is not on the class path; add the artifact io.weft:weft-shm");
  }
}
