// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.flight;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.cluster.StoreLocation;
import io.weft.cluster.store.JobTrust;
import io.weft.cluster.store.SecretFile;
import io.weft.cluster.store.TcpStore;
import io.weft.cluster.store.TcpStoreServer;
import io.weft.telemetry.flight.FlightLog.Counts;
import io.weft.telemetry.flight.FlightLog.Flight;
import io.weft.telemetry.flight.FlightLog.State;
import io.weft.telemetry.flight.FlightLog.Times;
import io.weft.transport.spi.Encryption;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class FlightFileTest {

  @TempDir Path directory;

  private static FlightLog with(List<Flight> operations) {
    FlightLog log = LogReaderTest.LOG;
    return new FlightLog(
        log.self(),
        new Counts(0, 0, operations.size(), 0),
        log.failures(),
        log.communicators(),
        log.peers(),
        log.events(),
        operations);
  }

  private static FlightLog incompressible(int operations) {
    var random = new Random(1);
    return with(
        LongStream.range(0, operations)
            .mapToObj(
                i -> {
                  var name = new StringBuilder();
                  random.ints(512, '0', 'z').filter(c -> c != '\\').forEach(name::appendCodePoint);
                  return new Flight(
                      i + 1,
                      7,
                      name.toString(),
                      "barrier",
                      1,
                      1,
                      new FlightLog.Progress(State.DONE, 1, new Times(0, 0, 0)),
                      FlightLog.Missing.NONE);
                })
            .toList());
  }

  @Test
  void aReplacedFileLeavesNoOtherFile() throws IOException {
    var files = new FlightFile(directory.resolve("made/here"));
    files.put(with(List.of()));
    files.put(LogReaderTest.LOG);
    assertThat(files.find(2)).contains(LogReaderTest.LOG);
    assertThat(files.find(1)).isEmpty();
    try (var there = Files.list(files.directory())) {
      assertThat(there).containsExactly(files.of(2));
    }
  }

  @Test
  void aFileThatIsNotTheLogOfItsRankIsNamed() throws IOException {
    var files = new FlightFile(directory);
    Files.writeString(files.of(0), LogReaderTest.LOG.text());
    assertThatThrownBy(() -> files.find(0))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("rank-0.flight: the log of rank 2");
    Files.write(files.of(1), new byte[] {'w', (byte) 0xFF});
    assertThatThrownBy(() -> files.find(1)).isInstanceOf(IOException.class);
    Files.createSymbolicLink(files.of(3), files.of(0));
    assertThatThrownBy(() -> files.find(3)).isInstanceOf(IOException.class);
  }

  @Test
  void pipeIsNeitherReadNorRemoved() throws Exception {
    var files = new FlightFile(directory);
    assertThat(new ProcessBuilder("mkfifo", files.of(0).toString()).start().waitFor()).isZero();
    assertThatThrownBy(() -> files.find(0))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("rank-0.flight: it is a FIFO");
    assertThatThrownBy(() -> files.remove(0))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("rank-0.flight cannot be removed: it is a FIFO")
        .hasMessageContaining("name another directory");
  }

  @Test
  void logReachesTheLaunchersStore() throws Exception {
    var trust = new JobTrust(SecretFile.random(), new Encryption.Ephemeral(), "job");
    InetAddress loopback = InetAddress.getLoopbackAddress();
    try (TcpStoreServer server = TcpStoreServer.bind(loopback, 0, trust, Duration.ofSeconds(60))) {
      int port = server.address().getPort();
      var hosted = new StoreLocation.Hosted(loopback.getHostAddress(), port);
      new FlightPost(hosted, trust).put(LogReaderTest.LOG);
      try (TcpStore store = TcpStore.connect(hosted.host(), port, trust, Duration.ofSeconds(20))) {
        assertThat(FlightPost.find(store.find(FlightPost.key(2)), 2)).contains(LogReaderTest.LOG);
      }
    }
  }

  @Test
  void logThatIsTooLongForTheStoreLosesItsOlderOperations() throws IOException {
    FlightLog log = incompressible(600);
    FlightLog kept = FlightPost.find(Optional.of(FlightPost.packed(log)), 2).orElseThrow();
    assertThat(kept.operations()).hasSizeBetween(64, 300).endsWith(log.operations().getLast());
    assertThat(kept.counts().forgotten()).isEqualTo(600 - kept.operations().size());
  }
}
