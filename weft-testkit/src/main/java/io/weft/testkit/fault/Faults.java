// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.fault;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The faults between the ranks whose transports were opened with this object: the faults of a
/// plan, and those that a test adds while the job runs. Thread-safe.
public final class Faults {

  private static final Logger LOG = LoggerFactory.getLogger(Faults.class);

  private final List<Planned> planned = new ArrayList<>();
  private final Set<Happened> done = new HashSet<>();
  private final List<String> happened = new ArrayList<>();
  private final Map<List<Integer>, Direction> directions = new HashMap<>();
  private final List<Runnable> relays = new ArrayList<>();
  private volatile int version;
  private int added;

  /// Creates an object without faults.
  public Faults() {}

  /// Creates an object with the faults of this plan.
  public Faults(FaultPlan plan) {
    this();
    add(plan);
  }

  /// A fault of a plan, and its number among all added faults.
  record Planned(int number, ConnectionFault fault) {}

  private record Happened(int number, int sender, int receiver) {}

  /// Adds faults. Moments count from when each connection was made; a moment in the past is due at
  /// once.
  public void add(FaultPlan plan) {
    synchronized (this) {
      plan.faults().forEach(fault -> planned.add(new Planned(added++, fault)));
      version++;
    }
    wakeRelays();
  }

  /// Removes faults that have not happened yet, and ends stalls and delays: stalled bytes arrive.
  public void heal() {
    synchronized (this) {
      planned.clear();
      directions.values().forEach(Direction::heal);
      version++;
    }
    wakeRelays();
  }

  /// Returns the faults that have happened, in order, such as `cut 0-1`.
  public synchronized List<String> happened() {
    return List.copyOf(happened);
  }

  // --- for relays

  /// Returns a number that changes when `planned` does.
  int version() {
    return version;
  }

  synchronized Direction direction(int sender, int receiver) {
    return directions.computeIfAbsent(
        List.of(sender, receiver), pair -> new Direction(sender, receiver));
  }

  /// Returns the faults that have not yet happened to bytes from `sender` to `receiver`.
  synchronized List<Planned> planned(int sender, int receiver) {
    return planned.stream()
        .filter(p -> p.fault().links().covers(sender, receiver))
        .filter(p -> !done.contains(new Happened(p.number(), sender, receiver)))
        .toList();
  }

  /// Records that a fault has happened: once in each direction, a cut once for both.
  void happened(Planned what, int sender, int receiver, String circumstances) {
    ConnectionFault.FaultKind kind = what.fault().kind();
    boolean both = kind == ConnectionFault.FaultKind.CUT;
    String text = kind.word() + " " + sender + (both ? "-" : ">") + receiver;
    synchronized (this) {
      done.add(new Happened(what.number(), sender, receiver));
      if (both) {
        done.add(new Happened(what.number(), receiver, sender));
      }
      happened.add(text);
      version++;
    }
    LOG.warn("fault: {} {}", text, circumstances);
  }

  synchronized void tell(Runnable relay) {
    relays.add(relay);
  }

  synchronized void tellNoMore(Runnable relay) {
    relays.remove(relay);
  }

  private void wakeRelays() {
    List<Runnable> all;
    synchronized (this) {
      all = List.copyOf(relays);
    }
    all.forEach(Runnable::run);
  }
}
