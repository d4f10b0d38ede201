// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.kv;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/// The plan of the workers' requests.
///
/// @param op the timed operation
/// @param subject the keys or the tensor
/// @param window requests that a worker keeps in flight
/// @param workers number of workers
/// @param servers number of servers
/// @param serverThreads number of each server's threads, each with a lane of connections
/// @param requests number of timed requests; a quarter of it, at least 20, precede as a warm-up
public record KvPlan(
    Op op, Subject subject, int window, int workers, int servers, int serverThreads, int requests) {

  /// The key of the only case in a report.
  public static final String CASE = "values";

  /// The timed operation.
  public enum Op {
    /// A push, whose values the servers add to theirs.
    PUSH,
    /// A pull.
    PULL,
    /// A push and a pull in one request.
    PUSHPULL,
    /// A pull of rows of a sparse table, with other keys in each request.
    LOOKUP,
    /// A push of rows of a sparse table, with other keys in each request.
    UPDATE;

    /// Returns the operation named on the command line. Throws `IllegalArgumentException` for an
    /// unknown name.
    public static Op parse(String word) {
      for (Op each : values()) {
        if (each.word().equals(word)) {
          return each;
        }
      }
      throw new IllegalArgumentException(
          "--op: '" + word + "'; allowed: push, pull, pushpull, lookup, update");
    }

    /// Returns the name on the command line.
    public String word() {
      return name().toLowerCase(Locale.ROOT);
    }

    /// Returns whether the operation adds values to those on the servers.
    public boolean adds() {
      return this != PULL && this != LOOKUP;
    }
  }

  /// The subject of the requests.
  public sealed interface Subject {

    /// Ascending keys, equal in each request.
    ///
    /// @param keys number of keys
    /// @param width floats of a key
    record Pairs(int keys, int width) implements Subject {}

    /// One dense tensor.
    ///
    /// @param elements number of floats
    record Tensor(long elements) implements Subject {}

    /// Rows of a sparse table by keys with a Zipf distribution.
    ///
    /// @param keys keys of a request, which may repeat
    /// @param width floats of a row
    /// @param rows rows of the table
    /// @param zipf exponent of the distribution
    /// @param memoryBytes size of a shard's rows in memory, beyond which rows lie on its disk; 0
    ///   means that none do
    record Rows(int keys, int width, int rows, double zipf, long memoryBytes) implements Subject {}

    /// Returns the number of keys of a request.
    default int count() {
      return switch (this) {
        case Pairs pairs -> pairs.keys();
        case Tensor _ -> 1;
        case Rows rows -> rows.keys();
      };
    }

    /// Returns the number of floats of a key.
    default long floats() {
      return switch (this) {
        case Pairs pairs -> pairs.width();
        case Tensor tensor -> tensor.elements();
        case Rows rows -> rows.width();
      };
    }
  }

  /// Returns the size of a request's values in bytes.
  public long bytes() {
    return 4L * subject.count() * subject.floats();
  }

  /// Returns the number of untimed requests.
  public int warmUp() {
    return Math.max(20, requests / 4);
  }

  /// Returns the plan as arguments for `parse`.
  public List<String> words() {
    List<String> words = new ArrayList<>();
    words.add(op.word());
    for (int each : new int[] {window, workers, servers, serverThreads, requests}) {
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

  /// Parses the arguments that `words` returns.
  public static KvPlan parse(List<String> words) {
    if (words.size() < 8) {
      throw new IllegalArgumentException("a plan of " + words.size() + " words");
    }
    int[] numbers = words.stream().skip(1).limit(5).mapToInt(Integer::parseInt).toArray();
    List<String> rest = words.subList(7, words.size());
    Subject subject =
        switch (words.get(6)) {
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
          default -> throw new IllegalArgumentException("a plan of " + words.get(6));
        };
    return new KvPlan(
        Op.parse(words.getFirst()),
        subject,
        numbers[0],
        numbers[1],
        numbers[2],
        numbers[3],
        numbers[4]);
  }
}
