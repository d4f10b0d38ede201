// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.cluster;

import io.weft.comm.CommException;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// The content of the variable `TF_CONFIG`: the cluster, and this process's task.
///
/// ```json
/// {"cluster": {"ps": ["h0:2222"], "worker": ["h1:2222", "h2:2222"]},
///  "task": {"type": "worker", "index": 1}}
/// ```
///
/// A job may also be an object from index to address, if indices are missing. Other fields are
/// ignored.
///
/// @param cluster all tasks
/// @param task this process
public record TfConfig(ClusterSpec cluster, Task task) {

  /// The name of the variable.
  public static final String VARIABLE = "TF_CONFIG";

  /// The maximum length of the value; an address has about twenty bytes.
  private static final int MOST_CHARACTERS = 16 << 20;

  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  /// Throws `CommException.Setup` if the task is not in the cluster.
  public TfConfig {
    if (!cluster.contains(task)) {
      throw refused("task %s is not in the cluster, which has %s".formatted(task, cluster), null);
    }
  }

  /// Reads the environment's value, if it is set and not blank. Throws like `parse`.
  public static Optional<TfConfig> read(Map<String, String> environment) {
    String value = environment.getOrDefault(VARIABLE, "");
    return value.isBlank() ? Optional.empty() : Optional.of(parse(value));
  }

  /// Parses the variable's value. Throws `CommException.Setup`, which names the missing or invalid
  /// field and its expected form.
  public static TfConfig parse(String json) {
    if (json.length() > MOST_CHARACTERS) {
      throw refused("has " + json.length() + " characters, more than " + MOST_CHARACTERS, null);
    }
    try {
      JsonNode all = MAPPER.readTree(json);
      if (!all.isObject()) {
        throw refused("must be an object with the fields cluster and task", null);
      }
      return new TfConfig(new ClusterSpec(addresses(all.path("cluster"))), task(all.path("task")));
    } catch (JacksonException e) {
      throw refused("is not JSON: " + e.getOriginalMessage(), e);
    } catch (IllegalArgumentException e) {
      throw refused(String.valueOf(e.getMessage()), e);
    }
  }

  private static SortedMap<Task, String> addresses(JsonNode cluster) {
    if (!cluster.isObject()) {
      throw new IllegalArgumentException("cluster must be an object from job to addresses");
    }
    SortedMap<Task, String> addresses = new TreeMap<>();
    cluster.forEachEntry(
        (job, tasks) -> {
          if (tasks.isArray()) {
            int[] index = {0};
            tasks.forEach(
                address -> addresses.put(new Task(job, index[0]++), address(job, address)));
          } else if (tasks.isObject()) {
            tasks.forEachEntry(
                (index, address) ->
                    addresses.put(new Task(job, index(index)), address(job, address)));
          } else {
            throw new IllegalArgumentException(
                "cluster." + job + " must be an array of addresses, or an object by index");
          }
        });
    return addresses;
  }

  private static String address(String job, JsonNode address) {
    if (!address.isString()) {
      throw new IllegalArgumentException(
          "cluster." + job + " holds " + address + "; an address is a string, HOST:PORT");
    }
    return address.stringValue();
  }

  private static Task task(JsonNode task) {
    JsonNode type = task.path("type");
    JsonNode index = task.path("index");
    if (!type.isString() || !(index.isIntegralNumber() || index.isString())) {
      throw new IllegalArgumentException(
          "task must be an object with type, a job's name, and index, a number; it is "
              + (task.isMissingNode() ? "missing" : task.toString()));
    }
    return new Task(type.stringValue(), index(index.asString()));
  }

  private static int index(String text) {
    if (!text.matches("[0-9]{1,9}")) {
      throw new IllegalArgumentException("task index '" + text + "' is not a number from 0 on");
    }
    return Integer.parseInt(text);
  }

  private static CommException.Setup refused(String what, @Nullable Throwable cause) {
    return new CommException.Setup(VARIABLE + ": " + what, cause);
  }
}
