// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import io.weft.transport.Endpoint;
import java.util.ArrayList;
import java.util.List;

/// Who has gone from a mesh, and how that reaches the services here and all other ranks. Failures
/// are fail-stop: whom one rank gives up, all give up, also those that still reach it; and a rank
/// that learns that it was given up ends all its connections. Confined to the progress thread.
final class FailureTracker {

  private final Mesh mesh;
  private final MeshServices services;
  private final LivenessMonitor liveness;
  private final LossBroadcast lossBroadcast;
  private final ClosingPeers closingPeers = new ClosingPeers();
  private final PeerTable peers;

  /// How long a rank that joins waits for the reason why another one ended.
  private static final long EXPLANATION_NANOS = 200_000_000L;

  /// Connections that broke when this rank had stood still for long: either those ranks are lost,
  /// or they have given this one up and could not say so. And those that broke while it joins: a
  /// rank that cannot join ends, and has perhaps told others why, but not yet this one.
  private final List<MeshFrame.Lost> unexplained = new ArrayList<>();

  private long unexplainedNanos;
  private boolean stoodStill;

  private boolean excluded;
  private boolean anyLeft;
  private boolean silent;

  FailureTracker(Mesh mesh, MeshServices services, LivenessMonitor liveness, PeerTable peers) {
    this.mesh = mesh;
    this.services = services;
    this.liveness = liveness;
    this.lossBroadcast = new LossBroadcast(peers);
    this.peers = peers;
  }

  /// Whether this peer was given up, so that what it still says does not count.
  boolean isCondemned(int peer) {
    return peers.isPeer(peer) && peers.at(peer).isGone() && !peers.at(peer).hasLeft();
  }

  /// Whether a rank that was given up is still to be told.
  boolean isParting() {
    return closingPeers.isOpen();
  }

  /// This rank leaves: the services hear of nobody any more.
  void fallSilent() {
    silent = true;
  }

  /// Once per duty cycle; returns the amount of work done.
  ///
  /// Hot path.
  int turn() {
    closingPeers.turn(mesh.now());
    return unexplained.isEmpty() ? lossBroadcast.flush() : explain();
  }

  /// Tells the others, as far as there is room, that this rank ends, and why.
  void resign(String why) {
    lossBroadcast.add(new MeshFrame.Lost(mesh.rank(), mesh.rank(), why, ""));
    var unused = lossBroadcast.flush();
  }

  /// Whether this peer has not been told of all losses yet.
  boolean hasPending(int peer) {
    return lossBroadcast.hasPending(peer);
  }

  /// A peer is connected, perhaps while this rank ends.
  void met() {
    lossBroadcast.tellAnother();
  }

  /// A peer that joins while the job runs has heard otherwise of all that are gone.
  void toldAll(int peer) {
    lossBroadcast.skip(peer);
  }

  /// A rank was gone before this one came, as another one says. Not that of a rank with which this
  /// one is connected: what becomes of it is seen here.
  void isAbsent(int rank) {
    Peer peer = peers.at(rank);
    boolean broken = unexplained.removeIf(own -> own.rank() == rank);
    if (broken || (!peer.isGone() && peer.endpoint() == null)) {
      peer.isAbsentFromTheStart();
      anyLeft = true;
      if (!silent) {
        var unused = services.onPeerGone(rank, new PeerExit.Left());
      }
    }
  }

  /// A rank has said good-bye.
  void leave(int peer) {
    if (!peers.at(peer).isGone()) {
      peers.at(peer).leaves();
      anyLeft = true;
      if (!silent) {
        var unused = services.onPeerGone(peer, new PeerExit.Left());
      }
    }
  }

  /// The connection to a rank broke.
  void breakOff(int peer, String what) {
    if (peers.at(peer).isGone()) {
      return;
    }
    var lost = new MeshFrame.Lost(peer, mesh.rank(), liveness.broken(peer, what), "");
    boolean mayBeGivenUp = liveness.mayBeGivenUp();
    if (!silent && (mayBeGivenUp || mesh.isJoining())) {
      peers.at(peer).goes();
      unexplainedNanos = unexplained.isEmpty() ? mesh.now() : unexplainedNanos;
      unexplained.add(lost);
      stoodStill |= mayBeGivenUp;
    } else {
      lose(lost);
    }
  }

  /// No connection could be made to a rank, which has perhaps ended and told others why.
  void unreached(int peer, String what) {
    if (!peers.at(peer).isGone()) {
      peers.at(peer).goes();
      String why = mesh.topology().describe(mesh.rank()) + " has no connection to it: " + what;
      unexplainedNanos = unexplained.isEmpty() ? mesh.now() : unexplainedNanos;
      unexplained.add(new MeshFrame.Lost(peer, mesh.rank(), why, ""));
    }
  }

  private int explain() {
    boolean mayBeGivenUp = liveness.mayBeGivenUp();
    boolean joining =
        mesh.isEntering()
            || (mesh.isJoining() && mesh.now() - unexplainedNanos < EXPLANATION_NANOS);
    boolean wait = mayBeGivenUp || joining;
    int live = peers.live();
    if (stoodStill && (wait ? live == 0 : live < unexplained.size())) {
      exclude(unexplained.getFirst().rank(), liveness.presumed());
    } else if (!wait) {
      List<MeshFrame.Lost> others = List.copyOf(unexplained);
      unexplained.clear();
      stoodStill = false;
      for (MeshFrame.Lost lost : others) {
        peers.at(lost.rank()).remains();
        lose(lost);
      }
    }
    return lossBroadcast.flush();
  }

  /// Another rank has lost one. That this one has said good-bye here does not count: the other has
  /// not heard it, so its operations have failed, and they fail here for the same reason.
  void told(MeshFrame.Lost lost) {
    if (lost.rank() >= peers.size()) {
      mesh.admissions().isLost(lost.rank());
      return;
    }
    if (peers.at(lost.rank()).isAbsent()) {
      return;
    }
    boolean broken = unexplained.removeIf(own -> own.rank() == lost.rank());
    Peer peer = peers.at(lost.rank());
    if (peer.hasLeft() || broken) {
      peer.remains();
    }
    lose(lost);
  }

  /// Whether a connection broke for a reason that may still be told.
  boolean isPuzzled() {
    return !unexplained.isEmpty();
  }

  /// Whether any rank has said good-bye.
  boolean hasAnyLeft() {
    return anyLeft;
  }

  /// The first word about a rank counts: it is told why it was given up, if it can still be
  /// reached, and all others are told.
  void lose(MeshFrame.Lost lost) {
    int peer = lost.rank();
    if (peers.at(peer).isGone()) {
      return;
    }
    Endpoint endpoint = mesh.live(peer);
    peers.at(peer).goes();
    if (endpoint != null) {
      if (excluded) {
        endpoint.close();
      } else {
        closingPeers.part(endpoint, lost, mesh.now());
      }
    }
    if (silent || excluded) {
      return;
    }
    if (!mesh.isEntering()) {
      mesh.hinder(
          mesh.topology().describe(peer)
              + " is lost: "
              + lost.why()
              + (lost.witness() == mesh.rank()
                  ? ""
                  : "; noticed by " + mesh.topology().describe(lost.witness())),
          List.of(peer, lost.witness()));
    }
    var loss = new PeerExit.Lost(lost.witness(), lost.why(), lost.where());
    String waited = services.onPeerGone(peer, loss);
    lossBroadcast.add(lost.witness() == mesh.rank() ? lost.waitingIn(waited) : lost);
    mesh.tellThreads(lost);
  }

  /// Another progress thread of this rank has lost a rank, or this one with all its threads.
  void toldHere(MeshFrame.Lost lost) {
    if (lost.rank() != mesh.rank()) {
      told(lost);
    } else if (lost.witness() == mesh.rank()) {
      cutOff(lost.why());
    } else {
      exclude(lost.witness(), lost.why());
    }
  }

  /// Others have given this rank up.
  void exclude(int witness, String why) {
    if (end(witness, why, liveness.excluded(witness, why))) {
      mesh.tellThreads(new MeshFrame.Lost(mesh.rank(), witness, why, ""));
    }
  }

  /// This rank hears nobody: rather than give all others up, it gives up itself.
  void cutOff(String why) {
    String self = mesh.topology().describe(mesh.rank()) + ", this rank, ";
    if (end(mesh.rank(), "it " + why, self + why)) {
      mesh.tellThreads(new MeshFrame.Lost(mesh.rank(), mesh.rank(), why, ""));
    }
  }

  /// The others close their ends when they have read why. False if it was over before.
  private boolean end(int witness, String why, String words) {
    if (silent || excluded) {
      return false;
    }
    excluded = true;
    unexplained.clear();
    mesh.hinder(words, List.of(mesh.rank(), witness));
    lossBroadcast.add(new MeshFrame.Lost(mesh.rank(), witness, why, ""));
    var unused = lossBroadcast.flush();
    services.onExcluded(witness, words);
    return true;
  }
}
