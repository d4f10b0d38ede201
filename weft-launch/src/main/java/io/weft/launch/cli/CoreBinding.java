// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import java.util.ArrayList;
import java.util.List;

/// Binds ranks to processors. Each rank gets an equal share of the processors that its host allows
/// it, in the order of local ranks. If there are more ranks than processors, ranks share them
/// round-robin. A shell script on the rank's host does this; it becomes the rank's command.
final class CoreBinding {

  private static final String SCRIPT =
      """
      command -v taskset >/dev/null || {
        echo "weft: to bind ranks to cores, $(uname -n) needs taskset (Debian: util-linux)" >&2
        exit 3
      }
      share() {
        each=$(($# / WEFT_LOCAL_SIZE))
        [ "$each" -ge 1 ] || each=1
        shift $((WEFT_LOCAL_RANK * each % $#))
        mine=$1
        while [ "$each" -gt 1 ]; do
          shift
          mine=$mine,$1
          each=$((each - 1))
        done
      }
      processors=
      for range in $(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status | tr , ' '); do
        next=${range%-*}
        while [ "$next" -le "${range#*-}" ]; do
          processors="$processors $next"
          next=$((next + 1))
        done
      done
      share $processors
      exec taskset -c "$mine" "$@"
      """;

  private CoreBinding() {}

  /// Returns the command that runs this one on the rank's share of the processors.
  static List<String> of(List<String> command) {
    var bound = new ArrayList<>(List.of("/bin/sh", "-c", SCRIPT, "weft"));
    bound.addAll(command);
    return List.copyOf(bound);
  }
}
