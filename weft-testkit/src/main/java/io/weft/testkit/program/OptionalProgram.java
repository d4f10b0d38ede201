// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.program;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// A program or library that some tests require; without it they are skipped. Once in a JVM, a
/// script tries it in the way in which the tests use it. A half-installed program, such as a
/// compiler without the headers, is not usable. The system property `weft.test.without` hides
/// programs by name, separated by commas, or `all`. Thread-safe.
public enum OptionalProgram {
  /// A C compiler.
  GCC("gcc", "gcc libc6-dev", "echo 'int main(void) { return 0; }' > a.c; gcc a.c; ./a.out"),

  /// A C++ compiler.
  GXX(
      "g++",
      "g++",
      "printf '#include <vector>\\nint main() { return 0; }\\n' > a.cc; g++ a.cc; ./a.out"),

  /// The library of PyTorch's collectives on processors.
  GLOO(
      "gloo",
      "libgloo-dev g++",
      """
      printf '#include <gloo/allreduce.h>\\nint main() { return 0; }\\n' > a.cc
      g++ -std=gnu++17 a.cc -lgloo -pthread
      ./a.out\
      """),

  /// Open MPI's launcher.
  MPIRUN("mpirun", "openmpi-bin", "mpirun --allow-run-as-root --oversubscribe -np 2 true"),

  /// Open MPI with its compiler and headers.
  OPENMPI(
      "openmpi",
      "openmpi-bin libopenmpi-dev gcc",
      """
      echo '#include <mpi.h>' > a.c
      echo 'int main(void) { MPI_Init(0, 0); return MPI_Finalize(); }' >> a.c
      mpicc a.c
      mpirun --allow-run-as-root --oversubscribe -np 2 ./a.out\
      """),

  /// An ssh server, with its client.
  SSHD(
      "sshd",
      "openssh-server openssh-client",
      """
      ssh -V
      ssh-keygen -q -t ed25519 -N '' -f key
      mkdir -p /run/sshd || [ "$(id -u)" != 0 ]
      printf 'HostKey %s/key\\nPidFile none\\n' "$PWD" > config
      /usr/sbin/sshd -t -f "$PWD/config\"\
      """),

  /// Network namespaces of this host with links between them, which root may create.
  NETWORKS(
      "networks",
      "iproute2 util-linux",
      """
      name=weft-probe-$$
      ip netns add $name
      trap "ip netns delete $name" EXIT
      ip -n $name link add near type veth peer name far
      ip netns exec $name unshare --uts hostname probe
      ip netns exec $name tc qdisc add dev near root tbf rate 1gbit burst 256kb latency 50ms\
      """),

  /// A browser.
  CHROMIUM(
      "chromium",
      "chromium",
      """
      chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \\
        --user-data-dir="$PWD/profile" --dump-dom 'data:text/html,<p>drawn' > page
      grep drawn page\
      """),

  /// The program that binds a process to processors.
  TASKSET("taskset", "util-linux", "taskset -p $$"),

  /// The program that starts a process in a new session.
  SETSID("setsid", "util-linux", "setsid true"),

  /// The program that ends a process together with its parent.
  SETPRIV("setpriv", "util-linux", "setpriv --pdeathsig TERM true"),

  /// The program that changes the limits of a process.
  PRLIMIT("prlimit", "util-linux", "prlimit --pid $$ --nofile");

  private static final String HIDDEN = "weft.test.without";

  /// The result of each trial in this JVM.
  private static final Map<OptionalProgram, Optional<String>> TRIED = new ConcurrentHashMap<>();

  private final String word;
  private final String packages;
  private final String trial;

  /// @param word its name in `weft.test.without`
  /// @param packages the packages to install with `apt-get install`
  /// @param trial a shell script that uses it, in an empty directory
  OptionalProgram(String word, String packages, String trial) {
    this.word = word;
    this.packages = packages;
    this.trial = trial;
  }

  /// Returns the reason why the program is not usable, in a sentence; empty if it is usable. The
  /// first call tries it, which takes seconds.
  public Optional<String> missing() {
    return TRIED.computeIfAbsent(
        this,
        program ->
            program.missing(
                System.getProperty(HIDDEN, ""),
                new ScriptRunner(System.getenv().getOrDefault("PATH", "/usr/bin:/bin"))));
  }

  /// Returns the programs that it requires.
  private List<OptionalProgram> parts() {
    return switch (this) {
      case GLOO -> List.of(GXX);
      case OPENMPI -> List.of(GCC, MPIRUN);
      default -> List.of();
    };
  }

  /// Tries the program unless it is hidden, without storing the result.
  Optional<String> missing(String hidden, ScriptRunner how) {
    if (isHidden(hidden)) {
      return Optional.of(word + " is hidden by -D" + HIDDEN + "=" + hidden);
    }
    return Stream.concat(
            parts().stream().map(part -> part.missing(hidden, how)),
            Stream.of(trial).map(script -> how.run(script).map(this::sentence)))
        .flatMap(Optional::stream)
        .findFirst();
  }

  private String sentence(String why) {
    return word + " is not usable here: " + why + "; apt-get install " + packages;
  }

  private boolean isHidden(String hidden) {
    Set<String> known = Arrays.stream(values()).map(p -> p.word).collect(Collectors.toSet());
    boolean found = false;
    for (String name : hidden.split(",", -1)) {
      String stripped = name.strip();
      if (!stripped.isEmpty() && !stripped.equals("all") && !known.contains(stripped)) {
        throw new IllegalArgumentException(
            "-D%s=%s: unknown optional program '%s'; expected all, %s"
                .formatted(
                    HIDDEN,
                    hidden,
                    stripped,
                    known.stream().sorted().collect(Collectors.joining(", "))));
      }
      found |= stripped.equals("all") || stripped.equals(word);
    }
    return found;
  }
}
