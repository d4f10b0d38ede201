// SPDX-License-Identifier: Apache-2.0
package io.weft.perf;

import io.weft.perf.process.PerfException;
import java.util.ArrayList;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// What rank 0 of a contestant printed in one round.
///
/// @param peer "weft", or the peer's name and version: "openmpi 4.1.4"
/// @param samples one per case, in the plan's order
record RankReport(String peer, List<Sample> samples) {

  RankReport {
    samples = List.copyOf(samples);
  }

  /// The same by another name.
  RankReport named(String name) {
    return new RankReport(name, samples);
  }

  /// One case of one round.
  ///
  /// @param bytes size of the tensor
  /// @param checked whether every result of every rank was compared and right; null where the
  ///   contestant compares nothing
  /// @param latencies of the slowest rank of each iteration
  /// @param requests that one iteration took; null where that is not told
  /// @param registered with a device during all iterations; null where that is not told
  record Sample(
      long bytes,
      @Nullable Boolean checked,
      Latencies latencies,
      @Nullable Double requests,
      @Nullable Registered registered) {

    /// Without requests.
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

  /// What the measuring rank's transport has told of registering memory with a device.
  ///
  /// @param calls that registered
  /// @param bytes that they registered
  /// @param micros that they took, and those that ended registrations
  record Registered(long calls, long bytes, double micros) {}

  /// Reads the lines `peer NAME VERSION`, `times BYTES checked|wrong NANOS...`, behind it `requests
  /// NUMBER` or `registered CALLS BYTES NANOS` where a contestant knows it, and `done`; other lines
  /// (a launcher's) are passed over. Throws `PerfException.Failed` if they do not fit the plan.
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
                  peer.isEmpty() ? "not who it is" : done ? "ended" : "did not end"));
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
          "a rank program printed " + words[0] + " of nothing, or without numbers", e);
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
        throw new PerfException.Failed("a rank program printed a line that is no measurement", e);
      }
    }
    throw new PerfException.Failed(
        "a rank program printed a measurement that was not asked for: "
            + String.join(" ", List.of(words).subList(0, Math.min(words.length, 3))));
  }
}
