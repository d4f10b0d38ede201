// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.cluster.LaunchEnvironment;
import io.weft.cluster.StoreLocation;
import io.weft.comm.CommException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ConfiguredTaskTest {

  private static Map<String, String> environment(String cluster, String task) {
    return Map.of("TF_CONFIG", "{\"cluster\": {" + cluster + "}, \"task\": {" + task + "}}");
  }

  private static final Map<String, String> SECOND_WORKER =
      environment(
          "\"worker\": [\"h2:2222\", \"h3:2222\"], \"ps\": [\"h0:2222\", \"h1:2222\"]",
          "\"type\": \"worker\", \"index\": 1");

  @Test
  void tasksAreRanksWithServersFirst() {
    ConfiguredTask task = ConfiguredTask.read(SECOND_WORKER).orElseThrow();
    assertThat(task.servers()).isEqualTo(2);
    assertThat(task.workers()).isEqualTo(2);
    LaunchEnvironment launch = task.launch(SECOND_WORKER);
    assertThat(launch.rank()).isEqualTo(3);
    assertThat(launch.size()).isEqualTo(4);
    assertThat(launch.store()).isEqualTo(new StoreLocation.ByRankZero("h0", 2222));
  }

  @Test
  void aConfiguredLauncherOrStoreHasPriority() {
    var launched = new HashMap<>(SECOND_WORKER);
    launched.putAll(Map.of("WEFT_RANK", "0", "WEFT_SIZE", "1"));
    assertThat(ConfiguredTask.read(launched)).isEmpty();
    assertThat(ConfiguredTask.read(Map.of())).isEmpty();
    ConfiguredTask task = ConfiguredTask.read(SECOND_WORKER).orElseThrow();
    assertThat(task.launch(Map.of("WEFT_STORE", "other:99", "WEFT_JOB", "mine")))
        .extracting(LaunchEnvironment::store, LaunchEnvironment::job)
        .containsExactly(new StoreLocation.ByRankZero("other", 99), Optional.of("mine"));
  }

  @Test
  void clustersThatAreNotServersAndWorkersAreRefused() {
    String worker = "\"type\": \"worker\", \"index\": 0";
    assertRefused("\"worker\": [\"h:1\"]", worker, "of job ps");
    assertRefused(
        "\"ps\": [\"h:1\"], \"worker\": {\"0\": \"h:2\", \"2\": \"h:3\"}", worker, "0 to");
    assertRefused(
        "\"ps\": [\"h:1\"], \"worker\": [\"h:2\"], \"chief\": [\"h:3\"]", worker, "only the jobs");
  }

  private static void assertRefused(String cluster, String task, String why) {
    assertThatThrownBy(() -> ConfiguredTask.read(environment(cluster, task)))
        .isInstanceOf(CommException.Setup.class)
        .hasMessageContaining("TF_CONFIG")
        .hasMessageContaining(why);
  }

  @Test
  void countsOfTheCommandLineMustEqualThoseOfTheCluster() {
    ConfiguredTask task = ConfiguredTask.read(SECOND_WORKER).orElseThrow();
    var commandLine = new TrainCommandLine(() -> Optional.of(task));
    TrainOptions options = commandLine.parse(List.of("mnist-dnn", "--via", "weft")).orElseThrow();
    assertThat(options.servers().orElseThrow().ranks()).isEqualTo(4);
    assertThat(options.task()).contains(task);
    assertThat(ServedTool.ranks(options, options.servers().orElseThrow()))
        .isEqualTo("ranks=4 reports=2 dispensable=2-3 task=3");
    assertThat(commandLine.parse(List.of("mnist-dnn")).orElseThrow().task()).isEmpty();
    assertThatThrownBy(
            () -> commandLine.parse(List.of("mnist-dnn", "--via", "weft", "--workers", "3")))
        .isInstanceOf(BadOption.class)
        .hasMessageContaining("--workers 3: expected 2, as TF_CONFIG has it");
  }
}
