// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.torture;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/// Repeats an ordeal, and prints a line for each repetition and the totals.
public final class Torture {

  private static final String USAGE =
      """
      Usage: torture [--harm kill|stop|cut|partition]... [--times N] [--seed S] [-np N] [--json FILE]
                     [--spread SECONDS] [--limit SECONDS] [--silence SECONDS] [--directory DIR]
                     [--working TEXT] [-- COMMAND...]
      Starts a job, harms it, and judges how it ends; N times for each kind of harm, in turn.
        --times N          repetitions of each kind (default 1)
        --seed S           of the first repetition; those after it count on (default 1)
        -np N              ranks (default 4)
        --json FILE        write one JSON object for each repetition, a line each
        --spread SECONDS   the harm comes at most so long after the job could be harmed (default 6)
        --limit SECONDS    survivors of kill and cut must have ended by then (default 5)
        --silence SECONDS  those of stop and partition (default 8)
        --directory DIR    files of repetitions that failed stay there (default: a temporary one)
        --working TEXT     what a rank prints when it has begun to work
        COMMAND            the launcher and its subcommand, '--', the program
      """;

  private Torture() {}

  /// Exit code 0 = all was as it must be, 1 = not, 2 = wrong usage.
  public static void main(String[] arguments) throws IOException, InterruptedException {
    Arguments given;
    try {
      given = Arguments.parse(List.of(arguments));
    } catch (IllegalArgumentException wrong) {
      System.err.println("torture: " + wrong.getMessage());
      System.err.print(USAGE);
      System.exit(2);
      return;
    }
    Map<Harm, List<Outcome>> outcomes = new TreeMap<>();
    for (int time = 0; time < given.times(); time++) {
      for (Harm harm : given.harms()) {
        Outcome outcome = once(given.ordeal(), harm, given.seed() + time);
        System.out.println(outcome);
        outcomes.computeIfAbsent(harm, kind -> new ArrayList<>()).add(outcome);
        if (given.json() != null) {
          write(given.json(), outcomes);
        }
      }
    }
    outcomes.forEach((harm, all) -> System.out.println(total(harm, all)));
    System.exit(outcomes.values().stream().flatMap(List::stream).allMatch(Outcome::good) ? 0 : 1);
  }

  /// One repetition.
  public static Outcome once(Ordeal ordeal, Harm harm, long seed)
      throws IOException, InterruptedException {
    return new Repetition(ordeal, harm, seed).run();
  }

  private static String total(Harm harm, List<Outcome> all) {
    return String.format(
        Locale.ROOT,
        "%-9s %d of %d ok; survivors ended after p50 %.2f s, max %.2f s; jobs after p50 %.2f s, max"
            + " %.2f s",
        harm.word(),
        all.stream().filter(Outcome::good).count(),
        all.size(),
        part(all, 0.5, o -> millis(o.survivorSeconds())),
        part(all, 1, o -> millis(o.survivorSeconds())),
        part(all, 0.5, o -> millis(o.jobSeconds())),
        part(all, 1, o -> millis(o.jobSeconds())));
  }

  private static long millis(double seconds) {
    return Math.round(seconds * 1000);
  }

  private static double part(List<Outcome> all, double part, ToLongFunction<Outcome> millis) {
    long[] sorted = all.stream().mapToLong(millis).sorted().toArray();
    int at = (int) Math.ceil(part * sorted.length) - 1;
    return sorted[Math.max(0, at)] / 1000.0;
  }

  private static void write(Path file, Map<Harm, List<Outcome>> outcomes) throws IOException {
    List<String> lines =
        outcomes.values().stream().flatMap(List::stream).map(Outcome::json).toList();
    Files.write(file, lines);
  }

  /// What the command line says.
  private record Arguments(
      Ordeal ordeal, List<Harm> harms, int times, long seed, @Nullable Path json) {

    static Arguments parse(List<String> words) throws IOException {
      List<Harm> harms = new ArrayList<>();
      Map<String, String> said = new TreeMap<>();
      int at = 0;
      while (at < words.size() && !words.get(at).equals("--")) {
        String option = words.get(at);
        if (!USAGE.contains(option + " ") || !option.startsWith("-") || at + 1 == words.size()) {
          throw new IllegalArgumentException("'" + option + "' is no option, or lacks its value");
        }
        String value = words.get(at + 1);
        if (option.equals("--harm")) {
          harms.add(
              Arrays.stream(Harm.values())
                  .filter(harm -> harm.word().equals(value))
                  .findFirst()
                  .orElseThrow(() -> new IllegalArgumentException("no harm '" + value + "'")));
        } else {
          said.put(option, value);
        }
        at += 2;
      }
      List<String> command = words.subList(Math.min(at + 1, words.size()), words.size());
      int dashes = command.indexOf("--");
      if (dashes < 1) {
        throw new IllegalArgumentException("no command: LAUNCHER SUBCOMMAND -- PROGRAM...");
      }
      Path directory =
          said.containsKey("--directory")
              ? Path.of(said.get("--directory"))
              : Files.createTempDirectory("weft-torture-");
      Ordeal ordeal =
          new Ordeal(
              command.subList(0, dashes),
              command.subList(dashes + 1, command.size()),
              number(said, "-np", 4),
              said.getOrDefault("--working", "^training on|^working"),
              Duration.ofSeconds(number(said, "--spread", 6)),
              Duration.ofSeconds(number(said, "--limit", 5)),
              Duration.ofSeconds(number(said, "--silence", 8)),
              directory);
      String json = said.get("--json");
      return new Arguments(
          ordeal,
          harms.isEmpty() ? List.of(Harm.values()) : harms,
          number(said, "--times", 1),
          number(said, "--seed", 1),
          json == null ? null : Path.of(json));
    }

    private static int number(Map<String, String> said, String option, int otherwise) {
      String text = said.get(option);
      if (text == null) {
        return otherwise;
      }
      if (!text.matches("\\d{1,9}")) {
        throw new IllegalArgumentException(option + " is '" + text + "', not a number");
      }
      return Integer.parseInt(text);
    }
  }
}
