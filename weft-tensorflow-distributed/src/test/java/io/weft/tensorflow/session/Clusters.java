// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.session;

import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.tensorflow.cluster.ClusterSpec;
import io.weft.testkit.job.LocalJob;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

/// Clusters within one process: parameter servers that serve, and workers that run a body.
final class Clusters {

  static final Duration LONG = Duration.ofMinutes(2);

  private Clusters() {}

  /// The body of a worker.
  interface Body<T> {
    T run(WeftServer server) throws Exception;
  }

  static ClusterSpec spec(int servers, int workers) {
    return ClusterSpec.of(Map.of("ps", addresses("p", servers), "worker", addresses("w", workers)));
  }

  private static List<String> addresses(String host, int count) {
    return IntStream.range(0, count).mapToObj(i -> host + i + ":2222").toList();
  }

  /// Runs a body on each worker and returns the results. Each rank has then closed its server and
  /// has nothing left of any step.
  static <T> List<T> on(String transport, int servers, int workers, Body<T> body) {
    return on(Map.of("WEFT_TRANSPORT", transport), servers, workers, body);
  }

  static <T> List<T> on(Map<String, String> settings, int servers, int workers, Body<T> body) {
    ClusterSpec cluster = spec(servers, workers);
    WeftConfig config = WeftConfig.load(settings, new Properties());
    try (LocalJob job = LocalJob.start(servers + workers, config)) {
      List<T> results = new ArrayList<>();
      job.run(weft -> serve(weft, cluster, body)).forEach(results::addAll);
      return results;
    }
  }

  private static <T> List<T> serve(Weft weft, ClusterSpec cluster, Body<T> body) throws Exception {
    try (weft) {
      List<T> results = new ArrayList<>();
      try (WeftServer server = WeftServer.start(weft, cluster)) {
        if (server.task().job().equals("ps")) {
          server.join(LONG);
        } else {
          results.add(body.run(server));
        }
      }
      awaitNothing(weft);
      return results;
    }
  }

  /// Waits until the rank holds nothing of any step.
  static void awaitNothing(Weft weft) {
    long end = System.nanoTime() + LONG.toNanos();
    while (!weft.rendezvous().counts().isEmpty()) {
      if (System.nanoTime() - end > 0) {
        throw new AssertionError(
            "rank " + weft.rank() + " still holds " + weft.rendezvous().counts());
      }
      LockSupport.parkNanos(1_000_000);
    }
  }
}
