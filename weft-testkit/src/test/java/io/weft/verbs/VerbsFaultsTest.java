// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.transport.Address;
import io.weft.transport.Endpoint;
import io.weft.transport.MemoryRegion;
import io.weft.transport.PostResult;
import io.weft.transport.RemoteRegion;
import io.weft.transport.RemoteSlice;
import io.weft.transport.TransportException;
import io.weft.verbs.device.KernelCounts;
import java.io.BufferedReader;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// What breaks under a connection ends it with its error, and leaves nothing in the kernel.
@Tag("rdma")
@Timeout(600)
class VerbsFaultsTest {

  private static final int WRITES = 64;

  @Test
  void peerThatIsKilledWithWritesInFlightFailsThemAndLeavesNothing() throws Exception {
    String before = KernelCounts.now();
    Process victim = victim(List.of(), "peer");
    try (Party party = new Party(0);
        BufferedReader said = victim.inputReader()) {
      String[] words = said.readLine().split(" ");
      RemoteRegion target =
          new RemoteRegion(0, Victim.BYTES, Integer.parseInt(words[1]), Long.parseLong(words[2]));
      Endpoint endpoint = party.transport.connect(Address.parse(words[0]), 1);
      Party.until(() -> !party.connected.isEmpty(), "the connection", party);
      MemoryRegion from = party.transport.allocate(Victim.BYTES);
      List<Party.Ending> endings = new ArrayList<>();
      for (int i = 0; i < WRITES; i++) {
        Party.Ending ending = new Party.Ending();
        endings.add(ending);
        assertThat(
                endpoint.tryWrite(
                    from.slice(0, Victim.BYTES),
                    new RemoteSlice(target, 0, Victim.BYTES),
                    i,
                    ending))
            .isEqualTo(PostResult.POSTED);
      }
      victim.destroyForcibly();
      Party.until(() -> !party.failures.isEmpty(), "the loss is heard", party);
      assertThat(endings).allSatisfy(ending -> assertThat(ending.fired).isOne());
      assertThat(party.failures.getFirst())
          .isInstanceOf(TransportException.EndpointLost.class)
          .hasMessageContaining("node 1");
      assertThat(endings.getLast().failure).isInstanceOf(TransportException.EndpointLost.class);
      from.close();
    } finally {
      victim.destroyForcibly();
      assertThat(victim.waitFor(60, TimeUnit.SECONDS)).isTrue();
    }
    assertThat(KernelCounts.now()).isEqualTo(before);
  }

  @Test
  void portThatIsTakenDownLosesTheEndpointWithItsStatusInWords() throws Exception {
    String before = KernelCounts.now();
    try (Party a = new Party(0);
        Party b = new Party(1)) {
      Endpoint endpoint = a.transport.connect(b.transport.address(), 1);
      Party.until(() -> !a.connected.isEmpty() && !b.connected.isEmpty(), "connected", a, b);
      link("down");
      try {
        MemorySegment message = MemorySegment.ofArray(new byte[2000]);
        Party.until(
            () -> {
              PostResult unused = endpoint.trySend(message);
              return !a.failures.isEmpty();
            },
            "the loss is heard",
            a,
            b);
        assertThat(a.failures.getFirst())
            .isInstanceOf(TransportException.EndpointLost.class)
            .hasMessageContainingAll("node 1", "work failed", "status");
        assertThat(endpoint.trySend(message)).isEqualTo(PostResult.CLOSED);
      } finally {
        link("up");
      }
    }
    assertThat(KernelCounts.now()).isEqualTo(before);
  }

  @Test
  void memoryBeyondTheLimitOfLockedMemoryIsARegistrationThatSaysSo() throws Exception {
    Process victim =
        victim(
            List.of(
                "setpriv",
                "--reuid=65534",
                "--regid=65534",
                "--clear-groups",
                "prlimit",
                "--memlock=65536:65536"),
            "pin");
    String said = new String(victim.getInputStream().readAllBytes());
    assertThat(victim.waitFor(120, TimeUnit.SECONDS)).isTrue();
    assertThat(said).contains("Registration: ", "1048576 bytes", "RLIMIT_MEMLOCK", "ulimit -l");
  }

  private static void link(String state) throws IOException, InterruptedException {
    Process ip = new ProcessBuilder("ip", "link", "set", "dummy0", state).inheritIO().start();
    assertThat(ip.waitFor(60, TimeUnit.SECONDS)).isTrue();
    assertThat(ip.exitValue()).as("ip link set dummy0 " + state).isZero();
  }

  private static Process victim(List<String> before, String what) throws IOException {
    List<String> command = new ArrayList<>(before);
    command.addAll(
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
            "--enable-native-access=ALL-UNNAMED",
            "-cp",
            System.getProperty("java.class.path"),
            Victim.class.getName(),
            what));
    return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
  }
}
