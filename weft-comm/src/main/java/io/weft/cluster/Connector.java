// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import io.weft.transport.Address;
import io.weft.transport.Endpoint;
import io.weft.transport.PostResult;
import io.weft.transport.limit.ClampedDuration;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// The connections made on demand, when a service first has a message for a rank. The rank with the
/// message calls. The called rank answers CONNECTED, after which both may send. If both call at
/// once, the call of the lower rank stands: the lower rank refuses the other call, and the higher
/// rank drops its own. A failed call is repeated until the deadline, after which the rank is lost.
/// Confined to the progress thread.
final class Connector {

  private static final long PAUSE_NANOS = ClampedDuration.nanos(Duration.ofMillis(50));

  private final Mesh mesh;
  private final PeerTable peers;
  private final MemorySegment connectedFrame = new MeshFrame.Connected().encode();
  private final List<Attempt> attempts = new ArrayList<>(0);
  private Duration deadline = Duration.ZERO;

  /// The first message of a rank that joins a running job; null on other ranks.
  private @Nullable MemorySegment greeting;

  /// An attempt to connect with one rank.
  private static final class Attempt {
    final Peer peer;
    final UnconnectedEndpoint standIn;
    final long since;

    /// This rank's call; null between two calls.
    @Nullable Endpoint call;

    /// The accepted call of the peer, until there is room for the answer.
    @Nullable Endpoint taken;

    /// The message that accepts the peer's call.
    MemorySegment answer;

    /// True while the call waits for room for the greeting.
    boolean greets;

    /// True if this rank itself has a message for the peer.
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

  /// Sets the longest time of an attempt, after which the peer counts as lost.
  void limit(Duration limit) {
    deadline = limit;
  }

  /// Sets the message with which calls begin from now on.
  void greet(MemorySegment first) {
    greeting = first;
  }

  /// Begins to connect with a rank, unless an attempt is in progress. Returns an endpoint that
  /// never has room; the caller must ask the mesh again.
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
      cannotCall(peer, "it offers " + member.addresses() + ", this rank uses " + scheme);
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

  /// Handles a new usable endpoint of a rank that has none: this rank's call or the peer's.
  void onConnect(Endpoint endpoint) {
    Peer peer = peers.at(endpoint.node());
    Attempt known = find(peer.rank());
    if (known != null && endpoint.equals(known.call)) {
      known.greets = greeting != null;
      sayGreeting(known);
      return; // the peer answers if it accepts the call
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

  /// Accepts the call of a rank that was just added, with this answer.
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

  /// Handles the peer's acceptance of this rank's call. Returns false if this rank did not call.
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

  /// Handles the end of an endpoint. Returns false if it is not one of an attempt.
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

  /// Runs once per duty cycle.
  ///
  /// Hot path.
  void poll() {
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
      attempts.remove(attempt); // the peer called, and ended before the answer
    } else if (now - attempt.since > ClampedDuration.nanos(deadline)) {
      attempts.remove(attempt);
      close(attempt);
      mesh.lose(
          attempt.peer.rank(),
          mesh.topology().describe(peers.self())
              + " had data to send and could not connect to it for "
              + ClampedDuration.millis(deadline) / 1000.0
              + " s: "
              + attempt.failure
              + "; if it has not left or ended, raise --start-deadline");
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
