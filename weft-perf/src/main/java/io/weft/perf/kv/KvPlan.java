// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.kv;

import java.util.List;
import java.util.Locale;

/// What workers push or pull, and how often.
///
/// @param op what is timed
/// @param keys of each request, ascending
/// @param width floats of a key
/// @param window requests that a worker has under way at once
/// @param workers how many push and pull
/// @param servers how many have the keys
/// @param requests that are timed; a quarter as many, at least 20, come before
public record KvPlan(
    Op op, int keys, int width, int window, int workers, int servers, int requests) {

  /// What is timed.
  public enum Op {
    /// Values go to the servers and are added up.
    PUSH,
    /// Values come from there.
    PULL,
    /// Both in one request.
    PUSHPULL;

    /// The word of the command line. Throws `IllegalArgumentException` for others.
    public static Op parse(String word) {
      return switch (word) {
        case "push" -> PUSH;
        case "pull" -> PULL;
        case "pushpull" -> PUSHPULL;
        default ->
            throw new IllegalArgumentException(
                "--op: '" + word + "'; allowed: push, pull, pushpull");
      };
    }

    /// The word of the command line.
    public String word() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /// Bytes of the values of a request.
  public long bytes() {
    return 4L * keys * width;
  }

  /// Requests that are not timed.
  int warmUp() {
    return Math.max(20, requests / 4);
  }

  /// For `parse`.
  public List<String> words() {
    return List.of(
        op.word(),
        String.valueOf(keys),
        String.valueOf(width),
        String.valueOf(window),
        String.valueOf(workers),
        String.valueOf(servers),
        String.valueOf(requests));
  }

  /// What `words` gave.
  static KvPlan parse(List<String> words) {
    if (words.size() != 7) {
      throw new IllegalArgumentException("a plan of " + words.size() + " words, expected 7");
    }
    int[] numbers = words.stream().skip(1).mapToInt(Integer::parseInt).toArray();
    return new KvPlan(
        Op.parse(words.getFirst()),
        numbers[0],
        numbers[1],
        numbers[2],
        numbers[3],
        numbers[4],
        numbers[5]);
  }
}
