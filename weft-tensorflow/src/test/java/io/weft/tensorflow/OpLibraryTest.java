// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.WeftConfig;
import io.weft.collective.Communicator;
import io.weft.testkit.job.LocalJob;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.tensorflow.Graph;
import org.tensorflow.proto.ConfigProto;

class OpLibraryTest {

  @Test
  void loadTwiceRegistersOnce() {
    assertThat(OpLibrary.load()).isSameAs(OpLibrary.load());
    assertThat(OpLibrary.load().version()).startsWith("2.");
  }

  @Test
  void asynchronousKernelsDoNotSetTheSessionsThreads() {
    try (Graph graph = new Graph()) {
      assertThat(OpLibrary.load().sessionConfig(graph).getInterOpParallelismThreads()).isZero();
    }
  }

  @Test
  void ranksOfAHostShareItsProcessors() {
    WeftConfig config = WeftConfig.builder().transport("inproc").build();
    try (LocalJob job = LocalJob.start(2, config);
        Graph graph = new Graph()) {
      List<ConfigProto> configs = job.run(weft -> OpLibrary.load().sessionConfig(graph, weft));
      int share = Math.max(1, Runtime.getRuntime().availableProcessors() / 2);
      assertThat(configs)
          .allSatisfy(
              rank -> {
                assertThat(rank.getIntraOpParallelismThreads()).isEqualTo(share);
                assertThat(rank.getInterOpParallelismThreads()).isEqualTo(1);
              });
    }
  }

  @Test
  void communicatorHasOneNumberPerKernelMode() {
    CommunicatorTable table = new CommunicatorTable();
    try (InMemoryRanks ranks = new InMemoryRanks(2)) {
      Communicator zero = ranks.of(0);
      int number = table.numberOf(zero, KernelMode.ASYNCHRONOUS, null);
      assertThat(table.numberOf(zero, KernelMode.ASYNCHRONOUS, null)).isEqualTo(number);
      assertThat(table.numberOf(zero, KernelMode.BLOCKING, null)).isNotEqualTo(number);
      assertThat(table.numberOf(ranks.of(1), KernelMode.ASYNCHRONOUS, null)).isNotEqualTo(number);
      assertThat(table.served(number).communicator()).isSameAs(zero);
      assertThat(table.size()).isEqualTo(3);
    }
  }

  @Test
  void missingNativeLibraryNamesTheDependencyToAdd() throws Exception {
    ChildJvm.Output output =
        ChildJvm.run(
            List.of("-Dorg.bytedeco.javacpp.cacheLibraries=false"),
            entry -> !entry.endsWith("-linux-x86_64.jar"),
            MissingLibraryProgram.class);
    assertThat(output.text())
        .contains("Setup: TensorFlow's native library does not load")
        .contains("org.tensorflow:tensorflow-core-native:1.1.0 with classifier linux-x86_64");
  }
}
