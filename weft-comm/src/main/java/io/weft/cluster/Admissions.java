// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import io.weft.transport.Endpoint;
import io.weft.transport.PostResult;
import io.weft.transport.limit.Span;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Ranks that join while the job runs, as a rank sees them that is in it. One that this rank does
/// not know calls and says JOIN first; it is added to the job here, and gets WELCOME, which says
/// who is gone. What such a rank says before that is not believed; its connections are few, and
/// closed after the start deadline. Confined to the progress thread.
final class Admissions {

  /// How far the number of a rank may lie beyond those that this one knows: between them are those
  /// that have ended before they came here.
  static final int MOST_AHEAD = 1024;

  private static final int MOST_CALLERS = 16;

  private final Mesh mesh;
  private final PeerTable peers;
  private final FailureTracker failureTracker;
  private final Connector connector;
  private final List<Caller> callers = new ArrayList<>(0);
  private final MemorySegment goodbye = new MeshFrame.Goodbye().encode();

  /// Ranks that were lost elsewhere before they came here.
  private final BitSet lost = new BitSet();

  private Duration deadline = Duration.ZERO;

  /// A rank that is not known here.
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

  /// How long a rank may take from its call to JOIN.
  void limit(Duration limit) {
    deadline = limit;
  }

  /// An endpoint of a rank that is not known here is usable.
  void onConnect(Endpoint endpoint) {
    if (callers.size() == MOST_CALLERS) {
      endpoint.close();
    } else {
      callers.add(new Caller(endpoint, mesh.now()));
    }
  }

  /// A message on such an endpoint.
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

  /// Such a rank did what it may not yet.
  void refuse(Endpoint from) {
    Caller caller = find(from);
    if (caller != null) {
      callers.remove(caller);
      from.close();
    }
  }

  /// An endpoint has ended; false if it is none of these.
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

  /// Another rank has lost one that has not come here yet; when it comes it is told so.
  void isLost(int rank) {
    if (rank < peers.size() + MOST_AHEAD) {
      lost.set(rank);
    }
  }

  /// Once per duty cycle.
  ///
  /// Hot path.
  void turn() {
    if (!callers.isEmpty()) {
      for (Caller caller : List.copyOf(callers)) {
        if (isSettled(caller)) {
          callers.remove(caller);
        }
      }
    }
  }

  /// Whether it is no caller any more.
  private boolean isSettled(Caller caller) {
    boolean late = mesh.now() - caller.since > Span.nanos(deadline);
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
      String why = "another rank lost it before it had joined here";
      MemorySegment word = new MeshFrame.Lost(caller.rank(), peers.self(), why, "").encode();
      var unused = caller.endpoint.trySend(word);
      caller.endpoint.close();
      return true;
    }
    admit(join.member(), caller.endpoint);
    return true;
  }

  /// For a rank of this number: who of those below it is gone.
  private MemorySegment welcome(int rank) {
    var gone = new BitSet();
    for (int peer = 0; peer < rank; peer++) {
      gone.set(peer, peer >= peers.size() || peers.at(peer).isGone());
    }
    return new MeshFrame.Welcome(gone).encode();
  }

  /// It is known here before it hears so, and may be asked as soon as it has.
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

  /// A rank that is admitted asks again who is gone. False where it is not one.
  boolean onJoin(Endpoint from, MeshFrame.Join join) {
    int rank = from.node();
    if (join.member().rank() != rank || !from.equals(peers.at(rank).live())) {
      return false;
    }
    // Without room it asks once more.
    return from.trySend(welcome(rank)) != PostResult.CLOSED;
  }

  /// This rank leaves: whoever calls is told so.
  void leave() {
    for (Caller caller : List.copyOf(callers)) {
      if (caller.endpoint.trySend(goodbye) != PostResult.BACK_PRESSURED) {
        callers.remove(caller);
        caller.endpoint.close();
      }
    }
  }
}
