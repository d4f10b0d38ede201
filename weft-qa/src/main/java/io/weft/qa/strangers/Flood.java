// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.strangers;

import io.weft.transport.spi.Secret;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// The program of `tools/strangers`. It trains once undisturbed and once with strangers at all
/// ports, and compares weights and memory. It requires Linux.
public final class Flood {

  private static final String JOB = "besieged";
  private static final Pattern DIGESTS = Pattern.compile("\"weightsDigest\"\\s*:\\s*\\[([^]]*)]");
  private static final Set<PosixFilePermission> OWNER_ONLY =
      EnumSet.of(PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE);
  private static final long LOOK_MILLIS = 200;
  private static final long ASK_NANOS = TimeUnit.SECONDS.toNanos(5);
  private static final long MOST_GROWTH_KIBIBYTES = 64 << 10;
  private static final String USAGE =
      """
      Usage: tools/strangers [--epochs E] [--seconds S] [--crowd N] [OPTION...]
      Trains mnist-dnn on two ranks undisturbed, then again with strangers at all of its ports.
        --epochs    epochs of each training, which must outlast the strangers (default 100)
        --seconds   duration of the strangers' stay (default 60)
        --crowd     number of silent connections at each port (default 1000)
        OPTION      more options for 'weft train', such as --secure on
      Exits with 0 if both trainings have equal weights, no stranger was let in, and no process
      grew by more than 64 MiB.
      """;

  private final PrintStream out;
  private final Path directory;
  private final Secret secret;
  private final List<String> more = new ArrayList<>();
  private String epochs = "100";
  private long seconds = 60;
  private int crowd = 1000;

  /// The result of a training.
  private record Ended(int code, String digests, Footprint footprint) {}

  private Flood(PrintStream out, Path directory) throws IOException {
    this.out = out;
    this.directory = directory;
    String text = UUID.randomUUID() + "-" + UUID.randomUUID();
    Path file = directory.resolve("secret");
    Files.createFile(file, PosixFilePermissions.asFileAttribute(OWNER_ONLY));
    Files.writeString(file, text);
    secret = Secret.of(text.getBytes(StandardCharsets.UTF_8));
  }

  /// Takes the options of `USAGE`. Exits with 0, 1 or, for a wrong command line, 2.
  public static void main(String[] arguments) throws Exception {
    Path directory = Files.createTempDirectory("weft-strangers-");
    int code;
    try {
      code = new Flood(System.out, directory).run(arguments);
    } finally {
      try (Stream<Path> files = Files.list(directory)) {
        files.forEach(file -> file.toFile().delete());
      }
      Files.delete(directory);
    }
    System.exit(code);
  }

  private int run(String[] arguments) throws IOException, InterruptedException {
    try {
      read(arguments);
    } catch (IllegalArgumentException wrong) {
      out.print(wrong.getMessage() + "\n" + USAGE);
      return 2;
    }
    Ended alone;
    Ended besieged;
    try {
      alone = train("undisturbed", 0);
      besieged = train("besieged", seconds);
    } catch (IOException failed) {
      out.println(failed.getMessage());
      return 1;
    }
    if (alone.code() != 0 || besieged.code() != 0) {
      out.println("a training failed: " + alone.code() + ", " + besieged.code());
      return 1;
    }
    boolean same = alone.digests().equals(besieged.digests());
    out.println("weights " + (same ? "are equal: " : "DIFFER: ") + besieged.digests());
    boolean small = compare("resident", alone, besieged, Footprint::residentKibibytes);
    small &= compare("direct", alone, besieged, Footprint::directKibibytes);
    return same && small ? 0 : 1;
  }

  private void read(String[] arguments) {
    for (int i = 0; i < arguments.length; i++) {
      switch (arguments[i]) {
        case "--epochs" -> epochs = "" + number(arguments, ++i);
        case "--seconds" -> seconds = number(arguments, ++i);
        case "--crowd" -> crowd = number(arguments, ++i);
        case "--help" -> throw new IllegalArgumentException("");
        default -> more.add(arguments[i]);
      }
    }
  }

  private static int number(String[] arguments, int at) {
    if (at == arguments.length) {
      throw new IllegalArgumentException(arguments[at - 1] + " needs a value");
    }
    return Integer.parseInt(arguments[at]);
  }

  private Ended train(String name, long besiegedSeconds) throws IOException, InterruptedException {
    Path report = directory.resolve(name + ".json");
    var command =
        new ArrayList<>(
            List.of(
                "./weft", "train", "mnist-dnn", "-np", "2", "--transport", "tcp", "--seed", "7"));
    command.addAll(List.of("--epochs", epochs, "--json", report.toString()));
    command.addAll(more);
    var builder = new ProcessBuilder(command);
    builder.environment().put("WEFT_SECRET_FILE", directory.resolve("secret").toString());
    builder.environment().put("WEFT_JOB", JOB);
    builder.environment().put("JDK_JAVA_OPTIONS", "-XX:NativeMemoryTracking=summary");
    Path log = directory.resolve(name + ".log");
    builder.redirectErrorStream(true).redirectOutput(log.toFile());
    long start = System.nanoTime();
    Process weft = builder.start();
    var footprint = new Footprint();
    try {
      attend(weft, footprint, besiegedSeconds);
    } finally {
      weft.destroy();
    }
    long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
    int code = weft.exitValue();
    out.println(name + ": ended with " + code + " after " + millis / 1000 + " s");
    if (code != 0) {
      Files.readAllLines(log).forEach(out::println);
    }
    return new Ended(code, code == 0 ? digests(report) : "", footprint);
  }

  private static String digests(Path report) throws IOException {
    Matcher found = DIGESTS.matcher(Files.readString(report));
    if (!found.find()) {
      throw new IOException(report + " has no weightsDigest");
    }
    return found.group(1).strip();
  }

  /// Watches a training to its end. Lets strangers attack its ports for `besiegedSeconds`.
  private void attend(Process weft, Footprint footprint, long besiegedSeconds)
      throws IOException, InterruptedException {
    long asked = System.nanoTime();
    long came = 0;
    Strangers strangers = null;
    while (!weft.waitFor(LOOK_MILLIS, TimeUnit.MILLISECONDS)) {
      List<ProcessHandle> processes =
          Stream.concat(Stream.of(weft.toHandle()), weft.descendants()).toList();
      footprint.look(processes);
      long now = System.nanoTime();
      if (now - asked > ASK_NANOS) {
        asked = now;
        footprint.ask(processes);
      }
      if (besiegedSeconds > 0 && came == 0) {
        List<InetSocketAddress> ports = ListeningPorts.of(processes);
        if (ports.size() == 3) { // The ports of the store and of two ranks.
          came = now;
          out.println("strangers at " + ports + " for " + besiegedSeconds + " s");
          strangers = Strangers.at(ports, JOB, secret, crowd, came);
        }
      }
      if (strangers != null && now - came > TimeUnit.SECONDS.toNanos(besiegedSeconds)) {
        dismiss(strangers);
        strangers = null;
      }
    }
    if (strangers != null) {
      dismiss(strangers);
      throw new IOException("the training ended before the strangers did; give more --epochs");
    }
    if (besiegedSeconds > 0 && came == 0) {
      throw new IOException("no ports were found");
    }
  }

  private void dismiss(Strangers strangers) throws IOException {
    strangers.close();
    out.println("visits: " + strangers.visits());
    if (!strangers.letIn().isEmpty()) {
      throw new IOException("strangers were let in: " + strangers.letIn());
    }
  }

  private boolean compare(
      String kind, Ended alone, Ended besieged, Function<Footprint, Map<String, Long>> of) {
    boolean small = true;
    Map<String, Long> before = of.apply(alone.footprint());
    Map<String, Long> after = new TreeMap<>(of.apply(besieged.footprint()));
    for (Map.Entry<String, Long> one : after.entrySet()) {
      long was = before.getOrDefault(one.getKey(), 0L);
      long more = one.getValue() - was;
      small &= more <= MOST_GROWTH_KIBIBYTES;
      out.println(
          "%s memory of %s: %d KiB undisturbed, %d KiB besieged, %+d KiB"
              .formatted(kind, one.getKey(), was, one.getValue(), more));
    }
    return small;
  }
}
