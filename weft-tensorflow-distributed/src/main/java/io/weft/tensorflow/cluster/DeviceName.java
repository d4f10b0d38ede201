// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.cluster;

import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The name of a device, or a partial name, which matches every device with these parts:
/// `/job:ps/replica:0/task:1/device:CPU:0`, `/job:ps`, `/device:GPU:*`, and the older `/cpu:0`. An
/// empty part is unspecified.
///
/// @param job such as "ps"
/// @param replica 0 in all current clusters
/// @param task index in the job
/// @param type in capitals: "CPU", "GPU"
/// @param index number among the task's devices of the type
public record DeviceName(
    Optional<String> job,
    OptionalInt replica,
    OptionalInt task,
    Optional<String> type,
    OptionalInt index) {

  /// The name without any part.
  public static final DeviceName ANY =
      new DeviceName(
          Optional.empty(),
          OptionalInt.empty(),
          OptionalInt.empty(),
          Optional.empty(),
          OptionalInt.empty());

  private static final Pattern PART =
      Pattern.compile(
          "/(?:job:(?<job>\\*|[a-zA-Z][_a-zA-Z0-9]*)"
              + "|replica:(?<replica>\\*|[0-9]{1,9})"
              + "|task:(?<task>\\*|[0-9]{1,9})"
              + "|device:(?<type>\\*|[a-zA-Z][_a-zA-Z0-9]*)(?::(?<index>\\*|[0-9]{1,9}))?"
              + "|(?<old>[cC][pP][uU]|[gG][pP][uU]):(?<number>\\*|[0-9]{1,9}))");

  /// Parses a name. "" leaves all parts unspecified, and `*` leaves its part unspecified. Throws
  /// `IllegalArgumentException`, which contains the name and the position of the first invalid
  /// part.
  public static DeviceName parse(String name) {
    DeviceName all = ANY;
    Matcher part = PART.matcher(name);
    int at = 0;
    while (at < name.length() && !name.equals("/")) {
      if (!part.region(at, name.length()).lookingAt() || !endsPart(name, part.end())) {
        throw new IllegalArgumentException(
            "device name '%s' is wrong from '%s' on; write it as /job:ps/task:1/device:CPU:0"
                .formatted(name, name.substring(at)));
      }
      DeviceName next = of(part);
      if (all.says(next)) {
        throw new IllegalArgumentException(
            "device name '%s' repeats the part '%s'".formatted(name, part.group()));
      }
      all = next.within(all);
      at = part.end();
    }
    return all;
  }

  /// Returns this name with unspecified parts taken from `outer`. TensorFlow merges the name of a
  /// node or an inner scope into that of an outer scope in this way.
  public DeviceName within(DeviceName outer) {
    return new DeviceName(
        job.or(outer::job),
        replica.isPresent() ? replica : outer.replica,
        task.isPresent() ? task : outer.task,
        type.or(outer::type),
        index.isPresent() ? index : outer.index);
  }

  /// Returns the name of a device within a task, without job, replica and task.
  public DeviceName local() {
    return new DeviceName(Optional.empty(), OptionalInt.empty(), OptionalInt.empty(), type, index);
  }

  /// Returns whether the name specifies a job or a task.
  public boolean namesTask() {
    return job.isPresent() || task.isPresent();
  }

  /// Returns this name with job, replica and task of `place`.
  public DeviceName on(Task place) {
    return new DeviceName(
        Optional.of(place.job()), OptionalInt.of(0), OptionalInt.of(place.index()), type, index);
  }

  /// Returns the name in TensorFlow's format, or "" if no part is specified.
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    job.ifPresent(name -> text.append("/job:").append(name));
    replica.ifPresent(number -> text.append("/replica:").append(number));
    task.ifPresent(number -> text.append("/task:").append(number));
    if (type.isPresent() || index.isPresent()) {
      text.append("/device:").append(type.orElse("*")).append(':');
      text.append(index.isPresent() ? String.valueOf(index.getAsInt()) : "*");
    }
    return text.toString();
  }

  private static boolean endsPart(String name, int end) {
    return end == name.length() || name.charAt(end) == '/';
  }

  private static DeviceName of(Matcher part) {
    String type = part.group("type");
    String old = part.group("old");
    return new DeviceName(
        text(part.group("job")),
        number(part.group("replica")),
        number(part.group("task")),
        text(type == null ? old : type).map(name -> name.toUpperCase(Locale.ROOT)),
        number(old == null ? part.group("index") : part.group("number")));
  }

  private static Optional<String> text(String group) {
    return Optional.ofNullable(group).filter(name -> !name.equals("*"));
  }

  private static OptionalInt number(String group) {
    return group == null || group.equals("*")
        ? OptionalInt.empty()
        : OptionalInt.of(Integer.parseInt(group));
  }

  private boolean says(DeviceName part) {
    return (job.isPresent() && part.job.isPresent())
        || (replica.isPresent() && part.replica.isPresent())
        || (task.isPresent() && part.task.isPresent())
        || (type.isPresent() && part.type.isPresent());
  }
}
