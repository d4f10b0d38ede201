// SPDX-License-Identifier: Apache-2.0
package io.weft.spark;

import org.apache.spark.SparkConf;
import org.apache.spark.sql.SparkSession;

/// Spark in the JVM of a test: executors, driver and scheduler are threads.
public final class LocalSpark {

  private LocalSpark() {}

  /// Starts it with this number of slots. The caller closes it.
  public static SparkSession start(int slots) {
    return SparkSession.builder().config(conf(slots)).getOrCreate();
  }

  /// Returns the configuration of `start`.
  public static SparkConf conf(int slots) {
    return WeftSpark.conf(new SparkConf())
        .setAppName("weft test")
        .setMaster("local[" + slots + "]")
        .set("spark.speculation", "true")
        .set("spark.ui.enabled", "false")
        .set("spark.driver.host", "127.0.0.1")
        .set("spark.driver.bindAddress", "127.0.0.1")
        .set("spark.sql.shuffle.partitions", "2")
        .set("spark.weft.deadline", "20s")
        .set("spark.weft.start-deadline", "30s");
  }
}
