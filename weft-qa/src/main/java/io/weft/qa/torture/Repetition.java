// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.torture;

import io.weft.qa.torture.Flaw.FlawKind;
import io.weft.testkit.job.Networks;
import io.weft.transport.limit.ClampedDuration;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// One job from its start to its end, with one harm.
final class Repetition {

  /// The time after which a new connection has been verified.
  private static final Duration PROVED = Duration.ofSeconds(1);

  private static final Duration START = Duration.ofMinutes(2);
  private static final Duration END = Duration.ofMinutes(1);
  private static final Duration LAST_BREATH = Duration.ofSeconds(2);
  private static final Pattern CUT = Pattern.compile("fault: cut (\\d+)-(\\d+) after (\\d+) ms");

  private final FaultScenario scenario;
  private final Harm harm;
  private final long seed;
  private final SplittableRandom random;
  private final Path directory;
  private final List<Flaw> flaws = new ArrayList<>();
  private final Map<Integer, ProcessHandle> ranks = new TreeMap<>();

  /// For each survivor, the ranks that it may name after the harm.
  private final Map<Integer, Set<Integer>> culprits = new HashMap<>();

  private String victim = "-";
  private double momentSeconds;
  private long harmedNanos;
  private double load;

  Repetition(FaultScenario scenario, Harm harm, long seed) {
    this.scenario = scenario;
    this.harm = harm;
    this.seed = seed;
    this.random = new SplittableRandom(seed);
    this.directory =
        scenario
            .directory()
            .toAbsolutePath()
            .resolve(harm.word() + "-" + seed + "-" + System.nanoTime());
  }

  JobOutcome run() throws IOException, InterruptedException {
    Files.createDirectories(directory);
    JobOutcome outcome =
        harm == Harm.PARTITION ? inTwoNetworks() : inOne(List.of(), List.of(), Map.of());
    if (outcome.good()) {
      remove(directory);
    }
    return outcome;
  }

  private JobOutcome inTwoNetworks() throws IOException, InterruptedException {
    try (Networks networks = Networks.create(directory)) {
      int half = scenario.ranks() / 2;
      List<String> options =
          List.of(
              "-H",
              "localhost:" + half + "," + networks.far() + ":" + (scenario.ranks() - half),
              "--ssh",
              networks.ssh().toString());
      try (TorturedJob job =
          TorturedJob.start(directory, scenario, networks.here(), options, Map.of())) {
        return harmed(job, networks);
      }
    }
  }

  private JobOutcome inOne(
      List<String> before, List<String> options, Map<String, String> environment)
      throws IOException, InterruptedException {
    List<String> all = new ArrayList<>(options);
    Map<String, String> variables = new HashMap<>(environment);
    if (harm == Harm.CUT) {
      // The time counts from the establishment. A connection that breaks before its verification is
      // replaced.
      all.addAll(List.of("--transport", "faulty-tcp"));
      variables.put(
          "WEFT_FAULT",
          "seed=%d; ranks=%d; cut=?-?@%dms..%dms"
              .formatted(
                  seed,
                  scenario.ranks(),
                  ClampedDuration.millis(PROVED),
                  ClampedDuration.millis(PROVED.plus(scenario.spread()))));
    }
    try (TorturedJob job = TorturedJob.start(directory, scenario, before, all, variables)) {
      return harmed(job, null);
    }
  }

  private JobOutcome harmed(TorturedJob job, @Nullable Networks networks)
      throws IOException, InterruptedException {
    boolean ready =
        job.await(() -> hasSeenAll(job), START) && (harm == Harm.KILL || awaitWork(job));
    if (!ready) {
      flaw(FlawKind.START, "it could not be harmed: it did not begin to work");
      return outcome(0, 0);
    }
    long readyNanos = System.nanoTime();
    Duration moment =
        Duration.ofMillis(random.nextLong(ClampedDuration.millis(scenario.spread()) + 1));
    if (harm != Harm.CUT) {
      LockSupport.parkNanos(ClampedDuration.nanos(moment));
    }
    harm(job, networks);
    if (harm != Harm.CUT) {
      momentSeconds = (harmedNanos - readyNanos) / 1e9;
    }
    return observe(job);
  }

  /// Returns true when every rank has been seen to run. The sightings may be at different times,
  /// because an early cut may end a rank before another has been seen.
  private boolean hasSeenAll(TorturedJob job) {
    ranks.putAll(job.processes().ranks());
    return ranks.size() == scenario.ranks();
  }

  private boolean awaitWork(TorturedJob job) {
    Pattern working = Pattern.compile(harm == Harm.CUT ? CUT.pattern() : scenario.working());
    return job.await(() -> job.anyRankPrinted(working, scenario.ranks()), START);
  }

  private void harm(TorturedJob job, @Nullable Networks networks)
      throws IOException, InterruptedException {
    int chosen = random.nextInt(scenario.ranks());
    switch (harm) {
      case KILL, STOP -> {
        victim = "rank " + chosen;
        all().forEach(rank -> culprits.put(rank, Set.of(chosen)));
        culprits.remove(chosen);
        Processes.signal(harm == Harm.KILL ? "KILL" : "STOP", process(chosen));
      }
      case CUT -> blameEnds(job);
      case PARTITION -> {
        int half = scenario.ranks() / 2;
        List<Integer> near = all().filter(rank -> rank < half).toList();
        List<Integer> far = all().filter(rank -> rank >= half).toList();
        victim = near + "|" + far;
        near.forEach(rank -> culprits.put(rank, new TreeSet<>(far)));
        far.forEach(rank -> culprits.put(rank, new TreeSet<>(near)));
        Objects.requireNonNull(networks).part();
      }
    }
    harmedNanos = System.nanoTime();
    load = Math.max(0, load());
  }

  private void blameEnds(TorturedJob job) {
    for (int rank = 0; rank < scenario.ranks(); rank++) {
      for (String line : job.rankLines(rank)) {
        Matcher matcher = CUT.matcher(line);
        if (matcher.find()) {
          int one = Integer.parseInt(matcher.group(1));
          int other = Integer.parseInt(matcher.group(2));
          momentSeconds = Integer.parseInt(matcher.group(3)) / 1e3;
          victim = Math.min(one, other) + "-" + Math.max(one, other);
          all().forEach(r -> culprits.put(r, Set.of(one, other)));
          culprits.put(one, Set.of(other));
          culprits.put(other, Set.of(one));
        }
      }
    }
  }

  private Stream<Integer> all() {
    return IntStream.range(0, scenario.ranks()).boxed();
  }

  private ProcessHandle process(int rank) {
    return Objects.requireNonNull(ranks.get(rank), "rank " + rank);
  }

  // --- The end of the job.

  private JobOutcome observe(TorturedJob job) throws IOException, InterruptedException {
    Map<Integer, Long> ended = new HashMap<>();
    boolean inTime =
        job.await(
            () -> {
              for (int rank : culprits.keySet()) {
                if (!ended.containsKey(rank) && Processes.isEnded(process(rank))) {
                  ended.put(rank, System.nanoTime());
                }
              }
              return ended.size() == culprits.size();
            },
            END);
    long launcherLimit = ClampedDuration.millis(END);
    boolean launcherEnded = job.awaitEnd(Duration.ofMillis(launcherLimit));
    long jobNanos = System.nanoTime();
    long last = ended.values().stream().mapToLong(Long::longValue).max().orElse(jobNanos);
    if (!inTime && !launcherEnded) {
      flaw(FlawKind.HANG, "it hangs; running ranks: " + job.processes().ranks().keySet());
    }
    double survivorSeconds = (last - harmedNanos) / 1e9;
    if (launcherEnded) {
      judge(job, survivorSeconds);
    }
    return outcome(survivorSeconds, (jobNanos - harmedNanos) / 1e9);
  }

  private void judge(TorturedJob job, double survivorSeconds) throws IOException {
    Duration limit = harm.isSilent() ? scenario.silence() : scenario.limit();
    if (survivorSeconds > ClampedDuration.millis(limit) / 1e3) {
      flaw(
          FlawKind.LATE,
          "a survivor took longer than " + ClampedDuration.millis(limit) / 1e3 + " s");
    }
    List<String> launcher = job.launcherLines();
    if (job.exitCode() == 0) {
      flaw(FlawKind.CAUSE, "the launcher ended with 0");
    } else if (launcher.stream().noneMatch(SurvivorCheck.JOB_FAILED.asPredicate())) {
      flaw(FlawKind.CAUSE, "the launcher does not name the rank with which the job failed");
    }
    culprits.forEach(
        (rank, guilty) -> {
          String wrong =
              new SurvivorCheck(guilty)
                  .wrong(job.rankExitCode(rank), job.rankLines(rank), launcher);
          if (!wrong.isEmpty()) {
            flaw(FlawKind.CAUSE, "rank " + rank + " " + wrong);
          }
        });
    job.await(() -> job.processes().alive().isEmpty(), LAST_BREATH);
    List<Long> orphans = job.processes().alive().stream().map(ProcessHandle::pid).toList();
    if (!orphans.isEmpty()) {
      flaw(FlawKind.ORPHAN, "processes remain: " + orphans);
    }
    List<String> left = job.leftovers();
    if (!left.isEmpty()) {
      flaw(FlawKind.FILE, "files remain: " + left);
    }
  }

  private JobOutcome outcome(double survivorSeconds, double jobSeconds) {
    return new JobOutcome(
        harm, seed, victim, momentSeconds, survivorSeconds, jobSeconds, load, flaws);
  }

  private void flaw(FlawKind kind, String words) {
    flaws.add(new Flaw(kind, words));
  }

  private static double load() {
    return ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
  }

  private static void remove(Path directory) throws IOException {
    try (Stream<Path> all = Files.walk(directory)) {
      for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(path);
      }
    }
  }
}
