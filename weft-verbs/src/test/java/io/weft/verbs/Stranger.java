// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs;

import io.weft.testkit.job.JvmCommand;
import io.weft.transport.Address;
import io.weft.transport.MemoryRegion;
import io.weft.transport.PostResult;
import io.weft.transport.RemoteRegion;
import io.weft.transport.RemoteSlice;
import io.weft.transport.TransportException;
import java.io.BufferedReader;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/// Programs in separate processes, for tests of faults.
final class Stranger {

  static final int REGION_BYTES = 8 << 20;

  private static final long LIFE_NANOS = 120_000_000_000L;
  private static final long LIMIT_SECONDS = 100;

  private Stranger() {}

  /// Starts one of the programs below, with a command prefix such as `setpriv …`.
  static Process start(List<String> before, Class<?> program) throws IOException {
    List<String> command = new ArrayList<>(before);
    command.addAll(JvmCommand.of(List.of("--enable-native-access=ALL-UNNAMED"), program));
    var builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().remove("JDK_JAVA_OPTIONS"); // because Java would print that it is set
    return builder.start();
  }

  /// Runs one of the programs below to its end and returns its output.
  static String run(List<String> before, Class<?> program)
      throws IOException, InterruptedException {
    Process process = start(before, program);
    process.getOutputStream().close();
    try (BufferedReader reader = process.inputReader(StandardCharsets.UTF_8)) {
      String said = String.join("\n", reader.lines().toList());
      if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
        throw new AssertionError(program.getSimpleName() + " failed and said: " + said);
      }
      return said;
    } finally {
      process.destroyForcibly();
    }
  }

  /// Node 0: prints its address, sends the export of its region to the first peer that connects,
  /// and polls until it is killed.
  static final class Target {
    public static void main(String[] none) {
      Parties.Party party = new Parties.Party(0, Parties.settings());
      MemoryRegion region = party.transport.allocate(REGION_BYTES);
      System.out.println(party.transport.address());
      boolean shown = false;
      long start = System.nanoTime();
      while (System.nanoTime() - start < LIFE_NANOS && party.failures.isEmpty()) {
        if (party.transport.poll(System.nanoTime()) == 0) {
          party.transport.await(1_000_000);
        }
        if (party.connected > 0 && !shown) {
          shown = party.to(1).trySend(encode(region.export())) == PostResult.POSTED;
        }
      }
      party.transport.close();
    }
  }

  static MemorySegment encode(RemoteRegion region) {
    MemorySegment message = MemorySegment.ofArray(new long[4]);
    message.setAtIndex(ValueLayout.JAVA_LONG, 0, region.address());
    message.setAtIndex(ValueLayout.JAVA_LONG, 1, region.bytes());
    message.setAtIndex(ValueLayout.JAVA_LONG, 2, region.key());
    message.setAtIndex(ValueLayout.JAVA_LONG, 3, region.incarnation());
    return message;
  }

  static RemoteRegion decode(MemorySegment message) {
    long[] words = message.toArray(ValueLayout.JAVA_LONG_UNALIGNED);
    return new RemoteRegion(words[0], words[1], (int) words[2], words[3]);
  }

  /// Returns the address that a started program prints; warnings may precede it.
  static Address awaitAddress(BufferedReader from) throws IOException {
    StringBuilder said = new StringBuilder();
    for (String line = from.readLine(); line != null; line = from.readLine()) {
      if (line.startsWith("verbs:")) {
        return Address.parse(line);
      }
      said.append(line).append('\n');
    }
    throw new AssertionError("it has ended and said: " + said);
  }

  /// Opens two transports, writes and reads memory that could not be registered, and prints whether
  /// the contents are right, the bytes that moved one-sided, and the refused registrations.
  static final class Copying {
    private static final int BYTES = 100_000;

    public static void main(String[] none) {
      VerbsSettings settings = VerbsSettings.ofThisProcess();
      List<Parties.Party> both =
          List.of(new Parties.Party(0, settings), new Parties.Party(1, settings));
      Parties.Party here = both.get(0);
      try {
        String met = Couple.meet(here, both.get(1));
        MemoryRegion own = here.transport.allocate(BYTES);
        MemoryRegion region = both.get(1).transport.allocate(BYTES);
        RemoteSlice all = new RemoteSlice(region.export(), 0, BYTES);
        own.segment().fill((byte) 7);
        VerbsOutcome written = new VerbsOutcome();
        PostResult write = here.to(1).tryWrite(own.slice(0, BYTES), all, 1, written);
        await(both, written);
        own.segment().fill((byte) 0);
        VerbsOutcome read = new VerbsOutcome();
        PostResult posted = here.to(1).tryRead(own.slice(0, BYTES), all, read);
        await(both, read);
        boolean right =
            own.segment().mismatch(MemorySegment.ofArray(new byte[BYTES]).fill((byte) 7)) < 0;
        Map<String, Long> counters = here.transport.counters();
        System.out.printf(
            "%s, %s, %s, %s, one-sided %d, refused %d%n",
            met,
            write,
            posted,
            right ? "right" : "wrong contents",
            counters.get("oneSidedWrittenBytes") + counters.get("oneSidedReadBytes"),
            counters.get("refusedRegistrations"));
      } finally {
        both.forEach(party -> party.transport.close());
      }
    }

    private static void await(List<Parties.Party> both, VerbsOutcome outcome) {
      long start = System.nanoTime();
      while (!outcome.isDone() && System.nanoTime() - start < LIFE_NANOS) {
        for (Parties.Party party : both) {
          if (party.transport.poll(System.nanoTime()) == 0) {
            Thread.yield();
          }
        }
      }
    }
  }

  /// Opens two transports, connects them and prints the result: `connected`, or type and message of
  /// the failure.
  static final class Couple {
    public static void main(String[] none) {
      List<Parties.Party> both = new ArrayList<>();
      try {
        for (int node = 0; node < 2; node++) {
          both.add(new Parties.Party(node, VerbsSettings.ofThisProcess()));
        }
        System.out.println(meet(both.get(0), both.get(1)));
      } catch (TransportException e) {
        System.out.println(words(e));
      } finally {
        both.forEach(party -> party.transport.close());
      }
    }

    private static String meet(Parties.Party one, Parties.Party other) {
      var unused = other.transport.connect(one.transport.address(), 0);
      long start = System.nanoTime();
      while (System.nanoTime() - start < LIFE_NANOS) {
        for (Parties.Party party : List.of(one, other)) {
          int work = party.transport.poll(System.nanoTime());
          if (!party.failures.isEmpty()) {
            return words(party.failures.getFirst());
          }
          if (work == 0) {
            Thread.yield();
          }
        }
        if (one.connected + other.connected == 2) {
          return "connected";
        }
      }
      return "nothing";
    }

    private static String words(TransportException e) {
      return e.getClass().getSimpleName() + ": " + e.getMessage();
    }
  }
}
