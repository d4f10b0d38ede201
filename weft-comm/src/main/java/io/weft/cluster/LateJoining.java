// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import io.weft.agent.Ticker;
import io.weft.comm.CommException;
import io.weft.transport.Endpoint;
import io.weft.transport.limit.ClampedDuration;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/// The entry of a rank into a running job. The rank calls all remaining ranks below it, and each of
/// them admits it. It does not wait for a rank that is lost or leaves while it joins. User thread.
final class LateJoining {

  private static final long AWAIT_NANOS = 1_000_000;

  /// Interval between two requests for the lost ranks.
  private static final long ASK_NANOS = 200_000_000L;

  private final Mesh mesh;
  private final PeerTable peers;
  private final Connector connector;
  private final FailureTracker failureTracker;
  private final Duration deadline;
  private final MemorySegment greeting;

  LateJoining(
      Mesh mesh,
      PeerTable peers,
      Connector connector,
      FailureTracker failureTracker,
      Duration deadline) {
    this.mesh = mesh;
    this.peers = peers;
    this.connector = connector;
    this.failureTracker = failureTracker;
    this.deadline = deadline;
    this.greeting = new MeshFrame.Join(peers.topology().members().get(peers.self())).encode();
  }

  /// Runs until the rank has joined. Members without addresses are gone. Throws
  /// `CommException.Setup`.
  void run(Ticker ticker) {
    connector.limit(deadline.multipliedBy(2)); // this method's own deadline passes first
    connector.greet(greeting);
    for (Member member : peers.topology().members()) {
      if (member.rank() != peers.self() && member.addresses().isEmpty()) {
        failureTracker.isAbsent(member.rank());
      } else if (member.rank() != peers.self()) {
        var unused = connector.connect(peers.at(member.rank()));
      }
    }
    long start = ticker.nanos();
    long asked = start;
    while (!hasEntered() || mesh.obstacle() != null) {
      long now = ticker.nanos();
      Joining.Obstacle obstacle = mesh.obstacle();
      if (obstacle != null) {
        throw failed("cannot join the job: " + obstacle.why(), obstacle.ranks());
      }
      if (now - start > ClampedDuration.nanos(deadline)) {
        throw tooLate();
      }
      if (now - asked > ASK_NANOS) {
        asked = now;
        askWhoIsGone();
      }
      if (mesh.pollJoining(now) == 0) {
        mesh.transport().await(AWAIT_NANOS);
      }
    }
    if (peers.live() == 0) {
      throw failed(
          "cannot join the job: all its ranks have left or are lost, so it has ended", List.of());
    }
  }

  private boolean hasEntered() {
    return !mesh.isPuzzled() && peers.awaited().isEmpty();
  }

  /// Requests the lost ranks from the peers that have admitted this rank, which may know more by
  /// now.
  private void askWhoIsGone() {
    for (int peer = 0; peer < peers.size(); peer++) {
      Endpoint endpoint = peers.at(peer).live();
      if (endpoint != null) {
        var unused = endpoint.trySend(greeting);
      }
    }
  }

  private CommException tooLate() {
    List<Integer> missing = peers.awaited();
    String trouble = mesh.transport().trouble();
    return failed(
        "cannot join the job: no answer from "
            + String.join(", ", missing.stream().map(mesh.topology()::describe).toList())
            + " after "
            + ClampedDuration.millis(deadline) / 1000.0
            + " s"
            + (missing.isEmpty() ? "" : " (" + connector.failure(missing.getFirst()) + ")")
            + (trouble.isEmpty() ? "" : ": it " + trouble)
            + (peers.live() == 0
                ? "; no rank of the job has answered: it has ended, it is another job, or its"
                    + " addresses cannot be reached from here"
                : "; check that these ranks run and that their addresses can be reached from here,"
                    + " or raise --start-deadline"),
        missing);
  }

  private CommException failed(String how, List<Integer> ranks) {
    List<Integer> all = Stream.concat(ranks.stream(), Stream.of(mesh.rank())).distinct().toList();
    return new CommException.Setup(mesh.topology().describe(mesh.rank()) + " " + how, all, null);
  }
}
