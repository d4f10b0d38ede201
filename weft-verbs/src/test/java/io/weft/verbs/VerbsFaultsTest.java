// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.config.Settings;
import io.weft.transport.Endpoint;
import io.weft.transport.MemoryRegion;
import io.weft.transport.PostResult;
import io.weft.transport.RemoteSlice;
import io.weft.transport.TransportException;
import io.weft.transport.region.LocalRegion;
import io.weft.verbs.Parties.Heard;
import io.weft.verbs.Parties.Party;
import io.weft.verbs.device.KernelCounts;
import io.weft.verbs.memory.Pin;
import io.weft.verbs.ring.RingCredits;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Checks that each fault of an RDMA connection causes a typed error within a deadline and leaves
/// no resource in the kernel. The tests change the machine and restore it, so they run
/// sequentially.
@Tag("rdma")
@Timeout(300)
class VerbsFaultsTest {

  private static final int BYTES = 1 << 20;
  private static final int OPERATIONS = 64;

  /// The longest time from a fault to the error, on an emulated machine.
  private static final long LIMIT_NANOS = 60_000_000_000L;

  private static final long COUNT_NANOS = 30_000_000_000L;
  private static final long STOPPED_NANOS = 30_000_000_000L;

  private String before = "";

  @BeforeEach
  void count() throws Exception {
    before = KernelCounts.now();
  }

  /// Waits, because the kernel may still release the resources of a process that was killed.
  @AfterEach
  void nothingIsLeft() throws Exception {
    long start = System.nanoTime();
    while (!KernelCounts.now().equals(before) && System.nanoTime() - start < COUNT_NANOS) {
      Thread.onSpinWait();
    }
    assertThat(KernelCounts.now()).isEqualTo(before);
  }

  private static void until(Party party, BooleanSupplier condition, String what) {
    long start = System.nanoTime();
    while (!condition.getAsBoolean()) {
      if (party.transport.poll(System.nanoTime()) == 0) {
        party.transport.await(1_000_000);
      }
      assertThat(System.nanoTime() - start).as("time until " + what).isLessThan(LIMIT_NANOS);
    }
  }

  private static void assertLost(TransportException failure, String... words) {
    assertThat(failure).isInstanceOf(TransportException.EndpointLost.class);
    assertThat(failure.getMessage()).contains("endpoint to rank").contains(words);
  }

  /// The device carries out posted operations by itself while the peer process is still being
  /// killed, so they are long enough to take seconds.
  @ParameterizedTest
  @EnumSource
  void killingAPeerFailsAllPendingOperations(Direction direction) throws Exception {
    try (Remote remote = new Remote()) {
      Party party = remote.party;
      List<VerbsOutcome> outcomes = remote.post(direction, OPERATIONS);
      until(party, outcomes.getFirst()::isDone, "the first operation is complete");
      assertThat(remote.victim.destroyForcibly().waitFor(60, TimeUnit.SECONDS)).isTrue();
      until(
          party,
          () -> outcomes.stream().allMatch(VerbsOutcome::isDone) && !party.failures.isEmpty(),
          "the loss is told");
      assertThat(outcomes.getFirst().failure()).isNull();
      assertLost(outcomes.getLast().failure(), "rank 0");
      assertThat(party.failures).hasSize(1);
      assertLost(party.failures.getFirst(), "rank 0");
      assertThat(remote.endpoint.trySend(MemorySegment.ofArray(new byte[8])))
          .isEqualTo(PostResult.CLOSED);
    }
  }

  /// The device of a stopped process serves its memory, so that operations end; only messages wait.
  @Tag("long")
  @ParameterizedTest
  @EnumSource
  void operationsOnAStoppedPeerEnd(Direction direction) throws Exception {
    try (Remote remote = new Remote()) {
      List<VerbsOutcome> outcomes = remote.post(direction, OPERATIONS);
      signal("STOP", remote.victim);
      try {
        until(
            remote.party,
            () -> outcomes.stream().allMatch(VerbsOutcome::isDone),
            "operations on a stopped peer are complete");
        long stopped = System.nanoTime();
        until(
            remote.party,
            () -> System.nanoTime() - stopped > STOPPED_NANOS || !remote.party.failures.isEmpty(),
            "the peer has been stopped for long");
      } finally {
        signal("CONT", remote.victim);
      }
      assertThat(outcomes).allSatisfy(outcome -> assertThat(outcome.failure()).isNull());
      assertThat(remote.party.failures).isEmpty();
      List<VerbsOutcome> later = remote.post(direction, 1);
      until(remote.party, later.getFirst()::isDone, "an operation after the stop is complete");
      assertThat(later.getFirst().failure()).isNull();
    }
  }

  private static void signal(String name, Process process) throws Exception {
    run("kill", "-" + name, Long.toString(process.pid()));
  }

  private enum Direction {
    READ,
    WRITE
  }

  /// A process with a region, and an endpoint to it over which operations are one-sided.
  private static final class Remote implements AutoCloseable {
    private final Process victim = Stranger.start(List.of(), Stranger.Target.class);
    private final Party party = new Party(1, Parties.settings());
    private final MemoryRegion own = party.transport.allocate(Stranger.REGION_BYTES);
    private final Endpoint endpoint;
    private final RemoteSlice all;
    private int posted;

    Remote() throws IOException {
      endpoint = party.transport.connect(Stranger.awaitAddress(victim.inputReader()), 0);
      until(party, () -> !party.heardOf(0).isEmpty(), "the peer shows its region");
      Heard.Message shown = (Heard.Message) party.heardOf(0).remove();
      all = new RemoteSlice(Stranger.decode(shown.bytes()), 0, Stranger.REGION_BYTES);
      VerbsOutcome first = post(Direction.WRITE, 1).getFirst();
      until(party, first::isDone, "a write is complete");
      assertThat(party.transport.counters().get("oneSidedWrittenBytes")).isPositive();
    }

    List<VerbsOutcome> post(Direction direction, int count) {
      List<VerbsOutcome> outcomes = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        VerbsOutcome done = new VerbsOutcome();
        PostResult result =
            direction == Direction.READ
                ? endpoint.tryRead(own.slice(0, all.bytes()), all, done)
                : endpoint.tryWrite(own.slice(0, all.bytes()), all, posted++, done);
        assertThat(result).isEqualTo(PostResult.POSTED);
        outcomes.add(done);
      }
      return outcomes;
    }

    @Override
    public void close() {
      own.close();
      victim.destroyForcibly();
      party.transport.close();
    }
  }

  /// This cannot happen between correct peers, so the test closes the registration without the
  /// knowledge of the peer that offered it.
  @Test
  void useOfAClosedRegistrationFailsTheEndpointWithTheReason() {
    try (Parties parties = new Parties(2, Parties.settings())) {
      Party here = parties.get(0);
      Party there = parties.get(1);
      MemoryRegion own = here.transport.allocate(BYTES);
      MemoryRegion region = there.transport.allocate(BYTES);
      RemoteSlice all = new RemoteSlice(region.export(), 0, BYTES);
      for (int i = 0; here.transport.counters().get("oneSidedWrittenBytes") == 0; i++) {
        assertThat(i).as("writes without an offer").isLessThan(4);
        VerbsOutcome done = new VerbsOutcome();
        int number = i;
        parties.post(() -> here.to(1).tryWrite(own.slice(0, BYTES), all, number, done));
        parties.until(() -> done.isDone() && there.heardOf(0).poll() != null, "it has landed");
      }
      var pins = ((VerbsTransport) there.transport).pins();
      LocalRegion local = pins.table().find(region.export().key());
      assertThat(local).isNotNull();
      Pin pin = pins.of(local);
      assertThat(pin).isNotNull();
      pin.registration().close();
      VerbsOutcome done = new VerbsOutcome();
      assertThat(here.to(1).tryWrite(own.slice(0, BYTES), all, 9, done))
          .isEqualTo(PostResult.POSTED);
      until(here, done::isDone, "the write has failed");
      assertLost(done.failure(), "rank 1", "remote access (status 10", "closed or too short");
      assertThat(here.failures).hasSize(1);
      assertThat(there.heardOf(0)).isEmpty();
    }
  }

  /// Credit prevents one sender from exhausting the shared receive queue: even with no retries for
  /// a receiver that is not ready, a peer that does not poll only delays the sender.
  @Test
  void aPeerThatDoesNotPollCausesBackPressureOnly() {
    VerbsSettings unforgiving =
        VerbsSettings.of(Settings.ofThisProcess().with(VerbsConfig.RECEIVER_RETRIES, 0));
    try (Parties parties = new Parties(2, unforgiving)) {
      Party here = parties.get(0);
      Party there = parties.get(1);
      int sent = 0;
      int refused = 0;
      while (refused < 1000) {
        MemorySegment message = MemorySegment.ofArray(new int[] {sent});
        if (here.to(1).trySend(message) == PostResult.POSTED) {
          sent++;
          refused = 0;
        } else {
          refused++;
        }
        int unused = here.transport.poll(System.nanoTime());
        assertThat(here.failures).isEmpty();
      }
      assertThat(sent).isEqualTo(RingCredits.SLOTS);
      int all = sent;
      parties.until(() -> there.heardOf(0).size() == all, "all has come");
      parties.post(() -> here.to(1).trySend(MemorySegment.ofArray(new int[1])));
      parties.until(() -> there.heardOf(0).size() == all + 1, "there is room again");
    }
  }

  /// Both sides learn of it from their device without posting anything. No peer can connect while
  /// the port is down.
  @Test
  void aPortThatGoesDownFailsItsEndpointsWithTheReason() throws Exception {
    String why = "port 1 of rxe0 is down";
    try (Parties parties = new Parties(2, Parties.settings())) {
      Party here = parties.get(0);
      Party there = parties.get(1);
      run("ip", "link", "set", "dummy0", "down");
      try {
        for (Party party : parties.all()) {
          until(party, () -> !party.failures.isEmpty(), "the port's end is heard of");
          assertThat(party.failures).hasSize(1);
          assertLost(party.failures.getFirst(), "rank " + (1 - party.node), why, "ip link");
        }
        assertThat(here.to(1).trySend(MemorySegment.ofArray(new byte[8])))
            .isEqualTo(PostResult.CLOSED);
        Endpoint again = here.transport.connect(there.transport.address(), 1);
        long start = System.nanoTime();
        while (here.failures.size() == 1) {
          int unused =
              here.transport.poll(System.nanoTime()) + there.transport.poll(System.nanoTime());
          assertThat(System.nanoTime() - start).as("time until it fails").isLessThan(LIMIT_NANOS);
        }
        assertLost(here.failures.getLast(), "rank 1", why);
        assertThat(again.trySend(MemorySegment.ofArray(new byte[8]))).isEqualTo(PostResult.CLOSED);
      } finally {
        run("ip", "link", "set", "dummy0", "up");
      }
    }
    try (Parties parties = new Parties(2, Parties.settings())) {
      parties.post(() -> parties.get(0).to(1).trySend(MemorySegment.ofArray(new int[1])));
      parties.until(() -> !parties.get(1).heardOf(0).isEmpty(), "the port carries again");
    }
  }

  /// The event or the failed completion may arrive first.
  @Test
  void workPostedWhileThePortIsDownFailsWithTheReason() throws Exception {
    try (Parties parties = new Parties(2, Parties.settings())) {
      Party here = parties.get(0);
      MemoryRegion own = here.transport.allocate(BYTES);
      MemoryRegion region = parties.get(1).transport.allocate(BYTES);
      RemoteSlice all = new RemoteSlice(region.export(), 0, BYTES);
      run("ip", "link", "set", "dummy0", "down");
      try {
        VerbsOutcome done = new VerbsOutcome();
        assertThat(here.to(1).tryWrite(own.slice(0, BYTES), all, 1, done))
            .isEqualTo(PostResult.POSTED);
        until(here, done::isDone, "the write has failed");
        assertLost(done.failure(), "rank 1", "port 1 of rxe0 is down");
        assertThat(here.failures).hasSize(1);
      } finally {
        run("ip", "link", "set", "dummy0", "up");
      }
    }
  }

  @Test
  void openWithoutADeviceFailsWithARemedy() throws Exception {
    run("rdma", "link", "delete", "rxe0");
    try {
      assertThatThrownBy(() -> new Party(0, Parties.settings()))
          .isInstanceOf(TransportException.DeviceLost.class)
          .hasMessageContainingAll("'ibv_devices' lists none", "weft doctor", "--transport tcp");
    } finally {
      run("rdma", "link", "add", "rxe0", "type", "rxe", "netdev", "dummy0");
    }
  }

  @Tag("long")
  @Test
  void openWithoutTheLibraryFailsWithARemedy() throws Exception {
    List<String> hidden =
        List.of(
            "unshare",
            "--mount",
            "bash",
            "-c",
            "mount --bind /dev/null /usr/lib/x86_64-linux-gnu/libibverbs.so.1 && exec \"$@\"",
            "-");
    assertThat(Stranger.run(hidden, Stranger.Couple.class))
        .startsWith("DeviceLost: there is no libibverbs.so.1 on this machine")
        .contains("install rdma-core", "--transport tcp");
  }

  /// The limit permits the rings of two endpoints, but no block of the transport's memory.
  @Tag("long")
  @Test
  void memoryBeyondTheLimitOfLockedMemoryIsCopied() throws Exception {
    List<String> nobody =
        List.of(
            "setpriv",
            "--reuid=65534",
            "--regid=65534",
            "--clear-groups",
            "prlimit",
            "--memlock=12582912:12582912");
    assertThat(Stranger.run(nobody, Stranger.Copying.class))
        .contains(
            "payloads are copied instead of moved by the RDMA device",
            "12582912 bytes (RLIMIT_MEMLOCK)",
            "ulimit -l unlimited",
            "connected, POSTED, POSTED, right, one-sided 0, refused 1");
  }

  @Tag("long")
  @Test
  void aConnectionFailureNamesTheLimitOfLockedMemory() throws Exception {
    List<String> nobody =
        List.of(
            "setpriv",
            "--reuid=65534",
            "--regid=65534",
            "--clear-groups",
            "prlimit",
            "--memlock=65536:65536");
    assertThat(Stranger.run(nobody, Stranger.Couple.class))
        .startsWith("EndpointLost: ")
        .contains("65536 bytes (RLIMIT_MEMLOCK)", "queue pair cannot be connected");
  }

  private static void run(String... command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    process.getOutputStream().close();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).as("%s said: %s", List.of(command), said).isZero();
  }
}
