// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.natives;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.tensorflow.ChildJvm;
import java.nio.file.Files;
import java.nio.file.Path;
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
  void processesThatStartTogetherUnpackOneAfterTheOther() throws Exception {
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
}
