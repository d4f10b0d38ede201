// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.weft.WeftConfig;
import io.weft.comm.CommException;
import io.weft.testkit.program.Needs;
import io.weft.testkit.program.OptionalProgram;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class LaunchedJobTest {

  @TempDir Path directory;

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  private JobPlan plan(int ranks, JobPlan.Output output, String script) {
    return new JobPlan(
        RankPlacement.here(ranks),
        List.of("sh", "-c", script),
        Map.of("FROM_PLAN", "yes", "DIR", directory.toString()),
        WeftConfig.load(Map.of(), new Properties()),
        output.in(directory.resolve("out")));
  }

  private int run(int ranks, String script) throws Exception {
    return run(plan(ranks, JobPlan.Output.PREFIXED, script));
  }

  private int run(JobPlan plan) throws Exception {
    PrintStream shown = new PrintStream(out, true, StandardCharsets.UTF_8);
    PrintStream told = new PrintStream(err, true, StandardCharsets.UTF_8);
    try (LaunchedJob job = LaunchedJob.start(plan, shown, told)) {
      return job.await();
    }
  }

  private String pidIn(String file) throws Exception {
    return Files.readString(directory.resolve(file)).strip();
  }

  private static boolean lives(String pid) {
    return ProcessHandle.of(Long.parseLong(pid)).filter(ProcessHandle::isAlive).isPresent();
  }

  @Test
  void ranksGetTheirPlacementAndTheJobsSettings() throws Exception {
    int code =
        run(
            2,
            "echo $WEFT_RANK/$WEFT_SIZE $WEFT_LOCAL_RANK/$WEFT_LOCAL_SIZE $FROM_PLAN"
                + " ${WEFT_STORE%:*} ${WEFT_SECRET:-none} ${WEFT_TERMINAL:-none};"
                + " test -s $WEFT_SECRET_FILE || exit 9; test $WEFT_LAUNCHER_PID -gt 1 || exit 8;"
                + " stat -c %a $WEFT_SECRET_FILE; echo to err $WEFT_RANK >&2");
    assertThat(err.toString(StandardCharsets.UTF_8).lines())
        .containsExactlyInAnyOrder("[0] to err 0", "[1] to err 1");
    assertThat(out.toString(StandardCharsets.UTF_8).lines())
        .containsExactlyInAnyOrder(
            "[0] 0/2 0/2 yes 127.0.0.1 none none",
            "[1] 1/2 1/2 yes 127.0.0.1 none none",
            "[0] 600",
            "[1] 600");
    assertThat(code).isZero();
    assertThat(directory.resolve("out/rank.1/stderr")).hasContent("to err 1");
  }

  @Test
  void rawRankZeroKeepsItsBytes() throws Exception {
    String script = "printf 'a\\rb %s' $WEFT_RANK";
    assertThat(run(plan(2, JobPlan.Output.RANK_ZERO_RAW, script))).isZero();
    assertThat(out.toString(StandardCharsets.UTF_8)).contains("a\rb 0").contains("[1] a\rb 1\n");
  }

  @Test
  void firstFailureIsReportedWithItsLastLinesAndTheOthersEnd() throws Exception {
    int code =
        run(
            3,
            "echo $$ > $DIR/pid.$WEFT_RANK;"
                + "if [ $WEFT_RANK = 1 ]; then echo last words >&2; exit 7; fi; sleep 1000");
    assertThat(code).isEqualTo(7);
    assertThat(err.toString(StandardCharsets.UTF_8))
        .contains("rank 1 on localhost failed: exit code 7")
        .contains("  | last words")
        .endsWith("the job failed: rank 1 on localhost: exit code 7; all other ranks have ended\n");
    assertThat(lives(pidIn("pid.0"))).isFalse();
    assertThat(lives(pidIn("pid.2"))).isFalse();
    assertThat(directory.resolve("out/rank.1/exit")).hasContent("7");
    assertThat(directory.resolve("out/rank.0/exit")).hasContent("143");
  }

  private static JobPlan with(JobPlan plan, String... settings) {
    var variables = new HashMap<String, String>();
    for (int i = 0; i < settings.length; i += 2) {
      variables.put(settings[i], settings[i + 1]);
    }
    return new JobPlan(
            plan.ranks(),
            plan.command(),
            plan.environment(),
            WeftConfig.load(variables, new Properties()),
            plan.output())
        .reachedBy(plan.ssh());
  }

  private JobPlan shrinking(int ranks, String script, String... settings) {
    String[] all = Arrays.copyOf(settings, settings.length + 2);
    all[settings.length] = "WEFT_ON_FAILURE";
    all[settings.length + 1] = "shrink";
    return with(plan(ranks, JobPlan.Output.PREFIXED, script), all);
  }

  private int survive(int ranks, String script, String... settings) throws Exception {
    return run(shrinking(ranks, script, settings));
  }

  @Test
  void jobContinuesWithoutItsLostRanks() throws Exception {
    int code =
        survive(
            3,
            "if [ $WEFT_RANK = 1 ]; then echo last words; kill -9 $$; fi;"
                + " while ! grep -q words $DIR/out/rank.1/stdout; do :; done; echo survived");
    assertThat(code).isZero();
    assertThat(out.toString(StandardCharsets.UTF_8)).contains("[0] survived", "[2] survived");
    assertThat(err.toString(StandardCharsets.UTF_8))
        .containsPattern(
            "rank 1 on localhost was lost \\(killed by SIGKILL \\(exit code 137\\)\\)"
                + " at \\d\\d:\\d\\d:\\d\\d; ")
        .contains("  | last words")
        .endsWith(
            "the job is done, without rank 1 on localhost (killed by SIGKILL (exit code 137))\n");
  }

  @Test
  void lostRankIsRestartedUpToTheLimitOfThePlan() throws Exception {
    String script =
        "echo $$ >> $DIR/starts.$WEFT_RANK.${WEFT_JOIN:-false}; case $WEFT_RANK in"
            + " 0) while ! [ -f $DIR/out/rank.1.2/exit ]; do sleep 0.01; done;;"
            + " 1) echo start $(cat $DIR/starts.1.* | wc -l); exit 4;;"
            + " 2) exit 5;; esac";
    JobPlan plan = shrinking(3, script).restarting(new JobPlan.Restarts(Set.of(1), 2));
    assertThat(run(plan)).isZero();
    assertThat(err.toString(StandardCharsets.UTF_8))
        .contains("rank 1 on localhost was lost (exit code 4)")
        .contains("starting rank 1 again (1 of 2)", "starting rank 1 again (2 of 2)")
        .contains("rank 1, started again, on localhost was lost (exit code 4)")
        .doesNotContain("starting rank 2", "(3 of 2)");
    assertThat(directory.resolve("starts.1.false")).content().hasLineCount(1);
    assertThat(directory.resolve("starts.1.true")).content().hasLineCount(2);
    assertThat(directory.resolve("out/rank.1.2/stdout")).hasContent("start 3");
  }

  @Test
  void restartedRankEndsWithTheJob() throws Exception {
    String script =
        "case $WEFT_RANK.${WEFT_JOIN:-false} in"
            + " 0.*) while ! [ -f $DIR/pid.again ]; do sleep 0.01; done; exit 0;;"
            + " 1.false) exit 4;;"
            + " 1.true) echo $$ > $DIR/pid.next; mv $DIR/pid.next $DIR/pid.again; sleep 0.3;;"
            + " esac";
    JobPlan plan = shrinking(2, script).restarting(new JobPlan.Restarts(Set.of(1), 1));
    assertThat(run(plan)).isZero();
    assertThat(lives(pidIn("pid.again"))).isFalse();
  }

  @Test
  void lossOfTheFirstIndispensableRankFailsTheJob() throws Exception {
    int code =
        run(
            plan(
                    3,
                    JobPlan.Output.PREFIXED,
                    "case $WEFT_RANK in 1) exit 4;; 0) while ! [ -f $DIR/out/rank.1/exit ]; do :;"
                        + " done; kill -9 $$;; 2) exec sleep 1000;; esac")
                .dispensingWith(Set.of(1, 2)));
    assertThat(code).isEqualTo(137);
    assertThat(err.toString(StandardCharsets.UTF_8))
        .contains("rank 1 on localhost was lost (exit code 4)", "the job goes on with 2 ranks")
        .contains("rank 0 on localhost failed: killed by SIGKILL")
        .contains("the job failed: rank 0 on localhost: killed by SIGKILL");
  }

  @Test
  void lossOfAllDispensableRanksFailsTheJobIfTheOthersSucceed() throws Exception {
    JobPlan plan = plan(2, JobPlan.Output.PREFIXED, "exit $((WEFT_RANK * 3))");
    assertThat(run(plan.dispensingWith(Set.of(1)))).isEqualTo(3);
    assertThat(err.toString(StandardCharsets.UTF_8))
        .contains("no rank that it may lose has ended well: rank 1 on localhost (exit code 3)");
  }

  @Test
  void jobWithoutSurvivorsFails() throws Exception {
    assertThat(survive(2, "exit $((WEFT_RANK + 3))")).isBetween(3, 4);
    assertThat(err.toString(StandardCharsets.UTF_8))
        .contains("no rank is left")
        .contains("the job failed: no rank has ended well: rank ");
  }

  @Test
  void stoppedRankIsKilledWhenTheOthersAreDone() throws Exception {
    assumeTrue(Files.isDirectory(Path.of("/proc/self")), "needs /proc to see that it is stopped");
    assertThat(survive(2, "if [ $WEFT_RANK = 1 ]; then kill -STOP $$; fi")).isZero();
    assertThat(err.toString(StandardCharsets.UTF_8))
        .contains("rank 1 on localhost is stopped, and the others are done; ending it")
        .contains("the job is done, without rank 1 on localhost (killed by SIGKILL");
  }

  @Test
  void stoppedRankIsKilledWhenNoOtherRankIsLeft() throws Exception {
    assumeTrue(Files.isDirectory(Path.of("/proc/self")), "needs /proc to see that it is stopped");
    String script =
        "echo $$ > $DIR/pid.$WEFT_RANK; if [ $WEFT_RANK = 0 ]; then kill -STOP $$; fi;"
            + " while ! grep -q '(sh) T' /proc/$(cat $DIR/pid.0)/stat; do sleep 0.1; done; exit 1";
    assertThat(survive(2, script, "WEFT_SILENCE_LIMIT", "2s")).isEqualTo(137);
    assertThat(err.toString(StandardCharsets.UTF_8))
        .containsPattern("rank 1 on localhost was lost \\(exit code 1\\) at ")
        .contains("; still there: rank 0 on localhost (stopped)")
        .contains("rank 0 on localhost is stopped, and no other rank is left; ending it")
        .contains(
            "the job failed: no rank has ended well: rank 1 on localhost (exit code 1), rank 0")
        .doesNotContain("goes on", "is done");
  }

  @Test
  void stoppedIndispensableRankIsKilledWhenNoOtherRankIsLeft() throws Exception {
    assumeTrue(Files.isDirectory(Path.of("/proc/self")), "needs /proc to see that it is stopped");
    String script = "if [ $WEFT_RANK = 0 ]; then kill -STOP $$; fi; exit $WEFT_RANK";
    JobPlan plan = shrinking(3, script, "WEFT_SILENCE_LIMIT", "2s").dispensingWith(Set.of(1, 2));
    assertThat(run(plan)).isEqualTo(137);
    assertThat(err.toString(StandardCharsets.UTF_8))
        .contains("rank 0 on localhost is stopped, and no other rank is left; ending it")
        .contains("the job failed: no rank that it may lose has ended well: rank ")
        .doesNotContain("is done");
  }

  @Test
  void indispensableRankDoesNotOutliveTheDispensableOnes() throws Exception {
    String script = "if [ $WEFT_RANK = 0 ]; then sleep 1000; fi; exit $((WEFT_RANK - 1))";
    JobPlan plan =
        shrinking(3, script, "WEFT_DEADLINE", "1s")
            .dispensingWith(Set.of(1, 2))
            .leavingWithin(Duration.ofSeconds(1));
    assertThat(run(plan)).isZero();
    assertThat(err.toString(StandardCharsets.UTF_8))
        .contains("rank 0 on localhost has not ended within 2 s after those")
        .contains(
            "the job is done, without rank 2 on localhost (exit code 1), rank 0 on localhost");
  }

  @Test
  void indispensableRankHas30SecondsToEndUnlessThePlanSetsALimit() {
    JobPlan plan = plan(1, JobPlan.Output.PREFIXED, "true");
    assertThat(plan.losses().leaving()).isEqualTo(Duration.ofSeconds(30));
    JobPlan other = plan.leavingWithin(Duration.ofSeconds(1)).dispensingWith(Set.of(0));
    assertThat(other.ofAnyProgram().losses().leaving()).isEqualTo(Duration.ofSeconds(1));
  }

  @Test
  void interruptedJobIsNotReportedAsDone() throws Exception {
    JobPlan plan = shrinking(2, "if [ $WEFT_RANK = 0 ]; then exit 1; fi; exec sleep 1000");
    PrintStream shown = new PrintStream(out, true, StandardCharsets.UTF_8);
    PrintStream told = new PrintStream(err, true, StandardCharsets.UTF_8);
    try (LaunchedJob job = LaunchedJob.start(plan, shown, told)) {
      Thread closer =
          Thread.ofPlatform()
              .start(
                  () -> {
                    while (!err.toString(StandardCharsets.UTF_8).contains("was lost")) {
                      Thread.onSpinWait();
                    }
                    job.interrupted();
                  });
      assertThat(job.await()).isZero();
      closer.join(Duration.ofSeconds(20));
    }
    assertThat(err.toString(StandardCharsets.UTF_8))
        .contains("interrupted; ending 2 ranks")
        .doesNotContain("is done");
  }

  @Test
  void stoppedRankFailsTheJobWhenAllOthersHaveSucceeded() throws Exception {
    assumeTrue(Files.isDirectory(Path.of("/proc/self")), "needs /proc to see that it is stopped");
    String script = "if [ $WEFT_RANK = 0 ]; then kill -STOP $$; fi; exit 0";
    assertThat(run(with(plan(2, JobPlan.Output.PREFIXED, script), "WEFT_SILENCE_LIMIT", "2s")))
        .isEqualTo(137);
    assertThat(err.toString(StandardCharsets.UTF_8))
        .contains("the job failed: rank 0 on localhost: it did not end by itself: it was stopped");
  }

  @Test
  void signalThatKilledARankIsNamed() throws Exception {
    assertThat(run(1, "kill -9 $$")).isEqualTo(137);
    assertThat(err.toString(StandardCharsets.UTF_8)).contains("killed by SIGKILL (exit code 137)");
  }

  @Test
  @Needs(OptionalProgram.SETSID) // otherwise Java itself refuses
  void missingCommandIsNamed() throws Exception {
    JobPlan plan = plan(1, JobPlan.Output.PREFIXED, "");
    var missing =
        new JobPlan(
                plan.ranks(),
                List.of("weft-no-such-command"),
                plan.environment(),
                plan.config(),
                plan.output())
            .reachedBy(plan.ssh());
    assertThat(run(missing)).isEqualTo(127);
    assertThat(err.toString(StandardCharsets.UTF_8))
        .contains("weft-no-such-command")
        .contains("command not found (exit code 127)");
  }

  @Test
  void otherRanksHaveTimeToReportAFailure() throws Exception {
    int code =
        run(2, "if [ $WEFT_RANK = 1 ]; then exit 5; fi; sleep 0.5; echo lost rank 1 >&2; exit 1");
    assertThat(code).isEqualTo(5);
    assertThat(err.toString(StandardCharsets.UTF_8)).contains("[0] lost rank 1");
  }

  @Test
  void killedRankIsTheCulpritEvenIfItsWitnessEndsFirst() throws Exception {
    int code =
        run(
            3,
            "echo $$ > $DIR/pid.$WEFT_RANK.new; mv $DIR/pid.$WEFT_RANK.new $DIR/pid.$WEFT_RANK;"
                + "case $WEFT_RANK in"
                + " 1) while ! [ -e $DIR/pid.0 ] || kill -0 $(cat $DIR/pid.0); do sleep 0.1; done;"
                + " kill -9 $$;;"
                + " 0) echo 'rank 1 on here is lost: its connection broke' >&2; exit 1;;"
                + " *) sleep 1000;; esac");
    assertThat(code).isEqualTo(137);
    assertThat(err.toString(StandardCharsets.UTF_8))
        .contains("rank 1 on localhost failed: killed by SIGKILL (exit code 137)")
        .endsWith(
            "the job failed: rank 1 on localhost: killed by SIGKILL (exit code 137);"
                + " all other ranks have ended\n");
    assertThat(lives(pidIn("pid.2"))).isFalse();
  }

  @Test
  void stoppedRankIsTheCulpritAndIsEnded() throws Exception {
    assumeTrue(Files.isReadable(Path.of("/proc/self/stat")), "needs /proc to see it");
    int code =
        run(
            2,
            "echo $$ > $DIR/pid.$WEFT_RANK; if [ $WEFT_RANK = 1 ]; then kill -STOP $$; fi;"
                + " while ! grep -q '(sh) T' /proc/$(cat $DIR/pid.1)/stat; do sleep 0.1; done;"
                + " exit 6");
    assertThat(code).isEqualTo(6);
    assertThat(err.toString(StandardCharsets.UTF_8))
        .contains("rank 0 on localhost failed: exit code 6")
        .contains("the job failed: rank 1 on localhost: it did not end by itself: it was stopped");
    assertThat(lives(pidIn("pid.1"))).isFalse();
  }

  @Test
  void ranksThatIgnoreSigtermAndTheirOrphansAreKilled() throws Exception {
    assumeTrue(Files.isDirectory(Path.of("/proc/self")), "needs /proc to find orphans");
    int code =
        run(
            2,
            "trap '' TERM; (trap '' TERM; setsid sleep 1000 & echo $! > $DIR/orphan.$WEFT_RANK);"
                + " if [ $WEFT_RANK = 1 ]; then exit 4; fi; while :; do sleep 1; done");
    assertThat(code).isEqualTo(4);
    assertThat(lives(pidIn("orphan.0"))).isFalse();
    assertThat(lives(pidIn("orphan.1"))).isFalse();
  }

  @Test
  void closingEndsRunningJob() throws Exception {
    String pid;
    try (LaunchedJob job =
        LaunchedJob.start(
            plan(1, JobPlan.Output.PREFIXED, "echo $$; exec sleep 1000"),
            new PrintStream(out, true, StandardCharsets.UTF_8),
            new PrintStream(err, true, StandardCharsets.UTF_8))) {
      long end = System.nanoTime() + Duration.ofSeconds(20).toNanos();
      while (!out.toString(StandardCharsets.UTF_8).endsWith("\n") && System.nanoTime() < end) {
        Thread.onSpinWait();
      }
      pid = out.toString(StandardCharsets.UTF_8).replaceAll("\\D", "").substring(1);
      assertThat(lives(pid)).isTrue();
      assertThat(job).isNotNull();
    }
    assertThat(lives(pid)).isFalse();
  }

  @Test
  void takenStorePortIsNamed() throws Exception {
    try (var taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      String store = "127.0.0.1:" + taken.getLocalPort();
      JobPlan plan = plan(1, JobPlan.Output.PREFIXED, "true");
      var there =
          new JobPlan(
                  plan.ranks(),
                  plan.command(),
                  plan.environment(),
                  WeftConfig.builder().store(store).build(),
                  plan.output())
              .reachedBy(plan.ssh());
      assertThatThrownBy(() -> run(there))
          .isInstanceOf(CommException.Setup.class)
          .hasMessageContaining(store);
    }
  }
}
