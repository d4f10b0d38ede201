// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.elastic;

import io.weft.cluster.Mesh;
import io.weft.comm.CommException;
import io.weft.transport.limit.ClampedDuration;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;

/// The messages with which agreements end epochs and fail.
final class Reasons {

  private static final int MAX_NAMED = 6;

  private Reasons() {}

  /// Returns the error for the objects of the previous epoch.
  static CommException revoked(Mesh mesh, int by) {
    return new CommException.Aborted(
        mesh.topology().describe(by)
            + " continues with the remaining ranks; call Weft.shrink on this rank too, and use"
            + " the communicator that it returns",
        null);
  }

  static CommException late(Mesh mesh, Agreement agreement, Duration limit) {
    List<Integer> missing = agreement.missing();
    return new CommException.TimedOut(
        self(mesh)
            + ": shrinking the job after epoch "
            + agreement.epoch()
            + " waited "
            + seconds(limit)
            + " for "
            + named(mesh, missing)
            + "; all remaining ranks must call Weft.shrink: check these ranks, then call it again"
            + " or end",
        missing);
  }

  static CommException tooFew(Mesh mesh, Agreement agreement) {
    List<Integer> alive = agreement.alive();
    List<Integer> lost = agreement.lost();
    return new CommException.Aborted(
        self(mesh)
            + ": of the "
            + agreement.before()
            + " ranks before the failure "
            + (alive.size() == 1 ? "this one alone is" : "only " + alive + " are")
            + " left, which is not a majority, after the loss of "
            + named(mesh, lost)
            + "; the others may continue without them behind a broken network, so end this"
            + " process, or set --shrink-quorum any if a loss is certain to be a crash",
        lost.isEmpty() ? -1 : lost.getFirst(),
        null);
  }

  static CommException excluded(Mesh mesh, int by) {
    return new CommException.Aborted(
        self(mesh)
            + " is out of the job: "
            + mesh.topology().describe(by)
            + " and others considered it lost and continued without it; end this process, and"
            + " find out why it stood still or could not be reached",
        null);
  }

  static CommException closed(Mesh mesh) {
    return new CommException.Aborted(self(mesh) + " has left the job", null);
  }

  static CommException crashed(Mesh mesh, Throwable cause) {
    return new CommException.Aborted(
        self(mesh) + ": the progress thread has died of " + cause + "; look at the log", cause);
  }

  private static String self(Mesh mesh) {
    return mesh.topology().describe(mesh.rank());
  }

  private static String named(Mesh mesh, List<Integer> ranks) {
    return ranks.stream()
            .limit(MAX_NAMED)
            .map(mesh.topology()::describe)
            .collect(Collectors.joining(", "))
        + (ranks.size() > MAX_NAMED ? " and " + (ranks.size() - MAX_NAMED) + " more" : "");
  }

  private static String seconds(Duration limit) {
    return ClampedDuration.millis(limit) < 10_000
        ? ClampedDuration.millis(limit) + " ms"
        : limit.toSeconds() + " s";
  }
}
