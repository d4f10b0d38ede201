// SPDX-License-Identifier: Apache-2.0
package io.weft.spark;

import static io.weft.collective.CollectiveOptions.named;

import io.weft.spark.ml.DenseNetwork;
import io.weft.spark.ml.HaltingNetwork;
import io.weft.spark.ml.TrainingSummary;
import io.weft.spark.ml.WeftEstimator;
import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import org.apache.spark.SparkConf;
import org.apache.spark.sql.SparkSession;

/// A driver with two executors, which are separate processes. It prints a line for each check, or
/// with the argument N repeats the loss of an executor N times.
public final class ClusterProgram {

  private ClusterProgram() {}

  /// Runs the checks.
  public static void main(String[] arguments) throws IOException {
    SparkConf conf =
        WeftSpark.conf(new SparkConf())
            .setAppName("weft test")
            .setMaster("local-cluster[2,1,1024]")
            .set("spark.executor.memory", "700m")
            .set("spark.ui.enabled", "false")
            .set("spark.sql.shuffle.partitions", "2")
            .set("spark.weft.deadline", "30s")
            .set("spark.executor.extraClassPath", System.getProperty("weft.test.classes"));
    try (SparkSession spark = SparkSession.builder().config(conf).getOrCreate()) {
      if (arguments.length > 0) {
        int times = Integer.parseInt(arguments[0]);
        int equal = 0;
        for (int i = 0; i < times; i++) {
          equal += resumed(spark, "/" + i).equals("true, equal weights true") ? 1 : 0;
        }
        System.out.println("resumed with equal weights: " + equal + " of " + times);
        return;
      }
      System.out.println("ranks: " + ranks(spark));
      System.out.println("lost executor: " + lostExecutor(spark));
      System.out.println("estimator: " + estimator(spark));
      System.out.println("resumed: " + resumed(spark, ""));
    }
  }

  private static String ranks(SparkSession spark) {
    List<String> places =
        WeftSpark.run(
            spark.sparkContext(),
            2,
            rank -> rank.weft().transport() + " " + rank.place().executor());
    return new HashSet<>(places).size() + " executors over " + places.getFirst().split(" ")[0];
  }

  /// Ends the process of rank 1 in the first attempt, and returns the attempts that returned.
  private static String lostExecutor(SparkSession spark) {
    return WeftSpark.run(
            spark.sparkContext(),
            2,
            rank -> {
              rank.weft().communicator().barrier(named("before")).await();
              if (rank.rank() == 1 && rank.place().attempt() == 0) {
                Runtime.getRuntime().halt(137);
              }
              rank.weft().communicator().barrier(named("after")).await();
              return rank.place().attempt();
            })
        .toString();
  }

  private static String estimator(SparkSession spark) {
    var course = fit(spark, new WeftEstimator(new DenseNetwork(0.1f)).setEpochs(2));
    return new HashSet<>(course.executors()).size()
        + " executors, equal weights "
        + course.equalWeights();
  }

  private static TrainingSummary fit(SparkSession spark, WeftEstimator estimator) {
    return estimator
        .setFeaturesCol("id")
        .setLabelCol("label")
        .setNumWorkers(2)
        .fit(spark.range(256).selectExpr("id / 256 as id", "id / 128 as label"))
        .summary()
        .orElseThrow();
  }

  /// Kills the process of rank 1 in the first attempt when two epochs are saved. Compares the
  /// weights with those of an undisturbed training.
  private static String resumed(SparkSession spark, String directory) {
    int epochs = 30;
    String checkpoints = System.getProperty("weft.test.checkpoints") + directory;
    TrainingSummary undisturbed =
        fit(spark, new WeftEstimator(new DenseNetwork(0.1f)).setEpochs(epochs));
    TrainingSummary resumed =
        fit(
            spark,
            new WeftEstimator(new HaltingNetwork(checkpoints))
                .setEpochs(epochs)
                .setCheckpointDir(checkpoints));
    return (resumed.losses().size() < epochs)
        + ", equal weights "
        + resumed.digests().equals(undisturbed.digests());
  }
}
