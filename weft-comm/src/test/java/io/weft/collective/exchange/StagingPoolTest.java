// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.transport.Endpoint;
import io.weft.transport.FrameSink;
import io.weft.transport.MemoryRegion;
import io.weft.transport.Transport;
import io.weft.transport.TransportException;
import io.weft.transport.inproc.InprocProvider;
import io.weft.transport.spi.Credentials;
import io.weft.transport.spi.Secret;
import io.weft.transport.spi.TransportConfig;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class StagingPoolTest {

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
                  "staging",
                  Duration.ofSeconds(1),
                  new Credentials("staging", 0, 0, Secret.of(new byte[16]))),
              DEAF);
  private final StagingPool staging = new StagingPool(transport, 4 << 20);

  @AfterEach
  void close() {
    staging.close();
    transport.close();
  }

  @Test
  void aReturnedLongWindowReplacesShorterOnes() {
    MemoryRegion first = staging.lease(1 << 20);
    MemoryRegion second = staging.lease(1 << 20);
    MemoryRegion lengthy = Objects.requireNonNull(staging.tryLease(2 << 20));
    staging.giveBack(first);
    staging.giveBack(second);
    staging.giveBack(lengthy);
    assertThat(staging.tryLease(2 << 20)).as("kept beside two shorter ones").isSameAs(lengthy);
    MemoryRegion third = Objects.requireNonNull(staging.tryLease(2 << 20));
    staging.giveBack(lengthy);
    staging.giveBack(third);
    assertThat(staging.tryLease(2 << 20)).as("kept in their place").isSameAs(third);
    assertThat(staging.tryLease(2 << 20)).as("kept in their place").isSameAs(lengthy);
    assertThat(staging.lease(1 << 20)).isNotIn(first, second);
  }

  @Test
  void aShortWindowDoesNotReplaceALongOne() {
    MemoryRegion lengthy = Objects.requireNonNull(staging.tryLease(4 << 20));
    staging.giveBack(lengthy);
    MemoryRegion brief = staging.lease(1 << 20);
    staging.giveBack(brief);
    assertThat(staging.lease(1 << 20)).isNotSameAs(brief);
    staging.close();
    assertThat(staging.tryLease(8 << 20)).as("more than may be lent").isNull();
  }
}
