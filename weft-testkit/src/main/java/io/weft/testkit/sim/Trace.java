// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.sim;

import io.weft.testkit.sim.network.Journal;
import io.weft.testkit.sim.network.SimNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/// The events of a simulation, one line each: virtual time, rank, kind, peer, bytes, and a
/// description of the message if it has one. All events enter the hash; equal hashes mean equal
/// runs. The last events are kept as lines. The trace may be read after the run.
public final class Trace implements Journal {

  private static final long PRIME = 0x100000001b3L;

  private final LongSupplier clock;
  private final Wording wording;
  private final int keep;
  private final List<Line> lines = new ArrayList<>();
  private int oldest;
  private long hash = 0xcbf29ce484222325L;
  private long count;

  private record Line(
      long nanos, String who, What what, int peer, long bytes, @Nullable String words) {

    @Override
    public String toString() {
      return String.format(
          Locale.ROOT,
          "%14.6f ms  %-10s %-9s%s%s%s",
          nanos / 1e6,
          who,
          what.name().toLowerCase(Locale.ROOT),
          peer < 0 ? "" : " rank " + peer,
          bytes == 0 ? "" : " " + bytes + " B",
          words == null ? "" : "  " + words);
    }
  }

  /// @param keep the number of the last events kept as lines
  Trace(LongSupplier clock, Wording wording, int keep) {
    this.clock = clock;
    this.wording = wording;
    this.keep = keep;
  }

  @Override
  public void record(What what, SimNode who, int peerRank, long bytes, byte @Nullable [] message) {
    add(what, who, peerRank, bytes);
    if (keep > 0) {
      keep(what, who, peerRank, bytes, message == null ? null : wording.of(message));
    }
  }

  /// Records an event in words, which are part of the hash.
  void say(What what, SimNode who, String words) {
    add(what, who, -1, 0);
    for (int i = 0; i < words.length(); i++) {
      mix(words.charAt(i));
    }
    keep(what, who, -1, 0, words);
  }

  private void add(What what, SimNode who, int peerRank, long bytes) {
    count++;
    mix(clock.getAsLong());
    mix((long) what.code() << 48 | (long) who.incarnation() << 32 | who.rank());
    mix(bytes << 16 ^ peerRank);
  }

  private void keep(What what, SimNode who, int peer, long bytes, @Nullable String words) {
    if (keep == 0) {
      return;
    }
    String name = "rank " + who.rank() + (who.incarnation() == 0 ? "" : "'" + who.incarnation());
    Line line = new Line(clock.getAsLong(), name, what, peer, bytes, words);
    if (lines.size() < keep) {
      lines.add(line);
    } else {
      lines.set(oldest, line);
      oldest = (oldest + 1) % keep;
    }
  }

  private void mix(long value) {
    hash = (hash ^ value) * PRIME;
    hash ^= hash >>> 29;
  }

  /// Returns the hash of all events, in order. It depends only on seed and settings.
  public String hash() {
    return String.format(Locale.ROOT, "%016x", hash);
  }

  /// Returns the number of events.
  public long events() {
    return count;
  }

  /// Returns the last events, oldest first.
  public List<String> lines() {
    List<String> text = new ArrayList<>(lines.size());
    for (int i = 0; i < lines.size(); i++) {
      text.add(lines.get((oldest + i) % lines.size()).toString());
    }
    return text;
  }

  @Override
  public String toString() {
    return String.join("\n", lines());
  }
}
