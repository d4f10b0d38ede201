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

/// Kills a server of a counting job at a random moment and compares the values of the other
/// servers, in many jobs. Each job has 3 servers and 2 workers in separate processes. With
/// `returning`, another process replaces each killed server, and one more server is killed shortly
/// after the last replacement. The exit code is 1 if a job failed, otherwise 0.
final class FailoverSeries {

  private static final int SERVERS = 3;
  private static final int WORKERS = 2;
  private static final int REPLACED = 4;

  private FailoverSeries() {}

  /// @param arguments the count of jobs, the transport, the seed, and optionally `returning`
  public static void main(String[] arguments) throws Exception {
    boolean returns = arguments.length == 4 && arguments[3].equals("returning");
    if (arguments.length != 3 && !returns) {
      System.err.println("usage: tools/failover TIMES TRANSPORT SEED [returning], as 100 tcp 1");
      System.exit(2);
    }
    int times = Integer.parseInt(arguments[0]);
    var random = new Random(Long.parseLong(arguments[2]));
    List<Long> waits = new ArrayList<>();
    int wrong = 0;
    for (int i = 1; i <= times; i++) {
      Path directory = Files.createTempDirectory("failover");
      try (var job = new FailoverJob(directory, SERVERS, WORKERS, arguments[1], "5s")) {
        job.awaitReady();
        String done = returns ? replaceServers(job, random) : killOne(job, random);
        job.work(Duration.ofMillis(1500));
        List<String> results = job.results(job.workers());
        long wait = FailoverJob.longestMillis(results);
        System.out.printf("%d of %d: %s: %s%n", i, times, done, results);
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

  private static String killOne(FailoverJob job, Random random) throws InterruptedException {
    int server = random.nextInt(SERVERS);
    int after = random.nextInt(1500);
    job.work(Duration.ofMillis(after));
    job.kill(server);
    return "server %d killed after %d ms".formatted(server, after);
  }

  /// Kills and replaces servers in turn, then kills one more shortly after the last replacement.
  private static String replaceServers(FailoverJob job, Random random)
      throws IOException, InterruptedException {
    List<Integer> servers = new ArrayList<>();
    for (int server = 0; server < SERVERS; server++) {
      servers.add(server);
    }
    var done = new StringBuilder();
    for (int i = 0; i < REPLACED; i++) {
      job.awaitMirrors(servers);
      job.work(Duration.ofMillis(random.nextInt(300)));
      int lost = servers.remove(random.nextInt(servers.size()));
      job.kill(lost);
      job.awaitMirrors(servers);
      int next = job.replace(lost);
      job.awaitServer(next);
      servers.add(next);
      done.append("process %d killed, %d in its place; ".formatted(lost, next));
    }
    int after = random.nextInt(100);
    job.work(Duration.ofMillis(after));
    int lost = servers.remove(random.nextInt(servers.size()));
    job.kill(lost);
    job.awaitMirrors(servers);
    return done + "process %d killed %d ms after that".formatted(lost, after);
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
