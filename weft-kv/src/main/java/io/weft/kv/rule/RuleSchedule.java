// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.rule;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/// The update rule of a table in each of its steps: the registered rule, and later values of its
/// parameters. A push of a step is applied with all changes of that step and of earlier ones. Equal
/// changes in equal order yield equal rules. Confined to one thread.
public final class RuleSchedule {

  /// The number of steps for which a change remains separate from earlier ones. A push that is
  /// later than that may be applied with a later rule.
  static final long KEPT_STEPS = 4096;

  /// The maximum number of changes that are separate.
  static final int MOST = 8192;

  private final String text;
  private final UpdateRule first;
  private final List<Entry> entries = new ArrayList<>();

  /// A change of parameters.
  ///
  /// @param from first step with these values
  /// @param parameters such as `lr=0.01,clip=1`
  public record Change(long from, String parameters) {

    /// Throws `IllegalArgumentException` for a negative step.
    public Change {
      Objects.requireNonNull(parameters, "parameters");
      if (from < 0) {
        throw new IllegalArgumentException("a change of step " + from);
      }
    }

    /// Returns the change as one line.
    public String text() {
      return from + " " + parameters;
    }

    /// Parses a line of `text`. Throws `IllegalArgumentException` if it is invalid.
    public static Change parse(String line) {
      int space = line.indexOf(' ');
      try {
        return new Change(
            Long.parseLong(line.substring(0, Math.max(0, space))), line.substring(space + 1));
      } catch (NumberFormatException wrong) {
        throw new IllegalArgumentException(
            "a change of a rule is 'step parameters', got '" + line + "'", wrong);
      }
    }
  }

  /// A change with the rule that results from it and all earlier ones.
  private record Entry(Change change, String text, UpdateRule rule) {}

  /// Creates the schedule of a registered rule. Throws `IllegalArgumentException` if it is invalid.
  public RuleSchedule(String text) {
    this.text = Objects.requireNonNull(text, "text");
    this.first = UpdateRules.parse(text);
  }

  /// Returns the rule of a step.
  ///
  /// Hot path.
  public UpdateRule at(long step) {
    int low = 0;
    int high = entries.size();
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (entries.get(middle).change.from <= step) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low == 0 ? first : entries.get(low - 1).rule;
  }

  /// Adds a change. Of two changes of one step, the later one counts for the parameters of both.
  /// Throws `IllegalArgumentException`, without effect, if a rule would be invalid.
  ///
  /// @param now the step of the worker that changes the rule
  public void add(Change change, long now) {
    int at = 0;
    while (at < entries.size() && entries.get(at).change.from < change.from) {
      at++;
    }
    List<Entry> next = new ArrayList<>(entries.subList(0, at));
    boolean again = at < entries.size() && entries.get(at).change.from == change.from;
    append(next, again ? merged(entries.get(at).change, change) : change);
    for (Entry each : entries.subList(again ? at + 1 : at, entries.size())) {
      append(next, each.change);
    }
    while (next.size() > 1 && next.get(1).change.from <= now - KEPT_STEPS) {
      Entry earliest = next.removeFirst();
      Entry both = next.getFirst();
      next.set(0, new Entry(merged(earliest.change, both.change), both.text, both.rule));
    }
    if (next.size() > MOST) {
      throw new IllegalArgumentException(
          "%d changes of update rule '%s' from step %d on; at most %d"
              .formatted(next.size(), text, next.getFirst().change.from, MOST));
    }
    entries.clear();
    entries.addAll(next);
  }

  private void append(List<Entry> to, Change change) {
    String before = to.isEmpty() ? text : to.getLast().text;
    String after = UpdateRules.changed(before, change.parameters);
    to.add(new Entry(change, after, UpdateRules.parse(after)));
  }

  /// Returns a change at the step of `later` with the parameters of both.
  private static Change merged(Change earlier, Change later) {
    String all = new RuleParameters("change", ":" + earlier.parameters).with(later.parameters);
    return new Change(later.from, all.substring(1));
  }

  /// Returns the changes, by step.
  public List<Change> changes() {
    return entries.stream().map(Entry::change).toList();
  }

  /// Returns the changes as a table needs them whose steps begin again at 0 in this step.
  public List<Change> changesFrom(long step) {
    var moved = new RuleSchedule(text);
    for (Change each : changes()) {
      moved.add(new Change(Math.max(0, each.from - step), each.parameters), 0);
    }
    return moved.changes();
  }
}
