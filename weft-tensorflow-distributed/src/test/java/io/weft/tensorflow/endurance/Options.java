// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.endurance;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// The work of a run and its duration.
///
/// @param work work of every step
/// @param steps number of steps, at least 10 because memory is measured ten times
/// @param tensors number of tensors of a step of `SMALL`
/// @param bytes size of each tensor in bytes, a multiple of the size of a float
/// @param transport transport between the two processes
/// @param seed seed of the moments at which steps are cancelled
/// @param growthMebibytes limit in MiB of a process's growth between a tenth of the steps and the
///   end
/// @param limit time limit of the whole run
record Options(
    Work work,
    int steps,
    int tensors,
    int bytes,
    String transport,
    long seed,
    int growthMebibytes,
    Duration limit) {

  private static final Duration LIMIT = Duration.ofHours(4);

  /// The work of every step.
  enum Work {
    /// Transfers many small tensors.
    SMALL,
    /// Transfers a long tensor and is cancelled at a random moment.
    CANCELLED
  }

  Options {
    if (steps < 10 || tensors < 1 || bytes < Float.BYTES || bytes % Float.BYTES != 0) {
      throw new IllegalArgumentException(
          "%d steps, %d tensors of %d bytes; at least 10, 1, and whole floats"
              .formatted(steps, tensors, bytes));
    }
    if (!List.of("tcp", "shm").contains(transport)) {
      throw new IllegalArgumentException("no transport '" + transport + "'; allowed: tcp, shm");
    }
  }

  static Options usual(Work work) {
    int steps = work == Work.SMALL ? 100_000 : 10_000;
    return new Options(work, steps, 100, 256, "tcp", 20261122, 64, LIMIT);
  }

  Options steps(int count) {
    return new Options(work, count, tensors, bytes, transport, seed, growthMebibytes, limit);
  }

  Options over(String other) {
    return new Options(work, steps, tensors, bytes, other, seed, growthMebibytes, limit);
  }

  /// Parses options. Throws `IllegalArgumentException` with the fault.
  static Options parse(List<String> words) {
    if (words.isEmpty()) {
      throw new IllegalArgumentException("what is to be run?");
    }
    Options all = usual(work(words.getFirst()));
    for (int i = 1; i < words.size(); i += 2) {
      String name = words.get(i);
      if (i + 1 == words.size()) {
        throw new IllegalArgumentException(name + " needs a value");
      }
      all = all.with(name, words.get(i + 1));
    }
    return all;
  }

  private static Work work(String label) {
    return Stream.of(Work.values())
        .filter(work -> label(work).equals(label))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "no work '%s'; there is: %s"
                        .formatted(
                            label,
                            Stream.of(Work.values())
                                .map(Options::label)
                                .collect(Collectors.joining(", ")))));
  }

  private static String label(Work work) {
    return work.name().toLowerCase(Locale.ROOT);
  }

  private Options with(String name, String value) {
    return switch (name) {
      case "--steps" -> steps(number(name, value));
      case "--tensors" ->
          new Options(
              work, steps, number(name, value), bytes, transport, seed, growthMebibytes, limit);
      case "--bytes" ->
          new Options(
              work, steps, tensors, number(name, value), transport, seed, growthMebibytes, limit);
      case "--transport" -> over(value);
      case "--seed" ->
          new Options(
              work, steps, tensors, bytes, transport, number(name, value), growthMebibytes, limit);
      case "--growth" ->
          new Options(work, steps, tensors, bytes, transport, seed, number(name, value), limit);
      default -> throw new IllegalArgumentException("no option '" + name + "'");
    };
  }

  private static int number(String name, String value) {
    try {
      return Integer.parseInt(value);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(name + " is a number, not '" + value + "'", e);
    }
  }

  /// Returns the words from which a rank parses these options.
  List<String> words() {
    return List.of(
        label(work),
        "--steps",
        "" + steps,
        "--tensors",
        "" + tensors,
        "--bytes",
        "" + bytes,
        "--seed",
        "" + seed);
  }

  @Override
  public String toString() {
    return switch (work) {
      case SMALL -> "%d steps of %d x %d B over %s".formatted(steps, tensors, bytes, transport);
      case CANCELLED ->
          "%d steps, cancelled at random moments, over %s, seed %d"
              .formatted(steps, transport, seed);
    };
  }
}
