// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.torture;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/// The command line of `tools/torture`.
final class TortureOptions {

  static final String USAGE =
      """
      Usage: torture [--harm KIND[:N]]... [--times N] [--seed S] [-np N] [--json FILE] [--minutes M]
                     [--spread SECONDS] [--limit SECONDS] [--silence SECONDS] [--directory DIR]
                     [--working TEXT] [-- COMMAND...]
      Starts a job, harms it, and checks its end, repeatedly, with the kinds of harm in turn.
        --harm KIND[:N]    kill, stop, cut or partition, N times (default: all)
        --times N          repetitions of a kind without N (default 1)
        --seed S           seed of the first repetition of each kind, incremented then (default 1)
        -np N              ranks (default 4)
        --json FILE        append a JSON object for each repetition, one per line; repetitions that
                           FILE already has are skipped, and count
        --minutes M        begin no repetition after M minutes (default 1440)
        --spread SECONDS   longest time between the job's readiness and the harm (default 6)
        --limit SECONDS    limit on the survivors' end after kill and cut (default 5)
        --silence SECONDS  limit after stop and partition: the silence limit of 5 s, and 2 s to tell
                           all ranks and to end (default 7)
        --directory DIR    directory of failed repetitions' files (default: a temporary one)
        --working TEXT     regular expression of the line that a rank prints when it begins to work
        COMMAND            the launcher and its subcommand, '--', the program
      """;

  private static final String HARM = "--harm";

  private final Map<Harm, Integer> harms = new TreeMap<>();
  private final Map<String, String> said = new TreeMap<>();
  private final List<String> command;

  private TortureOptions(List<String> words) {
    int at = 0;
    while (at < words.size() && !words.get(at).equals("--")) {
      String option = words.get(at);
      if (!option.startsWith("-")
          || !USAGE.contains("  " + option + " ")
          || at + 1 == words.size()) {
        throw new IllegalArgumentException("'" + option + "' is not an option, or lacks its value");
      }
      if (option.equals(HARM)) {
        addHarm(words.get(at + 1));
      } else {
        said.put(option, words.get(at + 1));
      }
      at += 2;
    }
    command = words.subList(Math.min(at + 1, words.size()), words.size());
  }

  /// Parses the command line. Throws `IllegalArgumentException` with the reason.
  static Series parse(List<String> words) throws IOException {
    return new TortureOptions(words).series();
  }

  private void addHarm(String text) {
    String[] parts = text.split(":", 2);
    Harm harm =
        Harm.of(parts[0])
            .orElseThrow(() -> new IllegalArgumentException("unknown harm '" + parts[0] + "'"));
    harms.put(harm, parts.length == 1 ? -1 : number("the times of --harm", parts[1]));
  }

  private Series series() throws IOException {
    int times = number("--times", 1);
    Map<Harm, Integer> wanted = new TreeMap<>(harms);
    if (wanted.isEmpty()) {
      for (Harm harm : Harm.values()) {
        wanted.put(harm, times);
      }
    }
    wanted.replaceAll((harm, own) -> own < 0 ? times : own);
    return new Series(
        scenario(),
        wanted,
        number("--seed", 1),
        Duration.ofMinutes(number("--minutes", 1440)),
        Optional.ofNullable(said.get("--json")).map(Path::of));
  }

  private FaultScenario scenario() throws IOException {
    int dashes = command.indexOf("--");
    if (dashes < 1) {
      throw new IllegalArgumentException("no command: LAUNCHER SUBCOMMAND -- PROGRAM...");
    }
    String directory = said.get("--directory");
    return new FaultScenario(
        command.subList(0, dashes),
        command.subList(dashes + 1, command.size()),
        number("-np", 4),
        said.getOrDefault("--working", "^training on|^working"),
        Duration.ofSeconds(number("--spread", 6)),
        Duration.ofSeconds(number("--limit", 5)),
        Duration.ofSeconds(number("--silence", 7)),
        directory == null ? Files.createTempDirectory("weft-torture-") : Path.of(directory));
  }

  private int number(String option, int otherwise) {
    String text = said.get(option);
    return text == null ? otherwise : number(option, text);
  }

  private static int number(String what, String text) {
    if (!text.matches("\\d{1,9}")) {
      throw new IllegalArgumentException(what + " is '" + text + "', not a number");
    }
    return Integer.parseInt(text);
  }
}
