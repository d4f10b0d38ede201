// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// One rank's table of the ranks of a job, by world rank. It only grows: a rank that is gone keeps
/// its number and its place, and an added rank gets the next number. Confined to the progress
/// thread, except `topology` and `connected`.
final class PeerTable {

  private static final int FIRST_CAPACITY = 8;

  private final int self;
  private Peer[] peers = new Peer[FIRST_CAPACITY];
  private int size;
  private int made;
  private volatile Topology topology = new Topology(0, List.of());
  private volatile int connected;

  PeerTable(int self) {
    this.self = self;
  }

  void begin(Topology members) {
    topology = members;
    for (int rank = size; rank < members.size(); rank++) {
      add();
    }
  }

  /// Adds one rank. Throws `IllegalArgumentException` if its number is not the next one.
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

  /// The present and past members. Any thread.
  Topology topology() {
    return topology;
  }

  /// Number of present and past ranks, including this one.
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

  /// Returns whether another rank has this number.
  boolean isPeer(int rank) {
    return rank >= 0 && rank < size && rank != self;
  }

  void countConnected() {
    connected = ++made;
  }

  /// Number of endpoints made. Any thread.
  int connected() {
    return connected;
  }

  /// Number of ranks with which this one is connected.
  int live() {
    int live = 0;
    for (int rank = 0; rank < size; rank++) {
      live += peers[rank].live() == null ? 0 : 1;
    }
    return live;
  }

  /// The other ranks that are not gone and to which no endpoint was made.
  List<Integer> awaited() {
    return missing().stream().filter(rank -> !peers[rank].isGone()).toList();
  }

  /// The other ranks to which no endpoint was made.
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
