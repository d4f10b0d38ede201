// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// The ranks of a job as one of them knows them, by world rank. It only grows: a rank that is gone
/// keeps its number and its place, a rank that is added gets the next one. Confined to the progress
/// thread, but for `topology` and `connected`.
final class PeerTable {

  private static final int FIRST_CAPACITY = 8;

  private final int self;
  private Peer[] peers = new Peer[FIRST_CAPACITY];
  private int size;
  private int made;
  private volatile Topology topology = new Topology(0, List.of());
  private volatile int connected;

  /// Of this rank, in a job of which nothing is known yet.
  PeerTable(int self) {
    this.self = self;
  }

  /// The first members of the job.
  void begin(Topology members) {
    topology = members;
    for (int rank = size; rank < members.size(); rank++) {
      add();
    }
  }

  /// One more rank. Throws `IllegalArgumentException` where its number is not the next one.
  void append(Member member) {
    var more = new ArrayList<>(topology.members());
    more.add(member);
    topology = new Topology(topology.epoch(), more);
    add();
  }

  private void add() {
    if (size == peers.length) {
      peers = Arrays.copyOf(peers, 2 * size);
    }
    peers[size] = new Peer(size);
    size++;
  }

  /// Who is there. Any thread.
  Topology topology() {
    return topology;
  }

  /// How many ranks there are and were, this one included.
  int size() {
    return size;
  }

  int self() {
    return self;
  }

  /// Hot path.
  Peer at(int rank) {
    if (rank >= size) {
      throw new IndexOutOfBoundsException("rank " + rank + " of " + size);
    }
    return peers[rank];
  }

  /// Whether there is another rank of this number.
  boolean isPeer(int rank) {
    return rank >= 0 && rank < size && rank != self;
  }

  /// An endpoint was made.
  void countConnected() {
    connected = ++made;
  }

  /// How many endpoints were made. Any thread.
  int connected() {
    return connected;
  }

  /// With how many ranks this one is connected.
  int live() {
    int live = 0;
    for (int rank = 0; rank < size; rank++) {
      live += peers[rank].live() == null ? 0 : 1;
    }
    return live;
  }

  /// Those that are not gone and to which no endpoint was made, without this one.
  List<Integer> awaited() {
    return missing().stream().filter(rank -> !peers[rank].isGone()).toList();
  }

  /// The ranks to which no endpoint was made, without this one.
  List<Integer> missing() {
    var missing = new ArrayList<Integer>();
    for (int rank = 0; rank < size; rank++) {
      if (rank != self && peers[rank].endpoint() == null) {
        missing.add(rank);
      }
    }
    return missing;
  }
}
