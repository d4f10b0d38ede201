// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.natives;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.tensorflow.ChildJvm;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(300)
class TensorFlowLibrariesTest {

  @TempDir Path cache;

  @Test
  void processesThatStartTogetherAllLoadTheLibraries() throws Exception {
    try (ExecutorService starters = Executors.newFixedThreadPool(4)) {
      List<Future<ChildJvm.Output>> started = new ArrayList<>();
      for (String way : List.of("ops", "own", "ops", "own")) {
        started.add(
            starters.submit(
                () ->
                    ChildJvm.run(
                        List.of(
                            "-XX:TieredStopAtLevel=1", "-Dorg.bytedeco.javacpp.cachedir=" + cache),
                        entry -> true,
                        FreshProgram.class,
                        way)));
      }
      for (Future<ChildJvm.Output> process : started) {
        ChildJvm.Output output = process.get();
        assertThat(output.text()).contains("loaded");
        assertThat(output.exitCode()).isZero();
      }
    }
    assertThat(Files.readAllLines(cache.resolve(".weft-tensorflow")))
        .anySatisfy(line -> assertThat(line).endsWith("libtensorflow_cc.so.2"))
        .anySatisfy(line -> assertThat(line).endsWith("libtensorflow_framework.so.2"));
  }

  @Test
  void processReportsThatAnotherOneUnpacksTheLibraries() throws Exception {
    try (FileChannel file =
            FileChannel.open(
                cache.resolve(".weft.lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        FileLock lock = file.lock()) {
      ChildJvm.Output output =
          ChildJvm.run(
              List.of(
                  "-XX:TieredStopAtLevel=1",
                  "-Dweft.start.deadline=1s",
                  "-Dorg.bytedeco.javacpp.cachedir=" + cache),
              entry -> true,
              FreshProgram.class,
              "own");
      assertThat(lock.isValid()).isTrue();
      assertThat(output.text())
          .contains("another process has been unpacking TensorFlow's libraries into " + cache)
          .doesNotContain("loaded");
    }
    assertThat(cache.resolve("tensorflow-core-native-1.1.0-linux-x86_64.jar")).doesNotExist();
  }
}
