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

/// The faults in force between the ranks whose transports were opened with it: those of a plan, and
/// those that a test adds while the job runs. Any thread.
public final class Faults {

  private static final Logger LOG = LoggerFactory.getLogger(Faults.class);

  private final List<Planned> planned = new ArrayList<>();
  private final Set<Happened> done = new HashSet<>();
  private final List<String> happened = new ArrayList<>();
  private final Map<List<Integer>, Direction> directions = new HashMap<>();
  private final List<Runnable> relays = new ArrayList<>();
  private volatile int version;
  private int added;

  /// With nothing going wrong yet.
  public Faults() {}

  /// With this plan.
  public Faults(FaultPlan plan) {
    this();
    add(plan);
  }

  /// A fault of a plan, and which one it was of all that were added.
  record Planned(int number, ConnectionFault fault) {}

  private record Happened(int number, int sender, int receiver) {}

  /// Adds what shall go wrong from now on. Moments count from when each connection was made; what
  /// is already past happens at once.
  public void add(FaultPlan plan) {
    synchronized (this) {
      plan.faults().forEach(fault -> planned.add(new Planned(added++, fault)));
      version++;
    }
    wakeRelays();
  }

  /// Forgets what has not happened yet, and ends stalls and delays: what was held back arrives.
  public void heal() {
    synchronized (this) {
      planned.clear();
      directions.values().forEach(Direction::heal);
      version++;
    }
    wakeRelays();
  }

  /// What has happened, in words and in order, such as `cut 0-1`.
  public synchronized List<String> happened() {
    return List.copyOf(happened);
  }

  // --- for relays

  /// Changes when `planned` does.
  int version() {
    return version;
  }

  synchronized Direction direction(int sender, int receiver) {
    return directions.computeIfAbsent(
        List.of(sender, receiver), pair -> new Direction(sender, receiver));
  }

  /// What has not happened yet to what `sender` sends to `receiver`.
  synchronized List<Planned> planned(int sender, int receiver) {
    return planned.stream()
        .filter(p -> p.fault().links().covers(sender, receiver))
        .filter(p -> !done.contains(new Happened(p.number(), sender, receiver)))
        .toList();
  }

  /// It happened here; each fault does so once for each direction, a cut once for both.
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
