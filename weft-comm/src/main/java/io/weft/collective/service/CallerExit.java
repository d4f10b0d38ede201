// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.service;

import io.weft.agent.AgentRunner;
import io.weft.cluster.Mesh;
import io.weft.collective.group.Group;

/// How the callers of a short operation leave it together. Who waited for its peer has what it
/// brings while the peer is still in the call that brings it, and would be ahead of it by that in
/// the next operation, and the next. Two ranks that send at about the same time disturb each other
/// least, and most where one sends while the other's bytes are being delivered. See ADR 0077.
///
/// @param nanos how much later who waited leaves; 0 = at once
record CallerExit(long nanos) {

  /// So many turns of the progress thread send and receive where a peer's bytes are there already.
  private static final int TURNS_WITHOUT_WAIT = 3;

  private static final long MOST_BYTES = 4096;
  private static final long LONGEST_NANOS = 40_000;

  /// For a communicator, by its transport and where its members are.
  static CallerExit of(Group group, Mesh mesh) {
    boolean together = group.hosts().stream().distinct().count() == 1;
    int processors = mesh.topology().processors(mesh.rank());
    boolean apart = mesh.topology().localSize(mesh.rank()) <= processors;
    return new CallerExit(together && apart ? mesh.transport().partingNanos() : 0);
  }

  /// Waits, if the caller had to wait for a peer in an operation of so many bytes that began a
  /// moment ago.
  ///
  /// Hot path.
  ///
  /// @param turns how often it asked whether the operation is done
  void leave(int turns, long bytes, long sinceNanos, AgentRunner runner) {
    if (nanos == 0 || turns <= TURNS_WITHOUT_WAIT || bytes > MOST_BYTES) {
      return;
    }
    long now = runner.nanos();
    if (now - sinceNanos < LONGEST_NANOS) {
      long end = now + nanos;
      while (runner.nanos() - end < 0) {
        Thread.onSpinWait();
      }
    }
  }
}
