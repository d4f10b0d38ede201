// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import io.weft.transport.Endpoint;
import io.weft.transport.PostResult;
import io.weft.transport.limit.ClampedDuration;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The admission of ranks that join a running job, on a rank in that job. An unknown rank connects
/// and first sends JOIN. This class adds it to the job and answers with WELCOME, which lists the
/// ranks that are gone. Other messages before JOIN cause a refusal. The connections of unknown
/// ranks are bounded in number, and closed after the start deadline. Confined to the progress
/// thread.
final class Admissions {

  /// Largest distance of a new rank's number from those that this rank knows. The ranks in between
  /// have ended before they reached this rank.
  static final int MOST_AHEAD = 1024;

  private static final int MOST_CALLERS = 16;

  private final Mesh mesh;
  private final PeerTable peers;
  private final FailureTracker failureTracker;
  private final Connector connector;
  private final List<Caller> callers = new ArrayList<>(0);
  private final MemorySegment goodbye = new MeshFrame.Goodbye().encode();

  /// Ranks that other ranks lost before they reached this rank.
  private final BitSet lost = new BitSet();

  private Duration deadline = Duration.ZERO;

  /// A rank that this rank does not know yet.
  private static final class Caller {
    final Endpoint endpoint;
    final long since;
    MeshFrame.@Nullable Join join;

    Caller(Endpoint endpoint, long nowNanos) {
      this.endpoint = endpoint;
      this.since = nowNanos;
    }

    int rank() {
      return endpoint.node();
    }
  }

  Admissions(Mesh mesh, PeerTable peers, FailureTracker failureTracker, Connector connector) {
    this.mesh = mesh;
    this.peers = peers;
    this.failureTracker = failureTracker;
    this.connector = connector;
  }

  /// Sets the longest time from a rank's connection to its admission.
  void limit(Duration limit) {
    deadline = limit;
  }

  /// Accepts a usable endpoint of an unknown rank.
  void onConnect(Endpoint endpoint) {
    if (callers.size() == MOST_CALLERS) {
      endpoint.close();
    } else {
      callers.add(new Caller(endpoint, mesh.now()));
    }
  }

  void onMessage(Endpoint from, MemorySegment message) {
    Caller caller = find(from);
    if (caller == null) {
      return;
    }
    if (caller.join == null
        && MeshFrame.isOne(message)
        && MeshFrame.read(message) instanceof MeshFrame.Join join
        && join.member().rank() == caller.rank()) {
      caller.join = join;
    } else if (caller.join == null) {
      refuse(from);
    }
  }

  /// Refuses an unknown rank that did something that requires admission.
  void refuse(Endpoint from) {
    Caller caller = find(from);
    if (caller != null) {
      callers.remove(caller);
      from.close();
    }
  }

  /// Handles the end of an endpoint. Returns false if its rank is not an unknown one.
  boolean onFailure(Endpoint from) {
    return callers.removeIf(caller -> caller.endpoint.equals(from));
  }

  private @Nullable Caller find(Endpoint endpoint) {
    for (Caller caller : callers) {
      if (caller.endpoint.equals(endpoint)) {
        return caller;
      }
    }
    return null;
  }

  /// Notes that another rank has lost a rank that has not reached this one. That rank is told so
  /// when it does.
  void isLost(int rank) {
    if (rank < peers.size() + MOST_AHEAD) {
      lost.set(rank);
    }
  }

  /// Runs once per duty cycle.
  ///
  /// Hot path.
  void poll() {
    if (!callers.isEmpty()) {
      for (Caller caller : List.copyOf(callers)) {
        if (isSettled(caller)) {
          callers.remove(caller);
        }
      }
    }
  }

  /// Returns whether the caller has been admitted or refused.
  private boolean isSettled(Caller caller) {
    boolean late = mesh.now() - caller.since > ClampedDuration.nanos(deadline);
    boolean known = caller.rank() < peers.size();
    if (late || known || caller.rank() >= peers.size() + MOST_AHEAD) {
      caller.endpoint.close();
      return true;
    }
    MeshFrame.Join join = caller.join;
    if (join == null || mesh.isJoining()) {
      return false;
    }
    if (lost.get(caller.rank())) {
      String why = "another rank lost it before this rank had admitted it";
      MemorySegment word = new MeshFrame.Lost(caller.rank(), peers.self(), why, "").encode();
      var unused = caller.endpoint.trySend(word);
      caller.endpoint.close();
      return true;
    }
    admit(join.member(), caller.endpoint);
    return true;
  }

  /// Returns the WELCOME for a rank of this number, with the lower ranks that are gone.
  private MemorySegment welcome(int rank) {
    var gone = new BitSet();
    for (int peer = 0; peer < rank; peer++) {
      gone.set(peer, peer >= peers.size() || peers.at(peer).isGone());
    }
    return new MeshFrame.Welcome(gone).encode();
  }

  /// Adds the member before it learns of its admission, so that it may send requests as soon as it
  /// does.
  private void admit(Member member, Endpoint endpoint) {
    MemorySegment welcome = welcome(member.rank());
    while (peers.size() < member.rank()) {
      int absent = peers.size();
      mesh.append(Member.absent(absent));
      failureTracker.leave(absent);
    }
    mesh.append(member);
    lost.clear(0, peers.size());
    failureTracker.toldAll(member.rank());
    connector.take(endpoint, welcome);
  }

  /// Sends the lost ranks to an admitted rank that requests them again. Returns false if the sender
  /// is not an admitted rank.
  boolean onJoin(Endpoint from, MeshFrame.Join join) {
    int rank = from.node();
    if (join.member().rank() != rank || !from.equals(peers.at(rank).live())) {
      return false;
    }
    // Without room for the answer, the rank requests it again.
    return from.trySend(welcome(rank)) != PostResult.CLOSED;
  }

  /// Tells the calling ranks that this rank leaves.
  void leave() {
    for (Caller caller : List.copyOf(callers)) {
      if (caller.endpoint.trySend(goodbye) != PostResult.BACK_PRESSURED) {
        callers.remove(caller);
        caller.endpoint.close();
      }
    }
  }
}
