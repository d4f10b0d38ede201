// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import io.weft.transport.Endpoint;
import java.util.ArrayList;
import java.util.List;

/// The state of the ranks that have left a mesh or are lost, about which it notifies the services
/// of this rank and all other ranks. Failures are fail-stop: when one rank gives a peer up, all
/// ranks do, including those that still reach it. A rank that learns that it was given up ends all
/// its connections. Confined to the progress thread.
final class FailureTracker {

  private final Mesh mesh;
  private final MeshServices services;
  private final LivenessMonitor liveness;
  private final LossBroadcast lossBroadcast;
  private final ClosingPeers closingPeers = new ClosingPeers();
  private final PeerTable peers;

  /// The time for which a joining rank waits for another rank's reason to end.
  private static final long EXPLANATION_NANOS = 200_000_000L;

  /// Connections that broke for an unknown reason. If they broke after this rank stood still for
  /// long, the peers are lost, or they have given this rank up and could not tell it. If they broke
  /// while this rank joins, the peers may have told their reason to others but not yet to this
  /// rank.
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

  /// Returns whether this peer was given up, so that its further messages are ignored.
  boolean isCondemned(int peer) {
    return peers.isPeer(peer) && peers.at(peer).isGone() && !peers.at(peer).hasLeft();
  }

  /// Returns whether a rank that was given up is still to be told.
  boolean isParting() {
    return closingPeers.isOpen();
  }

  /// Stops notifying the services, because this rank leaves.
  void fallSilent() {
    silent = true;
  }

  /// Runs once per duty cycle. Returns the amount of work done.
  ///
  /// Hot path.
  int poll() {
    closingPeers.poll(mesh.now());
    return unexplained.isEmpty() ? lossBroadcast.flush() : explain();
  }

  /// Tells the other ranks that have room that this rank ends, and why.
  void resign(String why) {
    lossBroadcast.add(new MeshFrame.Lost(mesh.rank(), mesh.rank(), why, ""));
    var unused = lossBroadcast.flush();
  }

  /// Returns whether this peer has not yet been told of all losses.
  boolean hasPending(int peer) {
    return lossBroadcast.hasPending(peer);
  }

  /// Notes that a peer is connected, which may happen while this rank ends.
  void met() {
    lossBroadcast.tellAnother();
  }

  /// Notes that a peer that joins the running job has learned otherwise of all lost ranks.
  void toldAll(int peer) {
    lossBroadcast.skip(peer);
  }

  /// Marks a rank that, according to another rank, was gone before this rank joined. The report is
  /// ignored if this rank is connected with it, because this rank observes that connection itself.
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

  void leave(int peer) {
    if (!peers.at(peer).isGone()) {
      peers.at(peer).leaves();
      anyLeft = true;
      if (!silent) {
        var unused = services.onPeerGone(peer, new PeerExit.Left());
      }
    }
  }

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

  /// Handles a failed connection to a rank, which may have ended and told its reason to others.
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

  /// Handles another rank's report of a loss. It counts even if the lost rank has said goodbye to
  /// this one: the reporter has not received the goodbye, so its operations have failed, and they
  /// fail here for the same reason.
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

  /// Returns whether a connection broke for a reason that another rank may still report.
  boolean isPuzzled() {
    return !unexplained.isEmpty();
  }

  boolean hasAnyLeft() {
    return anyLeft;
  }

  /// Gives a rank up. Only the first reason counts. The rank is told the reason if it can still be
  /// reached, and all others learn of the loss.
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

  /// Handles a loss on another progress thread of this rank: of a peer, or of this rank itself.
  void toldHere(MeshFrame.Lost lost) {
    if (lost.rank() != mesh.rank()) {
      told(lost);
    } else if (lost.witness() == mesh.rank()) {
      cutOff(lost.why());
    } else {
      exclude(lost.witness(), lost.why());
    }
  }

  void exclude(int witness, String why) {
    if (end(witness, why, liveness.excluded(witness, why))) {
      mesh.tellThreads(new MeshFrame.Lost(mesh.rank(), witness, why, ""));
    }
  }

  /// Gives up this rank itself instead of all others, because it receives nothing from any of them.
  void cutOff(String why) {
    String self = mesh.topology().describe(mesh.rank()) + ", this rank, ";
    if (end(mesh.rank(), "it " + why, self + why)) {
      mesh.tellThreads(new MeshFrame.Lost(mesh.rank(), mesh.rank(), why, ""));
    }
  }

  /// Ends this rank's part in the job. The other ranks close their ends when they have read the
  /// reason. Returns false if it had ended before.
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
