// SPDX-License-Identifier: Apache-2.0
package io.weft.spark;

import io.weft.WeftConfig;
import io.weft.cluster.LaunchEnvironment;
import io.weft.cluster.store.SecretFile;
import io.weft.transport.spi.Secret;
import java.io.Serial;
import java.io.Serializable;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.UUID;
import org.apache.spark.SparkConf;
import scala.Tuple2;

/// The facts of a job that the driver tells all its ranks. Spark transmits them with the code of
/// the stage, which its user interface does not show.
final class JobSpec implements Serializable {

  /// The prefix of Spark's settings that are settings of Weft: `spark.weft.deadline` is `deadline`.
  static final String PREFIX = "spark.weft.";

  @Serial private static final long serialVersionUID = 1L;
  private static final String PROPERTY = "weft.";

  private final String name;
  private final byte[] secret;
  private final TreeMap<String, String> settings;

  private JobSpec(String name, byte[] secret, Map<String, String> settings) {
    this.name = name;
    this.secret = secret;
    this.settings = new TreeMap<>(settings);
  }

  /// Returns the facts of a new job, with a new secret.
  static JobSpec create(SparkConf conf) {
    var settings = new TreeMap<String, String>();
    for (Tuple2<String, String> setting : conf.getAllWithPrefix(PREFIX)) {
      settings.put(PROPERTY + setting._1(), setting._2());
    }
    return new JobSpec(UUID.randomUUID().toString(), SecretFile.random().bytes(), settings);
  }

  /// Returns the name of an attempt of the job. Ranks of different attempts never meet.
  String name(int attempt) {
    return "spark-" + name + "-" + attempt;
  }

  /// Returns the settings of a rank: those of Spark's configuration, on top of this process's
  /// system properties and environment. Throws `CommException.Setup` for a wrong value.
  WeftConfig config(Map<String, String> environment, Properties system) {
    var all = new Properties();
    system.stringPropertyNames().forEach(key -> all.setProperty(key, system.getProperty(key)));
    settings.forEach(all::setProperty);
    return WeftConfig.load(environment, all);
  }

  /// Returns the environment of a rank: this process's without the variables of a launcher, with
  /// the job's secret.
  Map<String, String> environment(Map<String, String> process) {
    var all = new HashMap<>(LaunchEnvironment.outside(process));
    all.putAll(SecretFile.variables(Secret.of(secret)));
    return all;
  }

  @Override
  public String toString() {
    return "JobSpec[" + name + ", " + settings + "]";
  }
}
