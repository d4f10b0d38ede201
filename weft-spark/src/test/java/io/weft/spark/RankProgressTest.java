// SPDX-License-Identifier: Apache-2.0
package io.weft.spark;

import static io.weft.collective.CollectiveOptions.named;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.Logger;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.Property;
import org.apache.spark.SparkContext;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.status.api.v1.AccumulableInfo;
import org.apache.spark.status.api.v1.StageData;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import scala.jdk.javaapi.CollectionConverters;

/// Checks that the driver learns of the progress of ranks while they run, by heartbeats, and that
/// Spark's stage page has it afterwards.
class RankProgressTest {

  private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(30);
  private static final Pattern LINE =
      Pattern.compile(
          "stage \\d+, attempt 0: step [1-9]\\d*, loss 0\\.2500 in epoch 3, \\d+ examples a second"
              + " on 2 ranks, \\d+\\.\\d MB sent");

  // Tasks of local mode run in this JVM, but have copies of their program's objects.
  private static volatile String logged = "";

  private static final class Lines extends AbstractAppender {

    Lines() {
      super("lines", null, null, true, Property.EMPTY_ARRAY);
    }

    @Override
    public void append(LogEvent event) {
      String line = event.getMessage().getFormattedMessage();
      logged = LINE.matcher(line).matches() ? line : logged;
    }
  }

  @Test
  @Timeout(240)
  void driverLogsAndShowsTheProgressOfRanks() throws Exception {
    Logger logger = (Logger) LogManager.getLogger(JobProgress.class);
    var lines = new Lines();
    lines.start();
    try (SparkSession spark =
        SparkSession.builder()
            .config(LocalSpark.conf(2).set("spark.executor.heartbeatInterval", "3s"))
            .getOrCreate()) {
      logger.addAppender(lines); // sets the level to that of the configuration
      logger.setLevel(Level.INFO);
      SparkContext context = spark.sparkContext();
      List<Long> steps = WeftSpark.run(context, 2, RankProgressTest::stepUntilLogged);
      assertThat(logged).as("a line of the driver's log").isNotEmpty();
      Map<String, String> shown = shown(context);
      long all = steps.get(0) + steps.get(1);
      assertThat(shown)
          .containsEntry("weft steps of all ranks", Long.toString(all))
          .containsEntry("weft examples", Long.toString(4 * all))
          .containsEntry("weft loss", "0.2500 in epoch 3");
      assertThat(Long.parseLong(shown.get("weft bytes sent"))).isPositive();
    } finally {
      logger.removeAppender(lines);
      lines.stop();
    }
  }

  /// Takes steps until the driver has logged their progress. Returns the number of steps.
  private static long stepUntilLogged(SparkRank<Integer> rank) throws InterruptedException {
    rank.weft().communicator().barrier(named("begin")).await();
    rank.progress().epoch(3);
    long begin = System.nanoTime();
    long taken = 0;
    while (logged.isEmpty() && System.nanoTime() - begin < LIMIT_NANOS) {
      rank.progress().step(4, 0.25);
      taken++;
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
    }
    return taken;
  }

  /// Returns the values of the accumulators that the page of the job's stage shows, by name.
  private static Map<String, String> shown(SparkContext context) throws Exception {
    context.listenerBus().waitUntilEmpty(10_000);
    Map<String, String> shown = new TreeMap<>();
    var stages = context.statusStore().stageList(List.of(), false, false, new double[0], List.of());
    for (StageData stage : CollectionConverters.asJava(stages)) {
      for (AccumulableInfo each : CollectionConverters.asJava(stage.accumulatorUpdates())) {
        shown.put(each.name(), each.value());
      }
    }
    return shown;
  }

  @Test
  void lossIsThatOfTheLastEpoch() {
    EpochLoss first = new EpochLoss(1, 8, 2);
    EpochLoss second = new EpochLoss(2, 3, 2).with(new EpochLoss(2, 1, 6));
    assertThat(first.with(second)).isEqualTo(second.with(first)).hasToString("0.5000 in epoch 2");
    assertThat(new EpochLoss(0, 3, 2)).hasToString("1.500");
  }
}
