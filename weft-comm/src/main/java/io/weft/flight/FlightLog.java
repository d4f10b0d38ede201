// SPDX-License-Identifier: Apache-2.0
package io.weft.flight;

import io.weft.cluster.Member;
import io.weft.cluster.Topology;
import java.util.List;
import java.util.Objects;

/// What one rank did last, as its recorder knew it at one moment. Immutable. Times are nanoseconds
/// since the rank had joined the job, which all ranks do at nearly the same moment; `NEVER` where
/// there is none. Ranks are world ranks.
///
/// @param self whose log it is
/// @param counts when it was taken, and how much is not in it
/// @param failures the first, and the latest ones
/// @param communicators the latest ones
/// @param peers the other ranks
/// @param events the latest ones
/// @param operations in the order in which the progress thread took them, those last that it has
///   not taken
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

  /// Reads what `text` wrote. Throws `IllegalArgumentException` naming line and fault where it is
  /// not that, is cut off or exceeds the format's limits.
  public static FlightLog parse(String text) {
    return new LogReader(text).read();
  }

  /// The log in the format of `docs/flight.md`, for people and for `parse`.
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
    /// Throws `NullPointerException` where a part is missing.
    public Self {
      Objects.requireNonNull(job, "job");
      Objects.requireNonNull(host, "host");
      Objects.requireNonNull(process, "process");
    }

    /// A rank of this topology.
    public static Self of(String job, Topology topology, int rank) {
      Objects.requireNonNull(job, "job");
      Member member = topology.members().get(rank);
      return new Self(job, rank, topology.size(), member.host(), member.process());
    }
  }

  /// How the log was taken.
  ///
  /// @param writtenNanos when
  /// @param turnedNanos when the progress thread had last looked at the clock: long before, if it
  ///   stood still
  /// @param begun operations that the progress thread had taken
  /// @param forgotten those of them that are not in the log any more
  public record Counts(long writtenNanos, long turnedNanos, long begun, long forgotten) {}

  /// A failure as users see it.
  ///
  /// @param nanos when
  /// @param communicator key of the communicator that failed, or of the operation that did
  /// @param type which `CommException`
  /// @param toldBy the rank that told this one; -1 = noticed here
  /// @param operation name of the operation if it failed alone; empty = the whole communicator
  /// @param words the message
  public record Failure(
      long nanos, long communicator, String type, int toldBy, String operation, String words) {
    /// Throws `NullPointerException` where a part is missing.
    public Failure {
      Objects.requireNonNull(type, "type");
      Objects.requireNonNull(operation, "operation");
      Objects.requireNonNull(words, "words");
    }
  }

  /// A communicator.
  ///
  /// @param key the same on all members
  /// @param epoch membership version
  /// @param instance counts the communicators of the same ranks
  /// @param ranks its members
  /// @param state what became of it
  /// @param endedNanos when it failed or was closed
  public record Circle(
      long key, long epoch, int instance, List<Integer> ranks, CircleState state, long endedNanos) {

    /// Copies the list.
    public Circle {
      Objects.requireNonNull(state, "state");
      ranks = RankList.copyOf(ranks);
    }
  }

  /// What became of a communicator.
  public enum CircleState {
    /// In use.
    OPEN,
    /// Lost a rank, was aborted, or ran out of time.
    FAILED,
    /// Closed in order.
    CLOSED
  }

  /// Another rank.
  ///
  /// @param heardNanos when it had last been heard of, at this rank's latest failure
  public record Peer(int rank, String host, long heardNanos) {
    /// Throws `NullPointerException` where a part is missing.
    public Peer {
      Objects.requireNonNull(host, "host");
    }
  }

  /// Something that happened to a rank and not to one operation.
  ///
  /// @param rank the peer that it is about; -1 = this rank itself
  public record Event(long nanos, EventKind kind, int rank, String words) {
    /// Throws `NullPointerException` where a part is missing.
    public Event {
      Objects.requireNonNull(kind, "kind");
      Objects.requireNonNull(words, "words");
    }
  }

  /// What happened.
  public enum EventKind {
    /// The peer's connection broke, or it was given up.
    LOST,
    /// The peer closed in order.
    LEFT,
    /// The peer told that it has aborted a communicator.
    ABORTED,
    /// This rank itself stood still: no processor, a garbage collection, a debugger.
    STALLED
  }

  /// One operation.
  ///
  /// @param number counts what the progress thread took, from 1; 0 = not taken yet
  /// @param communicator its communicator's key
  /// @param name tensor name
  /// @param words kind, type, shape, reduction, root, algorithm
  /// @param use counts the uses of the name on the communicator, from 1; 0 = not taken yet
  /// @param bytes length of this rank's tensor
  /// @param state how far it came
  /// @param stage the stage that it came to, from 1; 0 = none
  /// @param times when
  /// @param awaited of one that failed: ranks whose segments were missing then
  /// @param unsubmitted of one that failed: ranks that had answered that they had not submitted it
  public record Flight(
      long number,
      long communicator,
      String name,
      String words,
      int use,
      long bytes,
      State state,
      int stage,
      Times times,
      List<Integer> awaited,
      List<Integer> unsubmitted) {

    /// Copies the lists.
    public Flight {
      Objects.requireNonNull(name, "name");
      Objects.requireNonNull(words, "words");
      Objects.requireNonNull(state, "state");
      Objects.requireNonNull(times, "times");
      awaited = RankList.copyOf(awaited);
      unsubmitted = RankList.copyOf(unsubmitted);
    }
  }

  /// How far an operation came.
  public enum State {
    /// The user has queued it, the progress thread has not taken it.
    SUBMITTED,
    /// It is under way.
    RUNNING,
    /// It has completed here.
    DONE,
    /// It has failed.
    FAILED
  }

  /// When an operation was submitted, was begun by the progress thread, and ended.
  public record Times(long submittedNanos, long begunNanos, long endedNanos) {}
}
