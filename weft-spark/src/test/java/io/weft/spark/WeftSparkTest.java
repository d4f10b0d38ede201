// SPDX-License-Identifier: Apache-2.0
package io.weft.spark;

import static io.weft.collective.CollectiveOptions.named;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.comm.CommException;
import io.weft.kv.KvNode;
import io.weft.kv.KvOptions;
import io.weft.kv.KvTable;
import io.weft.kv.spec.Consistency;
import io.weft.kv.spec.TableSpec;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import java.io.Serializable;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class WeftSparkTest {

  private static final int SLOTS = 4;

  private SparkSession session;
  private SparkContext spark;

  @BeforeAll
  void start() {
    session = LocalSpark.start(SLOTS);
    spark = session.sparkContext();
  }

  @AfterAll
  void stop() {
    session.stop();
  }

  /// Returns the sum over all ranks.
  private static float sum(SparkRank<?> rank, float own) throws InterruptedException {
    try (TensorLease x = rank.weft().allocate(DType.FLOAT32, Shape.of(1))) {
      x.view().data().set(ValueLayout.JAVA_FLOAT, 0, own);
      rank.weft().communicator().allreduce(x.view(), x.view(), ReduceOp.SUM, named("sum")).await();
      return x.view().data().get(ValueLayout.JAVA_FLOAT, 0);
    }
  }

  @Test
  void resultsComeBackByRank() {
    List<String> results =
        WeftSpark.run(
            spark,
            3,
            rank -> rank.rank() + " of " + rank.size() + ": " + sum(rank, 1 + rank.rank()));
    assertThat(results).containsExactly("0 of 3: 6.0", "1 of 3: 6.0", "2 of 3: 6.0");
  }

  @Test
  void eachRankReadsItsPartition() {
    JavaRDD<Integer> numbers =
        JavaSparkContext.fromSparkContext(spark).parallelize(List.of(1, 2, 3, 4, 5), 2);
    List<Float> sums =
        WeftSpark.run(
            numbers,
            rank -> {
              float own = 0;
              while (rank.partition().hasNext()) {
                own += rank.partition().next();
              }
              return sum(rank, own);
            });
    assertThat(sums).containsExactly(15f, 15f);
  }

  @Test
  void twoJobsOfAnApplicationDoNotMeet() throws Exception {
    List<CompletableFuture<List<Float>>> jobs = new ArrayList<>();
    for (int job = 1; job <= 2; job++) {
      float own = job;
      jobs.add(
          CompletableFuture.supplyAsync(() -> WeftSpark.run(spark, 2, rank -> sum(rank, own))));
    }
    assertThat(jobs.get(0).get(60, TimeUnit.SECONDS)).containsExactly(2f, 2f);
    assertThat(jobs.get(1).get(60, TimeUnit.SECONDS)).containsExactly(4f, 4f);
  }

  @Test
  void programThatThrowsOnOneRankEndsAllAndIsNamed() {
    long start = System.nanoTime();
    for (int failing = 0; failing < 2; failing++) {
      int bad = failing;
      assertThatThrownBy(
              () ->
                  WeftSpark.run(
                      spark,
                      3,
                      rank -> {
                        if (rank.rank() == bad) {
                          throw new IllegalStateException("my bug");
                        }
                        return sum(rank, 1);
                      }))
          .isInstanceOf(RankFailedException.class)
          .hasMessageContaining("rank " + bad + " on executor driver")
          .hasMessageContaining("my bug")
          .satisfies(thrown -> assertThat(((RankFailedException) thrown).rank()).isEqualTo(bad))
          .rootCause()
          .hasMessageContaining("WeftSparkTest");
    }
    assertThat(TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start)).isLessThan(20);
    resultsComeBackByRank();
  }

  @Test
  void lostPeerLetsSparkRunAllRanksAgain() {
    List<Integer> attempts =
        WeftSpark.run(
            spark,
            2,
            rank -> {
              if (rank.place().attempt() == 0 && rank.rank() == 1) {
                throw new CommException.PeerLost("as if the executor were lost", 0, null);
              }
              assertThat(sum(rank, 1)).isEqualTo(2);
              return rank.place().attempt();
            });
    assertThat(attempts).containsExactly(1, 1);
  }

  @Test
  void cancelledJobLeavesNoRank() throws Exception {
    CompletableFuture<Void> end =
        CompletableFuture.runAsync(
            () -> {
              spark.setJobGroup("endless", "waits for ever", false);
              WeftSpark.run(
                  spark,
                  2,
                  rank -> {
                    RUNNING.incrementAndGet();
                    try {
                      while (RUNNING.get() > 0) {
                        rank.weft().communicator().barrier(named("barrier")).await();
                      }
                      return 0;
                    } finally {
                      RUNNING.decrementAndGet();
                    }
                  });
            });
    await(() -> RUNNING.get() == 2);
    spark.cancelJobGroup("endless");
    assertThatThrownBy(() -> end.get(30, TimeUnit.SECONDS)).hasMessageContaining("cancelled");
    await(() -> RUNNING.get() == 0);
    resultsComeBackByRank();
  }

  // Tasks of local mode run in this JVM, but have copies of what their program refers to.
  private static final AtomicInteger RUNNING = new AtomicInteger();

  private static void await(java.util.function.BooleanSupplier until) throws InterruptedException {
    for (int i = 0; i < 2000 && !until.getAsBoolean(); i++) {
      TimeUnit.MILLISECONDS.sleep(10);
    }
    assertThat(until.getAsBoolean()).isTrue();
  }

  @Test
  void moreRanksThanSlotsAreRefusedAtOnce() {
    assertThatThrownBy(() -> WeftSpark.run(spark, SLOTS + 1, rank -> 0))
        .isInstanceOf(CommException.Setup.class)
        .hasMessageContaining("5 ranks must run at once, but the application has slots for 4 tasks")
        .hasMessageContaining("local[5]")
        .hasMessageContaining("spark.task.cpus");
  }

  @Test
  void resultThatCannotBeSerializedIsNamed() {
    assertThatThrownBy(() -> WeftSpark.run(spark, 1, rank -> new Holder(new Object())))
        .isInstanceOf(RankFailedException.class)
        .hasMessageContaining("the result of rank 0 cannot be serialized")
        .hasMessageContaining("java.lang.Object");
  }

  private record Holder(Object value) implements Serializable {}

  @Test
  void partitionsThatSparkRefusesAreRefusedWithTheRemedy() {
    JavaRDD<Integer> numbers =
        JavaSparkContext.fromSparkContext(spark).parallelize(List.of(1, 2, 3, 4), 4);
    assertThatThrownBy(() -> WeftSpark.run(numbers.coalesce(2), rank -> 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("repartition(2)");
    assertThat(WeftSpark.run(numbers.coalesce(2).repartition(2), rank -> 0)).hasSize(2);
  }

  @Test
  void serversAndWorkersAreTasksOfOneStage() {
    List<Float> values =
        WeftSpark.run(
            spark,
            3,
            rank -> {
              try (KvNode kv = KvNode.open(rank.weft(), KvOptions.servers(1))) {
                if (kv.serve()) {
                  return -1f;
                }
                KvTable table =
                    kv.worker().register(TableSpec.rows("rows", 1).with(Consistency.synchronous()));
                long[] keys = {7};
                float[] row = {1};
                table.push(keys, row).await();
                kv.worker().clock();
                table.pull(keys, row).await();
                return row[0];
              }
            });
    assertThat(values).containsExactlyInAnyOrder(-1f, 2f, 2f);
  }

  @Test
  void dynamicAllocationIsRefusedWithTheRemedy() {
    SparkConf conf = new SparkConf(false).set("spark.dynamicAllocation.enabled", "true");
    assertThatThrownBy(() -> StartChecks.requireFixedExecutors(conf))
        .isInstanceOf(CommException.Setup.class)
        .hasMessageContaining("set it to false and spark.executor.instances");
  }

  @Test
  void jobWithoutRanksIsRefused() {
    assertThatThrownBy(() -> WeftSpark.run(spark, 0, rank -> 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("a job has at least 1 rank, got 0");
  }

  @Test
  void settingsOfWeftComeFromSparkAndNeverShowTheSecret() {
    List<String> deadlines =
        WeftSpark.run(spark, 1, rank -> rank.weft().config().deadline().toString());
    assertThat(deadlines).containsExactly("PT20S");
    JobSpec job = JobSpec.create(new SparkConf(false).set("spark.weft.deadline", "7s"));
    assertThat(job.toString()).contains("weft.deadline=7s").doesNotContain("secret");
  }

  @Test
  void confAddsOnlyMissingFlags() {
    String given = "-Xss2m --enable-native-access=ALL-UNNAMED";
    SparkConf conf =
        WeftSpark.conf(
            new SparkConf(false)
                .set("spark.executor.extraJavaOptions", given)
                .set("spark.executorEnv.OMP_WAIT_POLICY", "ACTIVE"));
    assertThat(conf.get("spark.executor.extraJavaOptions"))
        .isEqualTo(
            given + " --add-modules=jdk.incubator.vector --sun-misc-unsafe-memory-access=allow");
    assertThat(conf.get("spark.executorEnv.OMP_WAIT_POLICY")).isEqualTo("ACTIVE");
    assertThat(conf.get("spark.dynamicAllocation.enabled")).isEqualTo("false");
  }
}
