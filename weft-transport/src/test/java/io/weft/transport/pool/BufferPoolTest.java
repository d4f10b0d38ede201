// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.transport.Endpoint;
import io.weft.transport.FrameSink;
import io.weft.transport.Slice;
import io.weft.transport.Transport;
import io.weft.transport.TransportException;
import io.weft.transport.inproc.InprocProvider;
import io.weft.transport.spi.Credentials;
import io.weft.transport.spi.Secret;
import io.weft.transport.spi.TransportConfig;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class BufferPoolTest {

  private static final FrameSink DEAF =
      new FrameSink() {
        @Override
        public void onConnect(Endpoint endpoint) {}

        @Override
        public void onMessage(Endpoint from, MemorySegment message) {}

        @Override
        public void onNotify(Endpoint from, int immediate) {}

        @Override
        public void onFailure(Endpoint from, TransportException cause) {}
      };

  private final Transport transport =
      new InprocProvider()
          .open(
              new TransportConfig(
                  "pool",
                  Duration.ofSeconds(1),
                  new Credentials("pool", 0, 0, Secret.of(new byte[16]))),
              DEAF);

  @AfterEach
  void closeTransport() {
    transport.close();
  }

  @Test
  void leaseIsAlignedAndLongEnough() {
    try (BufferPool pool = BufferPool.of(transport, 64 << 20)) {
      for (long bytes : new long[] {0, 1, 4096, 4097, 100_000, 1 << 20, 20 << 20}) {
        try (SliceLease lease = pool.tryLease(bytes).orElseThrow()) {
          Slice slice = lease.slice();
          assertThat(slice.bytes()).isEqualTo(bytes);
          assertThat((slice.region().segment().address() + slice.offset()) % 64).isZero();
        }
      }
    }
  }

  @Test
  void aFullPoolReturnsNoLeaseUntilLeasesAreClosed() {
    try (BufferPool pool = BufferPool.of(transport, 1 << 20)) {
      List<SliceLease> leases = new ArrayList<>();
      Optional<SliceLease> next = pool.tryLease(4096);
      while (next.isPresent()) {
        leases.add(next.get());
        next = pool.tryLease(4096);
      }
      assertThat(leases).hasSize(256);
      leases.forEach(SliceLease::close);
      // All small pieces have been merged.
      pool.tryLease(1 << 20).orElseThrow().close();
    }
  }

  @Test
  void idleBlocksAreFreedForALargeLease() {
    try (BufferPool pool = BufferPool.of(transport, 32 << 20)) {
      pool.tryLease(4096).orElseThrow().close();
      pool.tryLease(32 << 20).orElseThrow().close();
      pool.tryLease(4096).orElseThrow().close();
    }
  }

  @Test
  void aLeaseLargerThanTheBoundThrows() {
    try (BufferPool pool = BufferPool.of(transport, 1 << 20)) {
      assertThatThrownBy(() -> pool.tryLease((1 << 20) + 1))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("1048577");
    }
  }

  @Test
  void aSecondCloseThrowsAndDoesNotAffectOtherLeases() {
    try (BufferPool pool = BufferPool.of(transport, 1 << 20)) {
      SliceLease lease = pool.tryLease(4096).orElseThrow();
      lease.close();
      SliceLease other = pool.tryLease(4096).orElseThrow();
      assertThatThrownBy(lease::close).isInstanceOf(IllegalStateException.class);
      other.close();
    }
  }

  @Test
  void closeNamesTheLeasesThatAreOut() {
    BuddyPool pool = new BuddyPool(transport, 1 << 20, true);
    SliceLease lease = pool.tryLease(5000).orElseThrow();
    assertThatThrownBy(pool::close)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("1 leases with a total of 5000 bytes")
        .satisfies(
            leak ->
                assertThat(leak.getSuppressed()[0].getStackTrace())
                    .anyMatch(
                        frame -> frame.getMethodName().equals("closeNamesTheLeasesThatAreOut")));
    lease.close();
    pool.close();
    assertThatThrownBy(() -> pool.tryLease(1)).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void leasesNeverOverlap() {
    long seed = Long.getLong("weft.test.seed", System.nanoTime());
    Random random = new Random(seed);
    try (BufferPool pool = BufferPool.of(transport, 8 << 20)) {
      List<SliceLease> leases = new ArrayList<>();
      List<Integer> marks = new ArrayList<>();
      for (int i = 0; i < 5000; i++) {
        if (random.nextInt(3) > 0) {
          Optional<SliceLease> lease = pool.tryLease(8 + random.nextInt(1 << random.nextInt(19)));
          if (lease.isPresent()) {
            mark(lease.get(), i);
            leases.add(lease.get());
            marks.add(i);
          }
        } else if (!leases.isEmpty()) {
          int at = random.nextInt(leases.size());
          assertThat(isMarked(leases.get(at), marks.remove(at))).as("seed %d", seed).isTrue();
          leases.remove(at).close();
        }
      }
      leases.forEach(SliceLease::close);
      pool.tryLease(8 << 20).orElseThrow().close();
    }
  }

  private static void mark(SliceLease lease, int mark) {
    Slice slice = lease.slice();
    MemorySegment all = slice.region().segment();
    all.set(ValueLayout.JAVA_INT_UNALIGNED, slice.offset(), mark);
    all.set(ValueLayout.JAVA_INT_UNALIGNED, slice.offset() + slice.bytes() - 4, mark);
  }

  private static boolean isMarked(SliceLease lease, int mark) {
    Slice slice = lease.slice();
    MemorySegment all = slice.region().segment();
    return all.get(ValueLayout.JAVA_INT_UNALIGNED, slice.offset()) == mark
        && all.get(ValueLayout.JAVA_INT_UNALIGNED, slice.offset() + slice.bytes() - 4) == mark;
  }
}
