// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import io.weft.transport.Address;
import io.weft.transport.Endpoint;
import io.weft.transport.PostResult;
import io.weft.transport.limit.Span;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Connections that are made when a service first has something for a rank. Whoever has, calls; the
/// one that is called says CONNECTED, after which both may send. Where both call at once the call
/// of the lower rank stands: the lower one refuses the other call, the higher one forgets its own.
/// A call that fails is repeated until the deadline; then the rank is lost. Confined to the
/// progress thread.
final class Connector {

  private static final long PAUSE_NANOS = Span.nanos(Duration.ofMillis(50));

  private final Mesh mesh;
  private final PeerTable peers;
  private final MemorySegment connectedFrame = new MeshFrame.Connected().encode();
  private final List<Attempt> attempts = new ArrayList<>(0);
  private Duration deadline = Duration.ZERO;

  /// What a rank that joins a running job says first; null for others.
  private @Nullable MemorySegment greeting;

  /// What is under way with one rank.
  private static final class Attempt {
    final Peer peer;
    final UnconnectedEndpoint standIn;
    final long since;

    /// This rank's call; null between two.
    @Nullable Endpoint call;

    /// The peer's call that is taken, as soon as there is room to say so.
    @Nullable Endpoint taken;

    /// What the peer is told when its call is taken.
    MemorySegment answer;

    /// Whether the call waits for room for the greeting.
    boolean greets;

    /// Whether this rank itself has something for the peer.
    boolean wanted;

    long retryNanos;
    String failure = "it did not answer";

    Attempt(Peer peer, MemorySegment answer, long nowNanos) {
      this.answer = answer;
      this.peer = peer;
      this.standIn = new UnconnectedEndpoint(peer.rank());
      this.since = nowNanos;
      this.retryNanos = nowNanos;
    }
  }

  Connector(Mesh mesh, PeerTable peers) {
    this.mesh = mesh;
    this.peers = peers;
  }

  /// How long a rank is called before it counts as lost.
  void limit(Duration limit) {
    deadline = limit;
  }

  /// From now on calls begin with this message.
  void greet(MemorySegment first) {
    greeting = first;
  }

  /// Begins to connect with a rank, if that has not begun. Returns an endpoint that never has room;
  /// ask the mesh again.
  Endpoint connect(Peer peer) {
    Attempt attempt = attempt(peer);
    if (!attempt.wanted) {
      attempt.wanted = true;
      call(attempt);
    }
    return attempt.standIn;
  }

  private Attempt attempt(Peer peer) {
    Attempt known = find(peer.rank());
    if (known == null) {
      known = new Attempt(peer, connectedFrame, mesh.now());
      attempts.add(known);
    }
    return known;
  }

  /// Why this rank is not connected yet with another one that it calls.
  String failure(int rank) {
    Attempt attempt = find(rank);
    return attempt == null ? "it is not called" : attempt.failure;
  }

  private @Nullable Attempt find(int rank) {
    for (Attempt attempt : attempts) {
      if (attempt.peer.rank() == rank) {
        return attempt;
      }
    }
    return null;
  }

  private void call(Attempt attempt) {
    if (attempt.call == null && attempt.taken == null) {
      attempt.call = call(attempt.peer.rank());
    }
  }

  private @Nullable Endpoint call(int peer) {
    Member member = mesh.topology().members().get(peer);
    String scheme = mesh.transport().address().scheme();
    Optional<Address> address =
        member.addresses().stream()
            .filter(one -> one.scheme().equals(scheme))
            .skip(mesh.thread())
            .findFirst();
    if (address.isEmpty()) {
      cannotCall(peer, "it offers " + member.addresses() + ", this rank speaks " + scheme);
      return null;
    }
    try {
      return mesh.transport().connect(address.get(), peer);
    } catch (IllegalArgumentException malformed) {
      cannotCall(peer, "the address '" + address.get() + "' that it announced cannot be used");
      return null;
    }
  }

  private void cannotCall(int peer, String why) {
    if (mesh.isEntering()) {
      mesh.hinder(
          mesh.topology().describe(peer) + " cannot be called: " + why,
          List.of(peer, peers.self()));
    } else {
      mesh.lose(peer, why);
    }
  }

  /// An endpoint of a rank that has none is usable: this rank's call, or one of the peer's.
  void onConnect(Endpoint endpoint) {
    Peer peer = peers.at(endpoint.node());
    Attempt known = find(peer.rank());
    if (known != null && endpoint.equals(known.call)) {
      known.greets = greeting != null;
      sayGreeting(known);
      return; // the peer says whether it takes it
    }
    boolean ownStands = known != null && known.call != null && peers.self() < peer.rank();
    if (ownStands || (known != null && known.taken != null)) {
      endpoint.close();
      return;
    }
    Attempt attempt = attempt(peer);
    if (attempt.call != null) {
      attempt.call.close();
      attempt.call = null;
    }
    attempt.taken = endpoint;
    sayConnected(attempt);
  }

  /// Takes the call of a rank that was just added, with this answer.
  void take(Endpoint call, MemorySegment answer) {
    Attempt attempt = attempt(peers.at(call.node()));
    attempt.answer = answer;
    attempt.taken = call;
    sayConnected(attempt);
  }

  private void sayGreeting(Attempt attempt) {
    Endpoint call = attempt.call;
    if (attempt.greets && call != null && greeting != null) {
      attempt.greets = call.trySend(greeting) == PostResult.BACK_PRESSURED;
    }
  }

  private void sayConnected(Attempt attempt) {
    Endpoint taken = attempt.taken;
    if (taken != null && taken.trySend(attempt.answer) == PostResult.POSTED) {
      end(attempt, taken);
    }
  }

  /// The rank has taken this rank's call. False if this rank did not call there.
  boolean onConnected(Endpoint from) {
    Attempt attempt = find(from.node());
    if (attempt == null || !from.equals(attempt.call)) {
      return false;
    }
    end(attempt, from);
    return true;
  }

  private void end(Attempt attempt, Endpoint endpoint) {
    attempts.remove(attempt);
    mesh.connected(attempt.peer, endpoint);
  }

  /// An endpoint has ended; false if it is none of these.
  boolean onFailure(Endpoint from, String what) {
    Attempt attempt = find(from.node());
    if (attempt == null) {
      return false;
    }
    if (from.equals(attempt.call)) {
      attempt.call = null;
      attempt.greets = false;
      attempt.failure = what;
      attempt.retryNanos = mesh.now() + PAUSE_NANOS;
      return true;
    }
    if (from.equals(attempt.taken)) {
      attempt.taken = null;
      return true;
    }
    return false;
  }

  /// Once per duty cycle.
  ///
  /// Hot path.
  void turn() {
    if (!attempts.isEmpty()) {
      for (Attempt attempt : List.copyOf(attempts)) {
        advance(attempt);
      }
    }
  }

  private void advance(Attempt attempt) {
    long now = mesh.now();
    if (attempt.peer.isGone()) {
      attempts.remove(attempt);
      close(attempt);
    } else if (attempt.taken != null) {
      sayConnected(attempt);
    } else if (!attempt.wanted) {
      attempts.remove(attempt); // the peer called, and ended before it was told
    } else if (now - attempt.since > Span.nanos(deadline)) {
      attempts.remove(attempt);
      close(attempt);
      mesh.lose(
          attempt.peer.rank(),
          mesh.topology().describe(peers.self())
              + " had something to send and could not connect to it for "
              + Span.millis(deadline) / 1000.0
              + " s: "
              + attempt.failure
              + "; it may have left or ended, or raise --start-deadline");
    } else if (now - attempt.retryNanos >= 0) {
      call(attempt);
      sayGreeting(attempt);
    }
  }

  private static void close(Attempt attempt) {
    if (attempt.call != null) {
      attempt.call.close();
    }
    if (attempt.taken != null) {
      attempt.taken.close();
    }
  }
}
