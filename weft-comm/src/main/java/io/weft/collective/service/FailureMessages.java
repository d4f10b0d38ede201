// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.service;

import io.weft.cluster.Mesh;
import io.weft.cluster.PeerExit;
import io.weft.cluster.Topology;
import io.weft.collective.group.Group;
import io.weft.comm.CommException;
import io.weft.transport.TransportException;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// The texts of failures: the rank, the operation, the time and the remedy.
final class FailureMessages {

  private static final int MAX_NAMED = 6;

  /// The code of an abort that a rank requested or that a protocol violation caused.
  private static final int ABORTED = 0;

  /// The code of an abort because a deadline has passed.
  private static final int OVERDUE = 2;

  private FailureMessages() {}

  /// Returns the code of a cause in an ABORT message, so that all ranks throw the same type.
  static int code(CommException cause) {
    return cause.getCause() instanceof CommException.TimedOut ? OVERDUE : ABORTED;
  }

  /// Returns the cause that another member gave when it aborted the communicator.
  static CommException told(int code, String text, int culprit, String by) {
    String words = text + "; said by " + by;
    CommException.@Nullable TimedOut overdue =
        code == OVERDUE
            ? new CommException.TimedOut(words, culprit < 0 ? List.of() : List.of(culprit))
            : null;
    return new CommException.Aborted(words, culprit, overdue);
  }

  /// A lost rank, the rank that noticed the loss, and the words of `loss`.
  record Lost(int rank, int witness, String words) {}

  /// Describes the loss of a rank, with the same first words on all ranks.
  static String loss(Mesh mesh, int rank, PeerExit.Lost loss) {
    Topology topology = mesh.topology();
    String words = topology.describe(rank) + " is lost: " + loss.why();
    if (loss.witness() == mesh.rank()) {
      return words;
    }
    String noticed = words + "; noticed by " + topology.describe(loss.witness());
    return loss.where().isEmpty() ? noticed : noticed + ", which waited in " + loss.where();
  }

  static CommException lost(Group group, Lost lost, List<Operation<?>> waiting, long now) {
    return new CommException.PeerLost(
        lost.words
            + "; "
            + group.self()
            + " waited in "
            + (waiting.isEmpty() ? "no operation" : list(waiting, now))
            + "; look at "
            + group.describe(group.member(lost.rank))
            + "'s own output for the reason",
        lost.rank,
        lost.witness,
        null);
  }

  /// Describes the operations; empty if there are none.
  static String list(List<Operation<?>> waiting, long now) {
    return waiting.stream()
            .limit(MAX_NAMED)
            .map(o -> o.describe(now))
            .collect(Collectors.joining("; "))
        + (waiting.size() > MAX_NAMED ? "; and " + (waiting.size() - MAX_NAMED) + " more" : "");
  }

  static CommException left(Operation<?> operation, int member, long now) {
    return left(operation, member, operation.group().rank(), now);
  }

  /// Describes the exit of a member while another member, `needy`, waited for it.
  static CommException left(Operation<?> operation, int member, int needy, long now) {
    Group group = operation.group();
    String who = needy == group.rank() ? group.self() : group.describe(needy);
    return new CommException.PeerLost(
        group.describe(member)
            + " left the job while "
            + who
            + " waited for it in "
            + operation.describe(now)
            + "; all ranks must submit the same operations before they close",
        group.world(member),
        null);
  }

  /// Describes a lost member of a communicator that was created after the loss.
  static CommException gone(Lost lost) {
    return new CommException.PeerLost(
        lost.words + "; create a communicator of the others", lost.rank, lost.witness, null);
  }

  static CommException past(Group group) {
    return new CommException.Aborted(
        "this communicator of "
            + group.self()
            + " belongs to epoch "
            + group.epoch()
            + ", which has ended; use the one that Weft.shrink returned",
        null);
  }

  static CommException closed(Group group) {
    return new CommException.Aborted("this communicator of " + group.self() + " is closed", null);
  }

  static CommException crashed(Mesh mesh, Throwable cause) {
    return new CommException.Aborted(
        mesh.topology().describe(mesh.rank())
            + ": the progress thread has died of "
            + cause
            + "; this is a defect, please report it with the log",
        mesh.rank(),
        cause);
  }

  /// Describes an exception of an operation on the progress thread.
  static CommException broken(Operation<?> operation, Throwable thrown) {
    return broken(operation.group(), operation.describe(), thrown);
  }

  /// Describes an exception of an operation before it has begun.
  static CommException broken(Group group, String what, Throwable thrown) {
    String text = String.valueOf(thrown.getMessage());
    // The messages of java.lang.foreign, and of the transports.
    boolean closed =
        (thrown instanceof IllegalStateException && text.equals("Already closed"))
            || (thrown instanceof TransportException && text.endsWith("its arena is closed"));
    return new CommException.Broken(
        group.self()
            + ": "
            + what
            + (closed
                ? " has lost a tensor, whose arena was closed during the operation; keep the"
                    + " arena open until await has returned"
                : " failed with " + thrown),
        group.world(group.rank()),
        thrown);
  }

  static CommException overdue(Operation<?> operation, Collectives collectives) {
    Group group = operation.group();
    List<Integer> silent = operation.silent();
    long now = collectives.now();
    List<String> named =
        silent.stream()
            .limit(MAX_NAMED)
            .map(
                m ->
                    String.format(
                        Locale.ROOT,
                        "%s %s (last heard %.1f s ago)",
                        group.describe(m),
                        operation.excuse(m),
                        Math.max(0, now - collectives.mesh().lastSeen(group.world(m))) / 1e9))
            .toList();
    String message =
        group.self()
            + " waited in "
            + operation.describe(now)
            + ", its deadline: "
            + String.join("; ", named)
            + (silent.size() > MAX_NAMED ? "; and " + (silent.size() - MAX_NAMED) + " more" : "")
            + "; check these ranks, or raise --deadline";
    List<Integer> world = silent.stream().map(group::world).toList();
    return new CommException.Aborted(
        message, operation.culprit(), new CommException.TimedOut(message, world));
  }

  /// Describes a lack of memory for the result of an operation.
  static CommException noRoom(Operation<?> operation, OutOfMemoryError cause) {
    return new CommException.Aborted(
        operation.group().self()
            + ": "
            + operation.describe()
            + " has no memory for its result: "
            + cause.getMessage()
            + "; native memory is limited by -XX:MaxDirectMemorySize (by default the heap's -Xmx)",
        cause);
  }
}
