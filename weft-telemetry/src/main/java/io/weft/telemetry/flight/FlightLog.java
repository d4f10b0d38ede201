// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.flight;

import io.weft.cluster.Member;
import io.weft.cluster.Topology;
import java.util.List;
import java.util.Objects;

/// The last operations and failures of one rank, as its recorder knew them at one moment.
/// Immutable. Times are nanoseconds since the rank joined the job, which all ranks do at nearly the
/// same moment; `NEVER` means none. Ranks are world ranks.
///
/// @param self the rank of the log
/// @param counts the time of the log, and the number of omitted operations
/// @param failures the first failure and the latest ones
/// @param communicators the latest communicators
/// @param peers the other ranks
/// @param events the first events and the latest ones
/// @param operations the operations in the order in which the progress thread took them, followed
///   by those that it has not taken
public record FlightLog(
    Self self,
    Counts counts,
    List<Failure> failures,
    List<Circle> communicators,
    List<Peer> peers,
    List<Event> events,
    List<Flight> operations) {

  /// No time.
  public static final long NEVER = -1;

  /// Copies the lists.
  public FlightLog {
    Objects.requireNonNull(self, "self");
    Objects.requireNonNull(counts, "counts");
    failures = List.copyOf(failures);
    communicators = List.copyOf(communicators);
    peers = List.copyOf(peers);
    events = List.copyOf(events);
    operations = List.copyOf(operations);
  }

  /// Parses the output of `text`. Throws `IllegalArgumentException` naming line and fault if the
  /// text is malformed, incomplete or exceeds the format's limits.
  public static FlightLog parse(String text) {
    return new LogReader(text).read();
  }

  /// Returns the log in the format of `docs/flight.md`, for people and for `parse`.
  public String text() {
    return LogText.of(this);
  }

  /// A rank.
  ///
  /// @param job the job's name
  /// @param rank 0 to `size` - 1
  /// @param size ranks in the job
  /// @param host its host, for people
  /// @param process its process on that host, opaque
  public record Self(String job, int rank, int size, String host, String process) {
    /// Throws `NullPointerException` if a component is null.
    public Self {
      Objects.requireNonNull(job, "job");
      Objects.requireNonNull(host, "host");
      Objects.requireNonNull(process, "process");
    }

    /// Returns a rank of this topology.
    public static Self of(String job, Topology topology, int rank) {
      Objects.requireNonNull(job, "job");
      Member member = topology.members().get(rank);
      return new Self(job, rank, topology.size(), member.host(), member.process());
    }
  }

  /// The time and the coverage of a log.
  ///
  /// @param writtenNanos the time of the log
  /// @param turnedNanos the time of the progress thread's last duty cycle, long before if the
  ///   thread stood still
  /// @param begun number of operations that the progress thread had taken
  /// @param forgotten number of those operations that are no longer in the log
  public record Counts(long writtenNanos, long turnedNanos, long begun, long forgotten) {}

  /// A failure as users see it.
  ///
  /// @param nanos the time of the failure
  /// @param communicator key of the communicator that failed, or of the operation's communicator
  /// @param type the subtype of `CommException`
  /// @param toldBy the rank that reported the failure; -1 = noticed by this rank
  /// @param operation name of the operation if it failed alone; empty = the whole communicator
  /// @param words the message
  public record Failure(
      long nanos, long communicator, String type, int toldBy, String operation, String words) {
    /// Throws `NullPointerException` if a component is null.
    public Failure {
      Objects.requireNonNull(type, "type");
      Objects.requireNonNull(operation, "operation");
      Objects.requireNonNull(words, "words");
    }
  }

  /// A communicator.
  ///
  /// @param key the key, equal on all members
  /// @param epoch the membership version
  /// @param instance the number of the communicator among those of the same ranks
  /// @param ranks its members
  /// @param state its state
  /// @param endedNanos the time at which it failed or was closed
  public record Circle(
      long key, long epoch, int instance, List<Integer> ranks, CircleState state, long endedNanos) {

    /// Copies the list.
    public Circle {
      Objects.requireNonNull(state, "state");
      ranks = RankList.copyOf(ranks);
    }
  }

  /// The state of a communicator.
  public enum CircleState {
    /// In use.
    OPEN,
    /// It lost a rank, was aborted, or exceeded a deadline.
    FAILED,
    /// It was closed in an orderly way.
    CLOSED
  }

  /// Another rank.
  ///
  /// @param heardNanos the time of its last sign of life before this rank's latest failure
  public record Peer(int rank, String host, long heardNanos) {
    /// Throws `NullPointerException` if a component is null.
    public Peer {
      Objects.requireNonNull(host, "host");
    }
  }

  /// An event that affects a rank as a whole and not one operation.
  ///
  /// @param rank the peer concerned; -1 = this rank itself
  public record Event(long nanos, EventKind kind, int rank, String words) {
    /// Throws `NullPointerException` if a component is null.
    public Event {
      Objects.requireNonNull(kind, "kind");
      Objects.requireNonNull(words, "words");
    }
  }

  /// The kind of an event.
  public enum EventKind {
    /// The peer's connection broke, or it was given up.
    LOST,
    /// The peer left in an orderly way.
    LEFT,
    /// The peer reported that it has aborted a communicator.
    ABORTED,
    /// This rank itself stood still, for lack of a processor, or because of a garbage collection or
    /// a debugger.
    STALLED
  }

  /// One operation.
  ///
  /// @param number the number of the operation in the order in which the progress thread took them,
  ///   from 1; 0 = not taken yet
  /// @param communicator the key of its communicator
  /// @param name tensor name
  /// @param words kind, type, shape, reduction, root, algorithm
  /// @param use the number of uses of the name on the communicator, from 1; 0 = not taken yet
  /// @param bytes length of this rank's tensor
  /// @param progress its progress
  /// @param missing for a failed operation, the missing ranks
  public record Flight(
      long number,
      long communicator,
      String name,
      String words,
      int use,
      long bytes,
      Progress progress,
      Missing missing) {

    /// Checks the arguments.
    public Flight {
      Objects.requireNonNull(name, "name");
      Objects.requireNonNull(words, "words");
      Objects.requireNonNull(progress, "progress");
      Objects.requireNonNull(missing, "missing");
    }

    /// Returns the state.
    public State state() {
      return progress.state;
    }

    /// Returns the stage that the operation reached, from 1; 0 = none.
    public int stage() {
      return progress.stage;
    }

    /// Returns the times.
    public Times times() {
      return progress.times;
    }

    /// Returns the ranks whose segments were missing.
    public List<Integer> awaited() {
      return missing.awaited;
    }

    /// Returns the ranks that had answered that they had not submitted the operation.
    public List<Integer> unsubmitted() {
      return missing.unsubmitted;
    }
  }

  /// The ranks that a failed operation missed.
  ///
  /// @param awaited the ranks whose segments were missing
  /// @param unsubmitted the ranks that had answered that they had not submitted it
  public record Missing(List<Integer> awaited, List<Integer> unsubmitted) {

    /// No ranks.
    public static final Missing NONE = new Missing(List.of(), List.of());

    /// Copies the lists.
    public Missing {
      awaited = RankList.copyOf(awaited);
      unsubmitted = RankList.copyOf(unsubmitted);
    }
  }

  /// The progress of an operation.
  ///
  /// @param stage the stage that it reached, from 1; 0 = none
  public record Progress(State state, int stage, Times times) {

    /// Checks the arguments.
    public Progress {
      Objects.requireNonNull(state, "state");
      Objects.requireNonNull(times, "times");
    }
  }

  /// The state of an operation.
  public enum State {
    /// The user has queued it; the progress thread has not taken it.
    SUBMITTED,
    /// It is in progress.
    RUNNING,
    /// It has completed on this rank.
    DONE,
    /// It has failed.
    FAILED
  }

  /// The times at which the operation was submitted, was begun by the progress thread, and ended.
  public record Times(long submittedNanos, long begunNanos, long endedNanos) {}
}
