// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.kv;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/// What workers push or pull, and how often.
///
/// @param op what is timed
/// @param subject of what
/// @param window requests that a worker has under way at once
/// @param workers how many push and pull
/// @param servers how many have the values
/// @param requests that are timed; a quarter as many, at least 20, come before
public record KvPlan(Op op, Subject subject, int window, int workers, int servers, int requests) {

  /// What is timed.
  public enum Op {
    /// Values go to the servers and are added up.
    PUSH,
    /// Values come from there.
    PULL,
    /// Both in one request.
    PUSHPULL,
    /// Rows of a sparse table are pulled; their keys are others in each request.
    LOOKUP,
    /// Rows of a sparse table are pushed; their keys are others in each request.
    UPDATE;

    /// The word of the command line. Throws `IllegalArgumentException` for others.
    public static Op parse(String word) {
      for (Op each : values()) {
        if (each.word().equals(word)) {
          return each;
        }
      }
      throw new IllegalArgumentException(
          "--op: '" + word + "'; allowed: push, pull, pushpull, lookup, update");
    }

    /// The word of the command line.
    public String word() {
      return name().toLowerCase(Locale.ROOT);
    }

    /// Whether values are added to what is there.
    public boolean adds() {
      return this != PULL && this != LOOKUP;
    }
  }

  /// Of what requests are.
  public sealed interface Subject {

    /// Ascending keys, the same in each request.
    ///
    /// @param keys how many
    /// @param width floats of a key
    record Pairs(int keys, int width) implements Subject {}

    /// One dense tensor.
    ///
    /// @param elements floats
    record Tensor(long elements) implements Subject {}

    /// Rows of a sparse table by keys of which few come often.
    ///
    /// @param keys of a request, some several times
    /// @param width floats of a row
    /// @param rows of the table
    /// @param zipf exponent of the keys' distribution
    /// @param memoryBytes of a server's rows in memory; the others are on its disk; 0 = none are
    record Rows(int keys, int width, int rows, double zipf, long memoryBytes) implements Subject {}

    /// Keys of a request.
    default int count() {
      return switch (this) {
        case Pairs pairs -> pairs.keys();
        case Tensor _ -> 1;
        case Rows rows -> rows.keys();
      };
    }

    /// Floats of a key.
    default long floats() {
      return switch (this) {
        case Pairs pairs -> pairs.width();
        case Tensor tensor -> tensor.elements();
        case Rows rows -> rows.width();
      };
    }
  }

  /// Bytes of the values of a request.
  public long bytes() {
    return 4L * subject.count() * subject.floats();
  }

  /// Requests that are not timed.
  public int warmUp() {
    return Math.max(20, requests / 4);
  }

  /// For `parse`.
  public List<String> words() {
    List<String> words = new ArrayList<>();
    words.add(op.word());
    for (int each : new int[] {window, workers, servers, requests}) {
      words.add(String.valueOf(each));
    }
    switch (subject) {
      case Subject.Pairs(int keys, int width) ->
          words.addAll(List.of("pairs", "" + keys, "" + width));
      case Subject.Tensor(long elements) -> words.addAll(List.of("tensor", "" + elements));
      case Subject.Rows(int keys, int width, int rows, double zipf, long memoryBytes) ->
          words.addAll(
              List.of("rows", "" + keys, "" + width, "" + rows, "" + zipf, "" + memoryBytes));
    }
    return List.copyOf(words);
  }

  /// What `words` gave.
  public static KvPlan parse(List<String> words) {
    if (words.size() < 7) {
      throw new IllegalArgumentException("a plan of " + words.size() + " words");
    }
    int[] numbers = words.stream().skip(1).limit(4).mapToInt(Integer::parseInt).toArray();
    List<String> rest = words.subList(6, words.size());
    Subject subject =
        switch (words.get(5)) {
          case "pairs" ->
              new Subject.Pairs(Integer.parseInt(rest.get(0)), Integer.parseInt(rest.get(1)));
          case "tensor" -> new Subject.Tensor(Long.parseLong(rest.getFirst()));
          case "rows" ->
              new Subject.Rows(
                  Integer.parseInt(rest.get(0)),
                  Integer.parseInt(rest.get(1)),
                  Integer.parseInt(rest.get(2)),
                  Double.parseDouble(rest.get(3)),
                  Long.parseLong(rest.get(4)));
          default -> throw new IllegalArgumentException("a plan of " + words.get(5));
        };
    return new KvPlan(
        Op.parse(words.getFirst()), subject, numbers[0], numbers[1], numbers[2], numbers[3]);
  }
}
