// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.transport.Endpoint;
import io.weft.transport.FrameSink;
import io.weft.transport.MemoryRegion;
import io.weft.transport.Transport;
import io.weft.transport.TransportException;
import io.weft.transport.spi.Credentials;
import io.weft.transport.spi.Secret;
import io.weft.transport.spi.TransportConfig;
import io.weft.transport.spi.TransportProvider;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class TensorPoolTest {

  private static final long MIB = 1 << 20;

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
      TransportProvider.find("inproc")
          .orElseThrow()
          .open(
              new TransportConfig(
                  "tensors",
                  Duration.ofSeconds(1),
                  new Credentials("pool", 0, 0, Secret.of(new byte[16]))),
              DEAF);

  @AfterEach
  void closeTransport() {
    transport.close();
  }

  private static TensorLease bytes(TensorPool pool, long bytes) {
    return pool.allocate(DType.UINT8, Shape.of(bytes));
  }

  @Test
  void tensorsOfAllSizesAreAlignedAndMappable() {
    try (TensorPool pool = new TensorPool(transport, 16 * MIB)) {
      for (long size : new long[] {0, 1, 4095, 4096, 70_000, 4 * MIB, 4 * MIB + 1, 9 * MIB + 5}) {
        try (TensorLease tensor = bytes(pool, size)) {
          MemorySegment data = tensor.view().data();
          assertThat(data.byteSize()).isEqualTo(size);
          assertThat(data.address() % TensorPool.ALIGNMENT).isZero();
          data.fill((byte) 1);
          try (MemoryRegion region = transport.register(data, tensor)) {
            assertThat(region.isMappable()).as(size + " bytes").isTrue();
          }
        }
      }
      try (TensorLease scalar = pool.allocate(DType.FLOAT64, Shape.of())) {
        assertThat(scalar.view().bytes()).isEqualTo(8);
      }
    }
  }

  @Test
  void leasedTensorsNeverOverlap() {
    long seed = Long.getLong("weft.test.seed", System.nanoTime());
    Random random = new Random(seed);
    List<TensorLease> out = new ArrayList<>();
    TensorPool pool = new TensorPool(transport, 8 * MIB);
    try (pool) {
      for (int i = 0; i < 600; i++) {
        if (out.size() > 8 || (!out.isEmpty() && random.nextInt(3) == 0)) {
          out.remove(random.nextInt(out.size())).close();
        }
        long size =
            random.nextInt(10) == 0 ? 4 * MIB + random.nextInt(1 << 20) : random.nextInt(99_999);
        TensorLease next = bytes(pool, 1 + size);
        long begin = next.view().data().address();
        for (TensorLease other : out) {
          long from = other.view().data().address();
          assertThat(begin + next.view().bytes() <= from || from + other.view().bytes() <= begin)
              .as("seed " + seed)
              .isTrue();
        }
        out.add(next);
      }
    }
    out.forEach(TensorLease::close);
  }

  @Test
  void theBlockOfALargeTensorIsReused() {
    try (TensorPool pool = new TensorPool(transport, 16 * MIB)) {
      TensorLease first = bytes(pool, 8 * MIB);
      long address = first.view().data().address();
      first.close();
      first.close();
      try (TensorLease second = bytes(pool, 8 * MIB - 5);
          TensorLease third = bytes(pool, 8 * MIB)) {
        assertThat(second.view().data().address()).isEqualTo(address);
        assertThat(third.view().data().address()).isNotEqualTo(address);
      }
    }
  }

  @Test
  void idleBlocksBeyondTheBoundAreFreed() {
    try (TensorPool pool = new TensorPool(transport, 4 * MIB)) {
      TensorLease tensor = bytes(pool, 8 * MIB);
      MemorySegment data = tensor.view().data();
      tensor.close();
      assertThatThrownBy(() -> data.get(ValueLayout.JAVA_BYTE, 0))
          .isInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void aTensorOutlivesThePoolAndIsFreedWithItsOwner() {
    TensorPool pool = new TensorPool(transport, 16 * MIB);
    TensorLease small = bytes(pool, 100);
    TensorLease large = bytes(pool, 5 * MIB);
    pool.close();
    pool.close();
    List<MemorySegment> memory = List.of(small.view().data(), large.view().data());
    for (MemorySegment data : memory) {
      data.fill((byte) 3);
      assertThat(data.get(ValueLayout.JAVA_BYTE, 99)).isEqualTo((byte) 3);
    }
    small.close();
    large.close();
    for (MemorySegment data : memory) {
      assertThatThrownBy(() -> data.get(ValueLayout.JAVA_BYTE, 0))
          .isInstanceOf(IllegalStateException.class);
    }
    assertThatThrownBy(() -> bytes(pool, 1))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("left");
  }
}
