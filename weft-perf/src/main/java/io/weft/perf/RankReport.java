// SPDX-License-Identifier: Apache-2.0
package io.weft.perf;

import io.weft.perf.process.PerfException;
import java.util.ArrayList;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The output of a contestant's rank 0 in one round.
///
/// @param peer "weft", or the peer's name and version: "openmpi 4.1.4"
/// @param samples one sample per case in the plan's order
record RankReport(String peer, List<Sample> samples) {

  RankReport {
    samples = List.copyOf(samples);
  }

  /// Returns this report with another name.
  RankReport named(String name) {
    return new RankReport(name, samples);
  }

  /// One case of one round.
  ///
  /// @param bytes size of the tensor
  /// @param checked true if every result of every rank was compared and right, null if the
  ///   contestant compares nothing
  /// @param latencies latencies of the slowest rank of each iteration
  /// @param requests number of requests of one iteration, null if unknown
  /// @param registered memory registered with a device during all iterations, null if unknown
  record Sample(
      long bytes,
      @Nullable Boolean checked,
      Latencies latencies,
      @Nullable Double requests,
      @Nullable Registered registered) {

    /// Creates a sample without requests and registered memory.
    Sample(long bytes, @Nullable Boolean checked, Latencies latencies) {
      this(bytes, checked, latencies, null, null);
    }

    private Sample withRequests(double number) {
      return new Sample(bytes, checked, latencies, number, registered);
    }

    private Sample withRegistered(Registered told) {
      return new Sample(bytes, checked, latencies, requests, told);
    }
  }

  /// The registrations of memory with a device that the measuring rank's transport has counted.
  ///
  /// @param calls number of registrations
  /// @param bytes number of registered bytes
  /// @param micros time of beginning and ending registrations
  record Registered(long calls, long bytes, double micros) {}

  /// Reads the lines `peer NAME VERSION`, `times BYTES checked|wrong NANOS...` and `done`. A
  /// contestant may print `requests NUMBER` or `registered CALLS BYTES NANOS` after a line of
  /// times. Other lines, such as a launcher's, are skipped. Throws `PerfException.Failed` if they
  /// do not match the plan.
  static RankReport parse(List<String> lines, MeasuringPlan plan) {
    String peer = "";
    boolean done = false;
    List<Sample> samples = new ArrayList<>();
    for (String line : lines) {
      String[] words = line.strip().split(" +");
      switch (words[0]) {
        case "peer" -> peer = String.join(" ", List.of(words).subList(1, words.length));
        case "times" -> samples.add(sample(words, plan, samples.size()));
        case "requests", "registered" -> addToLast(words, samples);
        case "done" -> done = true;
        default -> {}
      }
    }
    if (peer.isEmpty() || !done || samples.size() != plan.cases().size()) {
      throw new PerfException.Failed(
          "a rank program printed %d of %d measurements and %s"
              .formatted(
                  samples.size(),
                  plan.cases().size(),
                  peer.isEmpty() ? "no name" : done ? "ended" : "did not end"));
    }
    return new RankReport(peer, samples);
  }

  private static void addToLast(String[] words, List<Sample> samples) {
    try {
      Sample last = samples.removeLast();
      samples.add(
          words[0].equals("requests")
              ? last.withRequests(Double.parseDouble(words[1]))
              : last.withRegistered(
                  new Registered(
                      Long.parseLong(words[1]),
                      Long.parseLong(words[2]),
                      Long.parseLong(words[3]) / 1e3)));
    } catch (NumberFormatException | IndexOutOfBoundsException | NoSuchElementException e) {
      throw new PerfException.Failed(
          "a rank program printed " + words[0] + " before any times, or without numbers", e);
    }
  }

  private static Sample sample(String[] words, MeasuringPlan plan, int index) {
    if (index < plan.cases().size()) {
      MeasuringPlan.PlannedCase expected = plan.cases().get(index);
      try {
        long[] nanos = Stream.of(words).skip(3).mapToLong(Long::parseLong).toArray();
        if (Long.parseLong(words[1]) == expected.bytes()
            && nanos.length == expected.iterations()
            && LongStream.of(nanos).allMatch(n -> n >= 0)) {
          return new Sample(
              expected.bytes(),
              words[2].equals("checked"),
              Latencies.of(nanos, plan.benchmark().callsPerIteration()));
        }
      } catch (NumberFormatException | ArrayIndexOutOfBoundsException e) {
        throw new PerfException.Failed(
            "a rank program printed a line that is not a measurement", e);
      }
    }
    throw new PerfException.Failed(
        "a rank program printed a measurement that the plan does not have: "
            + String.join(" ", List.of(words).subList(0, Math.min(words.length, 3))));
  }
}
