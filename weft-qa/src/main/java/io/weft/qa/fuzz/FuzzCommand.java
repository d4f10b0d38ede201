// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.fuzz;

import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The program behind `tools/fuzz`: fuzzes targets one after the other and adds to their corpora
/// what was learned. A program of one fuzzer, see `Coverage`.
public final class FuzzCommand {

  private static final Duration PERIOD = Duration.ofSeconds(10);
  private static final String USAGE =
      """
      Usage: tools/fuzz [TARGET...] [--minutes M] [--seed S] [--replay HEX] [--list]
      Feeds decoders of foreign bytes with mutated inputs, guided by what code they reach.
        TARGET      only these; all targets otherwise
        --minutes   for all of them together; 1 unless given
        --seed      where chance begins; 1 unless given
        --replay    runs one input, in hexadecimal, on one target, and nothing else
        --list      names the targets
      Example: tools/fuzz inbound handshake --minutes 10
      """;

  private final PrintStream out;
  private final List<String> only = new ArrayList<>();
  private final List<Aim> aims = new ArrayList<>();
  private double minutes = 1;
  private long seed = 1;
  private byte @Nullable [] replay;
  private boolean list;

  /// A target and where its corpus lies.
  private record Aim(FuzzTarget target, CorpusFiles corpus) {}

  private FuzzCommand(PrintStream out) {
    this.out = out;
  }

  /// `SUITE=CORPORA`, a `FuzzContract` and the directory of its corpora, any number of them; then
  /// `--` and what the user gave. Ends with 0; 1 where an input did what none may; 2 where the
  /// command line was wrong.
  public static void main(String[] arguments) throws InterruptedException {
    System.exit(run(arguments, System.out));
  }

  static int run(String[] arguments, PrintStream out) throws InterruptedException {
    var command = new FuzzCommand(out);
    try {
      command.read(arguments);
    } catch (IllegalArgumentException wrong) {
      out.println("tools/fuzz: " + wrong.getMessage());
      out.print(USAGE);
      return 2;
    }
    return command.run();
  }

  private void read(String[] arguments) {
    int at = 0;
    for (; at < arguments.length && !arguments[at].equals("--"); at++) {
      int equals = arguments[at].indexOf('=');
      add(arguments[at].substring(0, equals), Path.of(arguments[at].substring(equals + 1)));
    }
    for (at++; at < arguments.length; at++) {
      switch (arguments[at]) {
        case "--minutes" -> minutes = Double.parseDouble(value(arguments, ++at));
        case "--seed" -> seed = Long.parseLong(value(arguments, ++at));
        case "--replay" -> replay = HexFormat.of().parseHex(value(arguments, ++at));
        case "--list" -> list = true;
        default -> only.add(known(arguments[at]));
      }
    }
    if (replay != null && only.size() != 1) {
      throw new IllegalArgumentException("--replay needs exactly one target");
    }
    if (!(minutes > 0)) {
      throw new IllegalArgumentException("--minutes must be more than 0");
    }
  }

  private static String value(String[] arguments, int at) {
    if (at == arguments.length) {
      throw new IllegalArgumentException(arguments[at - 1] + " needs a value");
    }
    return arguments[at];
  }

  private String known(String name) {
    if (aims.stream().noneMatch(aim -> aim.target().name().equals(name))) {
      throw new IllegalArgumentException("'" + name + "' is no target; see --list");
    }
    return name;
  }

  private void add(String suite, Path corpora) {
    try {
      var constructor =
          Class.forName(suite).asSubclass(FuzzContract.class).getDeclaredConstructor();
      constructor.setAccessible(true);
      var loader = new CoverageLoader(FuzzCommand.class.getClassLoader());
      constructor.newInstance().targets().stream()
          .map(loader::target)
          .forEach(
              target -> aims.add(new Aim(target, new CorpusFiles(corpora.resolve(target.name())))));
    } catch (ReflectiveOperationException broken) {
      throw new IllegalArgumentException(suite + " is no suite of targets: " + broken, broken);
    }
  }

  private int run() throws InterruptedException {
    aims.removeIf(aim -> !only.isEmpty() && !only.contains(aim.target().name()));
    if (list) {
      aims.forEach(aim -> out.println(aim.target().name()));
      return 0;
    }
    var each = Duration.ofMillis((long) (minutes * 60_000 / aims.size()));
    boolean failed = false;
    for (Aim aim : aims) {
      var campaign = new Campaign(aim.target(), seed, PERIOD, out::println);
      byte[] input = replay;
      if (input == null) {
        explore(aim, campaign, each);
      } else {
        campaign.replay(input);
      }
      campaign.findings().forEach(out::println);
      failed |= !campaign.findings().isEmpty();
      if (campaign.hangs()) {
        break;
      }
    }
    return failed ? 1 : 0;
  }

  private static void explore(Aim aim, Campaign campaign, Duration time)
      throws InterruptedException {
    campaign.explore(aim.corpus().read(), time);
    if (!campaign.hangs()) {
      aim.corpus().write(campaign.corpus().distilled());
    }
  }
}
