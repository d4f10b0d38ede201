// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.failover;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/// Kills a server of a counting job again and again, at random moments, and judges each time what
/// the other servers have. Each job has 3 servers and 2 workers in processes of their own. The exit
/// code is the number of jobs that went wrong, at most 1.
final class FailoverSeries {

  private static final int SERVERS = 3;
  private static final int WORKERS = 2;

  private FailoverSeries() {}

  /// @param arguments how often; transport; seed
  public static void main(String[] arguments) throws Exception {
    if (arguments.length != 3) {
      System.err.println("usage: tools/failover TIMES TRANSPORT SEED, such as 100 tcp 1");
      System.exit(2);
    }
    int times = Integer.parseInt(arguments[0]);
    var random = new Random(Long.parseLong(arguments[2]));
    List<Long> waits = new ArrayList<>();
    int wrong = 0;
    for (int i = 1; i <= times; i++) {
      int server = random.nextInt(SERVERS);
      int after = random.nextInt(1500);
      Path directory = Files.createTempDirectory("failover");
      try (var job = new FailoverJob(directory, SERVERS, WORKERS, arguments[1], "5s")) {
        job.awaitReady();
        job.work(Duration.ofMillis(after));
        job.kill(server);
        job.work(Duration.ofMillis(1500));
        List<String> results = job.results(job.workers());
        long wait = FailoverJob.longestMillis(results);
        System.out.printf(
            "%d of %d: server %d killed after %d ms: %s%n", i, times, server, after, results);
        if (wait < 0) {
          wrong++;
          System.out.println(job.output());
        } else {
          waits.add(wait);
        }
      } finally {
        remove(directory);
      }
    }
    Collections.sort(waits);
    System.out.printf(
        "%d of %d right; longest wait of a worker in ms: median %d, largest %d%n",
        times - wrong,
        times,
        waits.isEmpty() ? -1 : waits.get(waits.size() / 2),
        waits.isEmpty() ? -1 : waits.getLast());
    System.exit(Math.min(wrong, 1));
  }

  private static void remove(Path directory) throws IOException {
    try (var files = Files.list(directory)) {
      for (Path each : files.toList()) {
        Files.delete(each);
      }
    }
    Files.delete(directory);
  }
}
