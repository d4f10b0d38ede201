// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.tensorflow;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.tensorflow.cluster.ClusterSpec;
import io.weft.tensorflow.cluster.Task;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Checks the runtime of stock TensorFlow as this package starts it, with a server and a worker in
/// one process each.
class GrpcSessionTest {

  @Tag("long")
  @Test
  void aStepRunsOnBothTasksAndFailuresHaveTheMessagesOfTensorFlow() throws Exception {
    int serverPort = free();
    int workerPort = free();
    Process server = GrpcProgram.start("ps", serverPort, workerPort);
    try {
      String text = printed(GrpcProgram.start("worker", serverPort, workerPort));
      assertThat(text)
          .contains("serving grpc://127.0.0.1:" + workerPort)
          .contains("product 6.0 20.0 of 3.0 4.0")
          .contains("no tensor is fed to 'x'")
          .contains("the graph has no node 'nothing'")
          .contains("a step over gRPC failed: ", "Could not find variable u")
          .containsPattern("(?s)a step over gRPC did not end in time.*taken 7.0")
          .contains("a step over gRPC, given up (nobody needs it), failed: ")
          .containsPattern("(?s)given up.*a step over gRPC did not end in time")
          .doesNotContain("nothing is thrown");
      assertThat(server.isAlive()).isTrue();
    } finally {
      server.destroyForcibly().waitFor();
    }
  }

  @Test
  void aTaskOfAnotherClusterIsRefused() {
    ClusterSpec cluster = ClusterSpec.of(Map.of("ps", List.of("127.0.0.1:2222")));
    assertThatThrownBy(() -> GrpcServer.start(cluster, new Task("worker", 0)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("/job:worker/task:0");
  }

  /// Returns the output of a process that ends by itself.
  private static String printed(Process process) throws Exception {
    try {
      CompletableFuture<String> text =
          CompletableFuture.supplyAsync(
              () -> {
                try {
                  return new String(process.getInputStream().readAllBytes(), UTF_8);
                } catch (IOException e) {
                  return e.toString();
                }
              });
      assertThat(process.waitFor(2, TimeUnit.MINUTES)).as("ended").isTrue();
      return text.get(10, TimeUnit.SECONDS);
    } finally {
      process.destroyForcibly();
    }
  }

  private static int free() throws IOException {
    try (var free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return free.getLocalPort();
    }
  }
}
