// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import io.weft.agent.Ticker;
import io.weft.comm.CommException;
import io.weft.transport.Address;
import io.weft.transport.limit.ClampedDuration;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/// The start of a mesh, in which this rank calls the ranks below it and waits for those above. It
/// fails as soon as one of them can no longer arrive. User thread.
final class Joining {

  private static final long AWAIT_NANOS = 1_000_000;

  /// The reason why a rank cannot join.
  ///
  /// @param ranks the ranks concerned, see `CommException.Setup.ranks`
  record Obstacle(String why, List<Integer> ranks) {}

  private final Mesh mesh;
  private final Topology members;
  private final Ticker ticker;
  private final Duration deadline;

  Joining(Mesh mesh, Topology members, Ticker ticker, Duration deadline) {
    this.mesh = mesh;
    this.members = members;
    this.ticker = ticker;
    this.deadline = deadline;
  }

  /// Runs until all are connected. Throws `CommException.Setup`.
  void run() {
    for (int peer = 0; peer < mesh.rank(); peer++) {
      connect(members.members().get(peer));
    }
    long start = ticker.nanos();
    while (!mesh.isConnected() || mesh.obstacle() != null) {
      long now = ticker.nanos();
      Obstacle obstacle = mesh.obstacle();
      if (obstacle != null) {
        throw failed(
            "cannot join the job: " + obstacle.why() + "; see that rank's own output",
            obstacle.ranks());
      }
      if (now - start > ClampedDuration.nanos(deadline)) {
        throw without(mesh.missing(), tooLate());
      }
      if (mesh.pollJoining(now) == 0) {
        mesh.transport().await(AWAIT_NANOS);
      }
    }
  }

  private void connect(Member member) {
    Address address = addressOf(member);
    try {
      var unused = mesh.transport().connect(address, member.rank());
    } catch (IllegalArgumentException malformed) {
      throw without(
          List.of(member.rank()),
          "cannot connect to "
              + members.describe(member.rank())
              + ": the address '"
              + address
              + "' that it announced cannot be used ("
              + malformed.getMessage()
              + "); see its --bind, and give all ranks the same version of Weft");
    }
  }

  private CommException failed(String how, List<Integer> ranks) {
    mesh.resign("it " + how);
    return new CommException.Setup(members.describe(mesh.rank()) + " " + how, ranks, null);
  }

  /// Loses the ranks first, so that the other ranks learn the cause before they learn that this
  /// rank ends.
  private CommException without(List<Integer> ranks, String how) {
    for (int peer : ranks) {
      mesh.lose(peer, members.describe(mesh.rank()) + " " + how);
    }
    return failed(how, Stream.concat(ranks.stream(), Stream.of(mesh.rank())).toList());
  }

  private String tooLate() {
    String trouble = mesh.transport().trouble();
    return "has no connection to "
        + String.join(", ", mesh.missing().stream().map(members::describe).toList())
        + " after "
        + deadline.toSeconds()
        + " s"
        + (trouble.isEmpty() ? "" : ": it " + trouble)
        + "; check that these ranks run and that their addresses can be reached from here, or"
        + " raise --start-deadline";
  }

  private Address addressOf(Member member) {
    String scheme = mesh.transport().address().scheme();
    return member.addresses().stream()
        .filter(a -> a.scheme().equals(scheme))
        .skip(mesh.thread())
        .findFirst()
        .orElseThrow(
            () ->
                new CommException.Setup(
                    "rank "
                        + member.rank()
                        + " on "
                        + member.host()
                        + " offers "
                        + member.addresses()
                        + ", this rank uses "
                        + scheme
                        + "; give all ranks the same --transport and --progress-threads",
                    List.of(member.rank()),
                    null));
  }
}
