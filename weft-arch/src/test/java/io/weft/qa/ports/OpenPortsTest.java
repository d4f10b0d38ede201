// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.ports;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.testkit.job.Networks;
import io.weft.testkit.program.Needs;
import io.weft.testkit.program.OptionalProgram;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks the access of strangers on another host to the tasks of a cluster. Under Weft they reach
/// nothing, or nothing without the secret. Under TensorFlow's own runtime they reach everything.
/// Two network namespaces of this machine represent the hosts.
@Needs(OptionalProgram.NETWORKS)
class OpenPortsTest {

  private static final String NEAR = "10.77.1.2";
  private static final String FAR = "10.77.2.2";
  private static final String JOB = "open-ports";
  private static final String SECRET = "a secret that only the ranks know";

  @TempDir private Path directory;
  private final List<Program> programs = new ArrayList<>();
  private Networks networks;

  @BeforeEach
  void connect() throws Exception {
    networks = Networks.create(directory);
  }

  @AfterEach
  void end() throws Exception {
    for (Program program : programs) {
      program.kill();
    }
    if (networks != null) {
      networks.close();
    }
  }

  private Program rank(int rank, List<String> network, Map<String, String> more)
      throws IOException {
    Map<String, String> environment =
        new HashMap<>(
            Map.of(
                "WEFT_RANK",
                "" + rank,
                "WEFT_SIZE",
                "2",
                "WEFT_LOCAL_RANK",
                "" + rank,
                "WEFT_LOCAL_SIZE",
                "2",
                "WEFT_JOB",
                JOB,
                "WEFT_SECRET",
                SECRET,
                "WEFT_TRANSPORT",
                "tcp"));
    environment.putAll(more);
    return started(network, environment, ListeningProgram.class, "weft");
  }

  private Program started(
      List<String> network, Map<String, String> environment, Class<?> main, String... arguments)
      throws IOException {
    Program program = Program.start(network, directory, environment, main, arguments);
    programs.add(program);
    return program;
  }

  /// Runs a stranger and returns its output.
  private String stranger(List<String> network, String... arguments) throws Exception {
    return started(network, Map.of("RECORDED_SECRET", SECRET), StrangerProgram.class, arguments)
        .end();
  }

  private List<String> far() {
    return List.of("ip", "netns", "exec", networks.far());
  }

  private static String[] words(Stream<String> words) {
    return words.toArray(String[]::new);
  }

  @Test
  void tasksOfOneHostListenOnLoopbackOnly() throws Exception {
    Program server = rank(0, networks.here(), Map.of());
    Program worker = rank(1, networks.here(), Map.of());
    server.await("serving");
    worker.await("answer 42.0");
    TreeSet<String> listeners = server.listeners();
    assertThat(listeners)
        .hasSizeGreaterThanOrEqualTo(2)
        .allMatch(at -> at.startsWith("127.0.0.1:"));

    String here =
        stranger(networks.here(), words(Stream.concat(Stream.of("knock"), listeners.stream())));
    assertThat(here.lines()).hasSameSizeAs(listeners).allMatch(line -> line.startsWith("reached"));
    Stream<String> outside = listeners.stream().map(at -> at.replace("127.0.0.1", NEAR));
    String there = stranger(far(), words(Stream.concat(Stream.of("knock"), outside)));
    assertThat(there.lines())
        .hasSameSizeAs(listeners)
        .allMatch(line -> line.startsWith("not reached"));

    assertThat(worker.end().lines()).containsExactly("answer 42.0", "answer 42.0");
    assertThat(server.end()).isEqualTo("serving\n");
  }

  @ParameterizedTest
  @ValueSource(strings = {"auto", "off"}) // encrypted, and with the secret alone
  void tasksOfTwoHostsRefuseStrangersWithoutTheSecret(String secure) throws Exception {
    Program server = rank(0, networks.here(), Map.of("WEFT_BIND", NEAR, "WEFT_SECURE", secure));
    Program worker = rank(1, far(), Map.of("WEFT_BIND", FAR, "WEFT_SECURE", secure));
    server.await("serving");
    worker.await("answer 42.0"); // A rank with the secret is let in from the other host.
    TreeSet<String> listeners = server.listeners();
    assertThat(listeners).isNotEmpty().allMatch(at -> at.startsWith(NEAR + ":"));

    String there =
        stranger(far(), words(Stream.concat(Stream.of("besiege", JOB), listeners.stream())));
    assertThat(there).contains("let in []").containsPattern("WRONG_SECRET=[1-9]");

    assertThat(worker.end().lines()).containsExactly("answer 42.0", "answer 42.0");
    assertThat(server.end()).isEqualTo("serving\n");
  }

  /// Shows why this runtime is used only for comparisons.
  @Test
  void tensorFlowServerRunsGraphsOfStrangers() throws Exception {
    String port = "2222";
    Program server = started(networks.here(), Map.of(), ListeningProgram.class, "grpc", port);
    server.await("serving grpc://127.0.0.1:" + port);
    assertThat(server.listeners())
        .anyMatch(at -> at.matches("(0\\.0\\.0\\.0|0:0:0:0:0:0:0:0):2222"));
    assertThat(stranger(far(), "compute", NEAR + ":" + port)).contains("answer 42.0");
  }
}
