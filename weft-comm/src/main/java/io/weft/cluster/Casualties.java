// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import io.weft.transport.Endpoint;
import java.util.ArrayList;
import java.util.List;

/// Who has gone from a mesh, and how that reaches the services here and all other ranks. Failures
/// are fail-stop: whom one rank gives up, all give up, also those that still reach it; and a rank
/// that learns that it was given up ends all its connections. Confined to the lane's thread.
final class Casualties {

  private final Mesh mesh;
  private final Services services;
  private final Vigil vigil;
  private final Obituaries obituaries;
  private final boolean[] gone;

  /// Connections that broke when this rank had stood still for long: either those ranks are lost,
  /// or they have given this one up and could not say so.
  private final List<MeshFrame.Lost> unexplained = new ArrayList<>();

  private boolean excluded;
  private boolean silent;

  Casualties(Mesh mesh, Services services, Vigil vigil, int size) {
    this.mesh = mesh;
    this.services = services;
    this.vigil = vigil;
    this.obituaries = new Obituaries(mesh, size);
    this.gone = new boolean[size];
  }

  boolean isGone(int peer) {
    return gone[peer];
  }

  /// This rank leaves: the services hear of nobody any more.
  void fallSilent() {
    silent = true;
  }

  /// Once per duty cycle; returns the amount of work done.
  ///
  /// Hot path.
  int turn() {
    return unexplained.isEmpty() ? obituaries.flush() : explain();
  }

  /// Tells the others, as far as there is room, that this rank ends, and why.
  void resign(String why) {
    obituaries.add(new MeshFrame.Lost(mesh.rank(), mesh.rank(), why, ""));
    var unused = obituaries.flush();
  }

  /// A rank has said good-bye.
  void leave(int peer) {
    if (!gone[peer]) {
      gone[peer] = true;
      if (!silent) {
        services.onPeerLeft(peer);
      }
    }
  }

  /// The connection to a rank broke.
  void breakOff(int peer, String what) {
    if (gone[peer]) {
      return;
    }
    var lost = new MeshFrame.Lost(peer, mesh.rank(), vigil.broken(peer, what), "");
    if (!silent && vigil.mayBeGivenUp()) {
      gone[peer] = true;
      unexplained.add(lost);
    } else {
      lose(lost);
    }
  }

  private int explain() {
    if (mesh.isAlone()) {
      exclude(unexplained.getFirst().rank(), vigil.presumed());
    } else if (!vigil.mayBeGivenUp()) {
      List<MeshFrame.Lost> others = List.copyOf(unexplained);
      unexplained.clear();
      for (MeshFrame.Lost lost : others) {
        gone[lost.rank()] = false;
        lose(lost);
      }
    }
    return obituaries.flush();
  }

  /// The first word about a rank counts: it is told why it was given up, if it can still be
  /// reached, and all others are told.
  void lose(MeshFrame.Lost lost) {
    int peer = lost.rank();
    if (gone[peer]) {
      return;
    }
    Endpoint endpoint = mesh.live(peer);
    gone[peer] = true;
    if (endpoint != null) {
      var unused = endpoint.trySend(lost.encode());
      endpoint.close();
    }
    mesh.hinder(mesh.topology().describe(peer) + " is lost: " + lost.why());
    if (!silent) {
      var loss = new MeshService.Loss(lost.witness(), lost.why(), lost.where());
      String waited = services.onPeerLost(peer, loss);
      obituaries.add(lost.witness() == mesh.rank() ? lost.waitingIn(waited) : lost);
    }
  }

  /// Others have given this rank up.
  void exclude(int witness, String why) {
    end(witness, vigil.excluded(witness, why));
  }

  /// This rank hears nobody: rather than give all others up, it gives up itself.
  void cutOff(String why) {
    resign("it " + why);
    end(mesh.rank(), mesh.topology().describe(mesh.rank()) + ", this rank, " + why);
  }

  private void end(int witness, String words) {
    if (silent || excluded) {
      return;
    }
    excluded = true;
    unexplained.clear();
    mesh.hinder(words);
    for (int peer = 0; peer < gone.length; peer++) {
      Endpoint endpoint = mesh.live(peer);
      gone[peer] = peer != mesh.rank();
      if (endpoint != null) {
        endpoint.close();
      }
    }
    services.onExcluded(witness, words);
  }
}
