// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.transport.MemoryRegion;
import io.weft.transport.RemoteSlice;
import io.weft.verbs.Parties.Party;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Map;
import java.util.Random;
import java.util.function.Supplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Checks how often memory is registered with the device, and that a registration is used only for
/// the memory for which it was made.
@Tag("rdma")
@Timeout(300)
class RegistrationReuseTest {

  private static final int REGIONS = Boolean.getBoolean("weft.test.long") ? 1000 : 200;
  private static final int BYTES = 1 << 20;
  private static final int PART = 8192;

  /// One region in `EVERY` is used, because an emulated device is slow.
  private static final int EVERY = 40;

  private static final VerbsSettings EACH_TIME = Parties.settings(0, 0);

  /// The change of one party's counters since this object was created.
  private static final class Since {
    private final Party party;
    private final Map<String, Long> before;

    Since(Party party) {
      this.party = party;
      before = party.transport.counters();
    }

    long of(String name) {
      return party.transport.counters().get(name) - before.get(name);
    }

    long nanos() {
      return of("registeringNanos") + of("deregisteringNanos");
    }
  }

  private static long regions(VerbsSettings settings, boolean ofOthers, int registrations) {
    try (Arena arena = Arena.ofShared();
        Parties parties = new Parties(2, settings);
        MemoryRegion into = parties.get(1).transport.allocate(PART)) {
      MemorySegment foreign = arena.allocate(BYTES, 4096);
      Party from = parties.get(0);
      Supplier<MemoryRegion> next =
          ofOthers
              ? () -> from.transport.register(foreign, arena)
              : () -> from.transport.allocate(BYTES);
      transfer(parties, into, next.get(), 0);
      Since since = new Since(from);
      for (int i = 1; i <= REGIONS; i++) {
        if (i % EVERY == 0) {
          transfer(parties, into, next.get(), i);
        } else {
          next.get().close();
        }
      }
      assertThat(since.of("registrations")).isEqualTo(registrations);
      System.getLogger("weft.verbs")
          .log(
              System.Logger.Level.INFO,
              "{0} regions of {1} memory of 1 MiB, {2}: {3} registrations, {4} us",
              REGIONS,
              ofOthers ? "foreign" : "allocated",
              settings.memory(),
              since.of("registrations"),
              since.nanos() / 1000);
      return since.nanos();
    }
  }

  /// Writes a part from the middle of a region that is closed afterwards, and checks it.
  private static void transfer(Parties parties, MemoryRegion into, MemoryRegion region, int i) {
    long at = (BYTES / 2 + i) & -8L;
    region.segment().set(ValueLayout.JAVA_LONG, at, ~i);
    region.segment().set(ValueLayout.JAVA_LONG, at + PART - 8, i);
    VerbsOutcome done = new VerbsOutcome();
    parties.post(
        () ->
            parties
                .get(0)
                .to(1)
                .tryWrite(
                    region.slice(at, PART), new RemoteSlice(into.export(), 0, PART), i, done));
    parties.until(() -> done.isDone() && !parties.get(1).heardOf(0).isEmpty(), "it has landed");
    assertThat(parties.get(1).heardOf(0).remove()).isEqualTo(new Parties.Heard.Notice(i));
    assertThat(done.failure()).isNull();
    assertThat(into.segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(~i);
    assertThat(into.segment().get(ValueLayout.JAVA_LONG, PART - 8)).isEqualTo(i);
    region.close();
  }

  @Tag("long")
  @Test
  void cacheRegistersForeignMemoryOnce() {
    long cached = regions(Parties.settings(), true, 0);
    long eachTime = regions(EACH_TIME, true, REGIONS);
    assertThat(cached * 5).isLessThan(eachTime);
  }

  @Test
  void poolRegistersAllocatedMemoryOnce() {
    long pooled = regions(Parties.settings(), false, 0);
    long eachTime = regions(EACH_TIME, false, REGIONS);
    assertThat(pooled * 5).isLessThan(eachTime);
  }

  @Test
  void memoryThatWasFreedAndReallocatedIsRegisteredAgain() {
    long seed = Long.getLong("weft.test.seed", 7L);
    Random random = new Random(seed);
    try (Parties parties = new Parties(2, Parties.settings());
        MemoryRegion into = parties.get(1).transport.allocate(PART)) {
      Party from = parties.get(0);
      Since since = new Since(from);
      int again = 0;
      long last = 0;
      for (int i = 0; i < 30; i++) {
        try (Arena arena = Arena.ofShared()) {
          MemorySegment memory = arena.allocate(BYTES, 4096);
          again += memory.address() == last ? 1 : 0;
          last = memory.address();
          // A stale registration would refer to other pages than these.
          memory.fill((byte) random.nextInt());
          transfer(parties, into, from.transport.register(memory, arena), i);
        }
      }
      assertThat(again).as("addresses that came again, seed %d", seed).isPositive();
      assertThat(since.of("registrations")).isEqualTo(30);
      assertThat(since.of("pinnedBytes")).as("the last one only").isEqualTo(BYTES);
    }
  }

  @Test
  void memoryOfTheGlobalScopeIsRegisteredWhileARegionIsOpen() {
    MemorySegment memory = Arena.global().allocate(BYTES, 4096);
    try (Parties parties = new Parties(2, Parties.settings())) {
      Party from = parties.get(0);
      Since since = new Since(from);
      MemoryRegion one = from.transport.register(memory, memory);
      MemoryRegion other = from.transport.register(memory.asSlice(PART, BYTES / 2), memory);
      assertThat(since.of("registrations")).isOne();
      assertThat(since.of("cachedRegistrations")).isOne();
      one.close();
      assertThat(since.of("pinnedBytes")).isEqualTo(BYTES);
      other.close();
      assertThat(since.of("pinnedBytes")).isZero();
    }
  }

  @Test
  void unusedRegistrationsAreBounded() {
    VerbsSettings small = Parties.settings(0, 3 * BYTES);
    try (Arena arena = Arena.ofShared();
        Parties parties = new Parties(2, small)) {
      Party from = parties.get(0);
      Since since = new Since(from);
      MemorySegment all = arena.allocate(10L * BYTES, 4096);
      for (int i = 0; i < 10; i++) {
        from.transport.register(all.asSlice((long) i * BYTES, BYTES), arena).close();
      }
      assertThat(since.of("pinnedBytes")).isEqualTo(3L * BYTES);
      // The last regions are still registered, the first ones are not.
      from.transport.register(all.asSlice(9L * BYTES, BYTES), arena).close();
      assertThat(since.of("registrations")).isEqualTo(10);
      from.transport.register(all.asSlice(0, BYTES), arena).close();
      assertThat(since.of("registrations")).isEqualTo(11);
    }
  }

  @Test
  void aRegionWithinAllocatedMemoryNeedsNoRegistration() {
    try (Parties parties = new Parties(2, Parties.settings());
        MemoryRegion into = parties.get(1).transport.allocate(PART)) {
      Party from = parties.get(0);
      MemoryRegion whole = from.transport.allocate(3L * BYTES);
      Since since = new Since(from);
      MemoryRegion part =
          from.transport.register(whole.segment().asSlice(12_344, 2L * BYTES), whole);
      transfer(parties, into, part, 5);
      whole.close();
      assertThat(since.of("registrations")).isZero();
    }
  }
}
