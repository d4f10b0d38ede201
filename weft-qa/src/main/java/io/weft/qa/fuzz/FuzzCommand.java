// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.fuzz;

import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The program of `tools/fuzz`. It fuzzes targets sequentially and adds new inputs to their
/// corpora. Only one fuzzer may run in a process, see `Coverage`.
public final class FuzzCommand {

  private static final Duration PERIOD = Duration.ofSeconds(10);
  private static final String USAGE =
      """
      Usage: tools/fuzz [TARGET...] [--minutes M] [--seed S] [--replay HEX] [--list]
      Feeds mutated inputs to decoders of foreign bytes, guided by the coverage of their code.
        TARGET      names of targets (default: all)
        --minutes   minutes for all targets together (default 1)
        --seed      seed of the random numbers (default 1)
        --replay    run only one input, in hexadecimal, on one target
        --list      print the names of the targets
      Example: tools/fuzz inbound handshake --minutes 10
      """;

  private final PrintStream out;
  private final List<String> only = new ArrayList<>();
  private final List<Aim> aims = new ArrayList<>();
  private double minutes = 1;
  private long seed = 1;
  private byte @Nullable [] replay;
  private boolean list;

  /// A target and its corpus.
  private record Aim(FuzzTarget target, CorpusFiles corpus) {}

  private FuzzCommand(PrintStream out) {
    this.out = out;
  }

  /// Takes any number of `SUITE=CORPORA`, a `FuzzContract` and the directory of its corpora, then
  /// `--` and the user's arguments. Exits with 0, with 1 if an input failed, with 2 for a wrong
  /// command line.
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
      throw new IllegalArgumentException("'" + name + "' is not a target; see --list");
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
      throw new IllegalArgumentException(suite + " is not a suite of targets: " + broken, broken);
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
