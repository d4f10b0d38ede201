// SPDX-License-Identifier: Apache-2.0
package io.weft.shm;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.transport.Endpoint;
import io.weft.transport.MemoryRegion;
import io.weft.transport.TransportException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Checks memory shared by two real processes, and its cleanup after one of them is killed.
class TwoProcessesTest {

  private Peer own;
  private Process process;
  private Endpoint endpoint;

  @BeforeEach
  void start() throws IOException {
    own = Peer.here(0);
    process =
        EchoProcess.start(
            List.of(), System.getProperty("java.class.path"), own.transport.address());
    Peer.until("the process connects", () -> !own.connected.isEmpty() || !process.isAlive(), own);
    endpoint = own.to(1);
  }

  @AfterEach
  void stop() throws InterruptedException {
    own.close();
    if (!process.waitFor(20, TimeUnit.SECONDS)) {
      process.destroyForcibly();
    }
  }

  @Test
  void messagesOfAllLengthsAreEchoed() {
    Random random = new Random(3);
    List<byte[]> sent = new ArrayList<>();
    for (int i = 0; i < 300; i++) {
      byte[] message = new byte[i % 10 == 0 ? 30 + random.nextInt(65_000) : random.nextInt(20)];
      random.nextBytes(message);
      sent.add(message);
      Peer.post(() -> endpoint.trySend(MemorySegment.ofArray(message)), own);
    }
    Peer.until("all came back", () -> own.messages.size() == sent.size(), own);
    for (int i = 0; i < sent.size(); i++) {
      assertThat(own.messages.get(i)).as("message %d", i).isEqualTo(sent.get(i));
    }
  }

  @Test
  void anotherProcessStoresIntoMappedMemory() {
    MemoryRegion region = own.region(5 << 20);
    Peer.post(() -> endpoint.trySend(EchoProcess.invitation(7, region)), own);
    Peer.until("the echo", () -> own.messages.size() == 1, own);
    assertThat(region.segment().get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) 1);
    assertThat(region.segment().get(ValueLayout.JAVA_BYTE, (5 << 20) - 1)).isEqualTo((byte) 7);
    assertThat(region.isVisited()).isFalse();
  }

  @Test
  void aKilledProcessIsDetectedAndLeavesNoMemory() throws IOException, InterruptedException {
    MemoryRegion region = own.region(100);
    Peer.post(() -> endpoint.trySend(EchoProcess.invitation(EchoProcess.STAY_INSIDE, region)), own);
    Peer.until("the echo", () -> own.messages.size() == 1, own);
    assertThat(region.isVisited()).isTrue();
    long pid = process.pid();
    assertThat(new ProcessBuilder("kill", "-9", Long.toString(pid)).start().waitFor()).isZero();
    Peer.until("the loss", () -> !own.failures.isEmpty(), own);
    assertThat(own.failures.getFirst())
        .isInstanceOf(TransportException.EndpointLost.class)
        .hasMessageContaining("rank 1");
    assertThat(process.waitFor(20, TimeUnit.SECONDS)).isTrue();
    assertThat(region.isVisited()).as("a dead process is inside nothing").isFalse();
    String prefix = "/memfd:" + ShmMemory.prefix(region.export().incarnation());
    own.close();
    try (Stream<Path> all = Files.list(Path.of("/proc/self/fd"))) {
      assertThat(all.map(TwoProcessesTest::target)).noneMatch(target -> target.startsWith(prefix));
    }
  }

  private static String target(Path descriptor) {
    try {
      return Files.readSymbolicLink(descriptor).toString();
    } catch (IOException e) {
      // The descriptor has been closed since the listing.
      return "";
    }
  }
}
