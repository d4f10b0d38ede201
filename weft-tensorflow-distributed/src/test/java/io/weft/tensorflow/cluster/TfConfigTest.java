// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.comm.CommException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TfConfigTest {

  private static final String CLUSTER =
      "\"cluster\": {\"worker\": [\"h1:2222\", \"[::1]:2222\"], \"ps\": [\"h0:2222\"]}";

  @Test
  void clusterAndTaskAreRead() {
    TfConfig config =
        TfConfig.parse("{" + CLUSTER + ", \"task\": {\"type\": \"worker\", \"index\": 1}}");
    assertThat(config.task()).isEqualTo(new Task("worker", 1));
    assertThat(config.cluster())
        .isEqualTo(
            ClusterSpec.of(
                Map.of("ps", List.of("h0:2222"), "worker", List.of("h1:2222", "[::1]:2222"))));
    assertThat(config.cluster().address(new Task("worker", 1))).isEqualTo("[::1]:2222");
    assertThat(config.cluster())
        .hasToString("/job:ps/task:0, /job:worker/task:0, /job:worker/task:1");
  }

  @Test
  void jobMayHaveGapsAndTheIndexMayBeAString() {
    TfConfig config =
        TfConfig.parse(
            """
            {"cluster": {"ps": {"3": "a:1", "10": "b:1"}}, "environment": "cloud",
             "task": {"type": "ps", "index": "10"}}\
            """);
    assertThat(config.cluster().tasks("ps")).containsExactly(new Task("ps", 3), new Task("ps", 10));
    assertThat(config.cluster().tasks("worker")).isEmpty();
    assertThat(config.task()).isEqualTo(new Task("ps", 10));
  }

  @Test
  void unsetOrBlankVariableGivesNoCluster() {
    assertThat(TfConfig.read(Map.of())).isEmpty();
    assertThat(TfConfig.read(Map.of("TF_CONFIG", " "))).isEmpty();
    assertThat(
            TfConfig.read(
                Map.of("TF_CONFIG", "{" + CLUSTER + ",\"task\":{\"type\":\"ps\",\"index\":0}}")))
        .map(TfConfig::task)
        .hasValue(new Task("ps", 0));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{ | is not JSON",
        "[] | must be an object with the fields cluster and task",
        "{} | cluster must be an object",
        "{'cluster': {}} | a cluster without tasks",
        "{'cluster': {'ps': 'a:1'}} | cluster.ps must be an array of addresses",
        "{'cluster': {'ps': [7]}} | cluster.ps holds 7; an address is a string, HOST:PORT",
        "{'cluster': {'p s': ['a:1']}} | job name 'p s'",
        "{'cluster': {'ps': ['a']}} | address of task /job:ps/task:0 is 'a'",
        "{'cluster': {'ps': ['a:0']}} | must be HOST:PORT",
        "{'cluster': {'ps': ['a:65536']}} | must be HOST:PORT",
        "{'cluster': {'ps': ['::1:5']}} | must be HOST:PORT",
        "{'cluster': {'ps': ['a:1', 'a:1']}} | tasks /job:ps/task:0 and /job:ps/task:1 are both at",
        "{'cluster': {'ps': {'x': 'a:1'}}} | task index 'x' is not a number",
        "{'cluster': {'ps': ['a:1']}} | task must be an object with type, a job's name, and index",
        "{'cluster': {'ps': ['a:1']}, 'task': {'type': 'ps'}} | it is {\"type\":\"ps\"}",
        "{'cluster': {'ps': ['a:1']}, 'task': {'type': 'ps', 'index': -1}} | task index '-1'",
        "{'cluster': {'ps': ['a:1']}, 'task': {'type': 'ps', 'index': 1}} | task /job:ps/task:1 is "
            + "not in the cluster, which has /job:ps/task:0"
      })
  void wrongValueIsNamed(String json, String message) {
    String value = json.trim().replace('\'', '"');
    assertThatThrownBy(() -> TfConfig.parse(value))
        .isInstanceOf(CommException.Setup.class)
        .hasMessageStartingWith("TF_CONFIG: ")
        .hasMessageContaining(message.trim());
  }

  @Test
  void unknownTaskIsNamedWithTheTasksOfTheCluster() {
    ClusterSpec cluster = ClusterSpec.of(Map.of("ps", List.of("a:1")));
    assertThatThrownBy(() -> cluster.address(new Task("chief", 0)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("task /job:chief/task:0 is not in the cluster, which has /job:ps/task:0");
  }
}
