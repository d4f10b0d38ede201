// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.sim;

import java.time.Duration;
import java.util.Objects;
import java.util.Set;

/// Something that goes wrong in a simulation, from a moment of virtual time on. Ranks are world
/// ranks, hosts are numbered from 0. `toString` is what a trace and a report show.
public sealed interface SimFault {

  /// When, counted from the start of the simulation.
  Duration at();

  /// What one rank sends another takes longer for a while.
  record Delay(Duration at, Duration length, int from, int to, Duration extra) implements SimFault {
    /// Throws `NullPointerException` where a part is missing.
    public Delay {
      Objects.requireNonNull(at, "at");
      Objects.requireNonNull(length, "length");
      Objects.requireNonNull(extra, "extra");
    }
  }

  /// Each turn of a rank's agent takes so long for a while: a host that is overcommitted.
  record Slow(Duration at, Duration length, int rank, Duration turn) implements SimFault {
    /// Throws `NullPointerException` where a part is missing.
    public Slow {
      Objects.requireNonNull(at, "at");
      Objects.requireNonNull(length, "length");
      Objects.requireNonNull(turn, "turn");
    }
  }

  /// A rank does nothing for a while, and its clock goes on: a garbage collection, SIGSTOP, a
  /// debugger.
  record Pause(Duration at, Duration length, int rank) implements SimFault {
    /// Throws `NullPointerException` where a part is missing.
    public Pause {
      Objects.requireNonNull(at, "at");
      Objects.requireNonNull(length, "length");
    }
  }

  /// A process dies; its host closes its connections.
  record Crash(Duration at, int rank) implements SimFault {
    /// Throws `NullPointerException` where a part is missing.
    public Crash {
      Objects.requireNonNull(at, "at");
    }
  }

  /// A host dies with all its processes: silence.
  record HostCrash(Duration at, int host) implements SimFault {
    /// Throws `NullPointerException` where a part is missing.
    public HostCrash {
      Objects.requireNonNull(at, "at");
    }
  }

  /// The rank is started once more, whether its first process has died or not.
  record Restart(Duration at, int rank, Memory memory) implements SimFault {
    /// Throws `NullPointerException` where a part is missing.
    public Restart {
      Objects.requireNonNull(at, "at");
      Objects.requireNonNull(memory, "memory");
    }
  }

  /// Bytes between these ranks and all others do not arrive for a while; then they do. Where
  /// `resetAfter` is shorter, the sending ends give their connections up by then.
  record Partition(
      Duration at, Duration length, Set<Integer> ranks, Direction direction, Duration resetAfter)
      implements SimFault {
    /// Copies the set.
    public Partition {
      Objects.requireNonNull(at, "at");
      Objects.requireNonNull(length, "length");
      Objects.requireNonNull(direction, "direction");
      Objects.requireNonNull(resetAfter, "resetAfter");
      ranks = Set.copyOf(ranks);
    }
  }

  /// The next thing that one rank sends another breaks off in the middle, and both ends of the
  /// connection are reset.
  record Cut(Duration at, int from, int to) implements SimFault {
    /// Throws `NullPointerException` where a part is missing.
    public Cut {
      Objects.requireNonNull(at, "at");
    }
  }

  /// A rank's clock goes forward at once.
  record ClockJump(Duration at, int rank, Duration by) implements SimFault {
    /// Throws `NullPointerException` where a part is missing.
    public ClockJump {
      Objects.requireNonNull(at, "at");
      Objects.requireNonNull(by, "by");
    }
  }

  /// Which bytes a partition stops.
  enum Direction {
    /// Those that the ranks send.
    OUTWARD,
    /// Those that the ranks should get.
    INWARD,
    /// All.
    BOTH
  }

  /// What a process that is started once more knows.
  enum Memory {
    /// What the store has now.
    NOTHING,
    /// The topology of the job's start, as if it were the first: it asks no store.
    FIRST_TOPOLOGY
  }
}
