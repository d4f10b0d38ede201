// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.sim;

import java.time.Duration;
import java.util.Objects;
import java.util.Set;

/// A fault in a simulation that begins at a moment of virtual time. Ranks are world ranks, hosts
/// are numbered from 0. `toString` is its form in a trace and a report.
public sealed interface SimFault {

  /// Returns the moment at which it begins, counted from the start of the simulation.
  Duration at();

  /// Bytes from one rank to another take longer for a while.
  record Delay(Duration at, Duration length, int from, int to, Duration extra) implements SimFault {
    /// Throws `NullPointerException` if a component is null.
    public Delay {
      Objects.requireNonNull(at, "at");
      Objects.requireNonNull(length, "length");
      Objects.requireNonNull(extra, "extra");
    }
  }

  /// Each duty cycle of a rank's agent takes `cycle` for a while, as on an overcommitted host.
  record Slow(Duration at, Duration length, int rank, Duration cycle) implements SimFault {
    /// Throws `NullPointerException` if a component is null.
    public Slow {
      Objects.requireNonNull(at, "at");
      Objects.requireNonNull(length, "length");
      Objects.requireNonNull(cycle, "cycle");
    }
  }

  /// A rank does nothing for a while but its clock advances: a garbage collection, SIGSTOP, a
  /// debugger.
  record Pause(Duration at, Duration length, int rank) implements SimFault {
    /// Throws `NullPointerException` if a component is null.
    public Pause {
      Objects.requireNonNull(at, "at");
      Objects.requireNonNull(length, "length");
    }
  }

  /// A process dies, and its host closes its connections.
  record Crash(Duration at, int rank) implements SimFault {
    /// Throws `NullPointerException` if a component is null.
    public Crash {
      Objects.requireNonNull(at, "at");
    }
  }

  /// A host and all its processes die without a message.
  record HostCrash(Duration at, int host) implements SimFault {
    /// Throws `NullPointerException` if a component is null.
    public HostCrash {
      Objects.requireNonNull(at, "at");
    }
  }

  /// A new process of the rank starts, even if the present one has not died.
  record Restart(Duration at, int rank, Memory memory) implements SimFault {
    /// Throws `NullPointerException` if a component is null.
    public Restart {
      Objects.requireNonNull(at, "at");
      Objects.requireNonNull(memory, "memory");
    }
  }

  /// Bytes between these ranks and all others arrive only after `length`. If `resetAfter` is
  /// shorter than `length`, the senders give up their connections after that time.
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

  /// The next packet from one rank to another is cut in the middle, and both ends of the connection
  /// are reset.
  record Cut(Duration at, int from, int to) implements SimFault {
    /// Throws `NullPointerException` if a component is null.
    public Cut {
      Objects.requireNonNull(at, "at");
    }
  }

  /// A rank's clock jumps forward.
  record ClockJump(Duration at, int rank, Duration by) implements SimFault {
    /// Throws `NullPointerException` if a component is null.
    public ClockJump {
      Objects.requireNonNull(at, "at");
      Objects.requireNonNull(by, "by");
    }
  }

  /// The bytes that a partition stops.
  enum Direction {
    /// The bytes that the ranks send.
    OUTWARD,
    /// The bytes that the ranks receive.
    INWARD,
    /// All bytes.
    BOTH
  }

  /// The knowledge of a restarted process.
  enum Memory {
    /// The present contents of the store.
    NOTHING,
    /// The topology of the job's start, as if this were the rank's first process.
    FIRST_TOPOLOGY
  }
}
