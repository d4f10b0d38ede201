// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.report;

import io.weft.perf.process.PerfException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/// The output of a contestant in one round, which its measuring process prints by `RankPrinter`.
///
/// @param peer "weft", or the peer's name and version: "openmpi 4.1.4"
/// @param samples one sample per case in the order of the cases
public record RankReport(String peer, List<Sample> samples) {

  /// Copies the list.
  public RankReport {
    samples = List.copyOf(samples);
  }

  /// One case of one round.
  ///
  /// @param key name of the case, such as the size of its tensors
  /// @param checked true if every result was compared and right, null if the contestant compares
  ///   nothing
  /// @param nanos time of each iteration on its slowest rank
  /// @param numbers further figures of the case by name
  public record Sample(
      String key, @Nullable Boolean checked, List<Long> nanos, Map<String, Double> numbers) {

    /// Copies list and map.
    public Sample {
      nanos = List.copyOf(nanos);
      numbers = Map.copyOf(numbers);
    }

    /// Returns a figure. Throws `PerfException.Failed` if the contestant has not printed it.
    public double number(String name) {
      Double number = numbers.get(name);
      if (number == null) {
        throw new PerfException.Failed("a rank program printed no " + name + " of case " + key);
      }
      return number;
    }

    private Sample joined(Sample more) {
      List<Long> all = new ArrayList<>(nanos);
      all.addAll(more.nanos);
      Map<String, Double> figures = new HashMap<>(numbers);
      figures.putAll(more.numbers);
      boolean right = Boolean.TRUE.equals(checked) && Boolean.TRUE.equals(more.checked);
      return new Sample(key, right, all, figures);
    }
  }

  /// Returns this report with another name.
  public RankReport named(String name) {
    return new RankReport(name, samples);
  }

  /// Returns the sample of a case. Throws `PerfException.Failed` if it is absent.
  public Sample sample(String key) {
    return samples.stream()
        .filter(each -> each.key().equals(key))
        .findFirst()
        .orElseThrow(() -> new PerfException.Failed("a rank program printed no case " + key));
  }

  /// Parses the lines of a `RankPrinter`. Lines of one case are joined. Other lines, such as a
  /// launcher's, are skipped, as is the prefix `[RANK]` of a launched rank's line. Throws
  /// `PerfException.Failed` if the name or the end is missing.
  public static RankReport parse(List<String> lines) {
    return parse(lines, List.of());
  }

  /// Parses the lines and requires these cases in this order.
  public static RankReport parse(List<String> lines, List<String> keys) {
    String peer = "";
    boolean done = false;
    String last = "";
    Map<String, Sample> samples = new LinkedHashMap<>();
    for (String line : lines) {
      List<String> words = List.of(line.strip().replaceFirst("^\\[\\d+\\] ", "").split(" +", -1));
      switch (words.getFirst()) {
        case "peer" -> peer = String.join(" ", words.subList(1, words.size()));
        case "times" -> {
          Sample sample = times(words);
          last = sample.key();
          samples.merge(last, sample, Sample::joined);
        }
        case "figure" -> samples.put(last, withFigure(samples.get(last), words));
        case "done" -> done = true;
        default -> {}
      }
    }
    List<String> found = List.copyOf(samples.keySet());
    boolean expected = keys.isEmpty() || keys.equals(found);
    if (peer.isEmpty() || !done || !expected) {
      throw new PerfException.Failed(
          "a rank program printed %d of %d measurements and %s"
              .formatted(
                  keys.isEmpty() ? found.size() : found.stream().filter(keys::contains).count(),
                  keys.isEmpty() ? found.size() : keys.size(),
                  peer.isEmpty() ? "no name" : done ? "ended" : "did not end"));
    }
    return new RankReport(peer, List.copyOf(samples.values()));
  }

  private static Sample times(List<String> words) {
    try {
      long[] nanos = words.stream().skip(3).mapToLong(Long::parseLong).toArray();
      if (LongStream.of(nanos).allMatch(each -> each >= 0)) {
        return new Sample(
            words.get(1),
            words.get(2).equals("checked"),
            Arrays.stream(nanos).boxed().toList(),
            Map.of());
      }
    } catch (NumberFormatException | IndexOutOfBoundsException e) {
      throw new PerfException.Failed("a rank program printed a line that is not a measurement", e);
    }
    throw new PerfException.Failed("a rank program printed a negative time of " + words.get(1));
  }

  private static Sample withFigure(@Nullable Sample sample, List<String> words) {
    try {
      Sample known = Objects.requireNonNull(sample);
      Map<String, Double> figures = new HashMap<>(known.numbers());
      figures.put(words.get(1), Double.valueOf(words.get(2)));
      return new Sample(known.key(), known.checked(), known.nanos(), figures);
    } catch (NullPointerException | NumberFormatException | IndexOutOfBoundsException e) {
      throw new PerfException.Failed(
          "a rank program printed a figure before any times, or without a number", e);
    }
  }
}
