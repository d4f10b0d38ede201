// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.gradients;

import io.weft.perf.process.Child;
import io.weft.perf.process.PerfException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// A peer program that reduces the tensors of a step sequentially.
///
/// @param command command line that runs all its ranks
/// @param limit time limit of a round
public record GradientsPeer(List<String> command, Duration limit) {

  /// Copies the list.
  public GradientsPeer {
    command = List.copyOf(command);
  }

  /// The output of a round of the peer.
  ///
  /// @param name name and version
  /// @param nanos time of each step
  /// @param checked true if all averages were right
  record PeerRound(String name, List<Long> nanos, boolean checked) {}

  /// Runs a round. Throws `PerfException.Failed`.
  PeerRound round() throws InterruptedException {
    Child.ChildOutput outcome = Child.run(command, limit);
    String name = "";
    List<Long> nanos = new ArrayList<>();
    boolean right = true;
    for (String line : outcome.out()) {
      String[] words = line.split(" ", -1);
      switch (words[0]) {
        case "peer" -> name = line.substring("peer ".length());
        case "times" -> {
          right &= words[2].equals("checked");
          Arrays.stream(words).skip(3).map(Long::valueOf).forEach(nanos::add);
        }
        default -> {}
      }
    }
    if (outcome.exit() != 0 || nanos.isEmpty()) {
      throw new PerfException.Failed(
          "a peer ended with status %d:%n%s%n(%s)"
              .formatted(outcome.exit(), outcome.lastWords(), String.join(" ", command)));
    }
    return new PeerRound(name, nanos, right);
  }
}
