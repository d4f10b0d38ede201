// SPDX-License-Identifier: Apache-2.0
package io.weft.spark;

import static io.weft.collective.CollectiveOptions.named;

import io.weft.spark.ml.DenseNetwork;
import io.weft.spark.ml.WeftEstimator;
import io.weft.spark.ml.WeftModel;
import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import org.apache.spark.SparkConf;
import org.apache.spark.sql.SparkSession;

/// A driver with two executors, which are processes of their own. The first argument names what it
/// does; it prints the result.
public final class ClusterProgram {

  private ClusterProgram() {}

  /// Runs `ranks`, `lost-executor DIRECTORY` or `estimator`.
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
      System.out.println("ranks: " + ranks(spark));
      System.out.println("lost executor: " + lostExecutor(spark));
      System.out.println("estimator: " + estimator(spark));
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
    WeftModel model =
        new WeftEstimator(new DenseNetwork(0.1f))
            .setFeaturesCol("id")
            .setLabelCol("label")
            .setNumWorkers(2)
            .setEpochs(2)
            .fit(spark.range(64).selectExpr("id / 64 as id", "id / 32 as label"));
    var course = model.summary().orElseThrow();
    return new HashSet<>(course.executors()).size()
        + " executors, equal weights "
        + course.equalWeights();
  }
}
