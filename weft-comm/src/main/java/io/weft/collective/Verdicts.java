// SPDX-License-Identifier: Apache-2.0
package io.weft.collective;

import io.weft.CommException;
import io.weft.transport.TransportException;
import java.util.List;
import java.util.Locale;
import java.util.Objects;

/// The words of failures: who, what, how long, what to do.
final class Verdicts {

  private static final int MAX_NAMED = 6;

  private Verdicts() {}

  static CommException lost(
      Group group, int member, List<Operation<?>> waiting, long now, TransportException cause) {
    String what =
        waiting.isEmpty()
            ? "no operation was waiting"
            : group.self()
                + " waited in "
                + String.join(
                    "; ", waiting.stream().limit(MAX_NAMED).map(o -> o.describe(now)).toList())
                + (waiting.size() > MAX_NAMED
                    ? "; and " + (waiting.size() - MAX_NAMED) + " more"
                    : "");
    return new CommException.PeerLost(
        group.describe(member)
            + " is lost ("
            + Objects.requireNonNullElse(cause.getMessage(), cause.toString())
            + "); "
            + what
            + "; look at that rank's own output for the reason",
        group.world(member),
        cause);
  }

  static CommException left(Operation<?> operation, int member, long now) {
    return new CommException.PeerLost(
        operation.group().describe(member)
            + " left the job while "
            + operation.group().self()
            + " waited for it in "
            + operation.describe(now)
            + "; all ranks must submit the same operations before they close",
        operation.group().world(member),
        null);
  }

  static CommException gone(Group group, int member, String how) {
    return new CommException.PeerLost(
        group.describe(member) + " " + how + "; make a communicator of the others",
        group.world(member),
        null);
  }

  static CommException closed(Group group) {
    return new CommException.Aborted("this communicator of " + group.self() + " is closed", null);
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
                        (now - collectives.mesh().lastSeen(group.world(m))) / 1e9))
            .toList();
    String message =
        group.self()
            + ": "
            + operation.describe(now)
            + ", its deadline: "
            + String.join("; ", named)
            + (silent.size() > MAX_NAMED ? "; and " + (silent.size() - MAX_NAMED) + " more" : "")
            + "; see what these ranks do, or raise --deadline";
    List<Integer> world = silent.stream().map(group::world).toList();
    return new CommException.Aborted(message, new CommException.TimedOut(message, world));
  }
}
