// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.verbs.ffm.Descriptors;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Checks the classes of this package on a machine with an RDMA device, a real or an emulated one.
@Tag("rdma")
@Timeout(300)
class RealDeviceTest {

  @Test
  void theDeviceReportsItsPortsAddressesAndLimits() {
    try (Device device = Loop.open()) {
      assertThat(device.limits().ports()).isPositive();
      assertThat(device.limits().queuePairs()).isPositive();
      assertThat(device.limits().receiveQueues()).isPositive();
      assertThat(device.limits().receives()).isPositive();
      assertThat(device.limits().regionBytes()).isGreaterThan(1 << 20);
      Port port = device.port(1);
      assertThat(port.mtuBytes()).isBetween(256, 4096);
      assertThat(port.maxMessageBytes()).isGreaterThan(1 << 20);
      assertThat(device.gids(port)).isNotEmpty();
      assertThat(device.takeEvent()).isNull();
      assertThatThrownBy(() -> device.port(99))
          .isInstanceOf(VerbsException.class)
          .hasMessageContainingAll("port 99", device.name(), "EINVAL");
    }
  }

  @Test
  void theErrorForAnUnknownDeviceNamesTheExistingOnes() {
    try (Device device = Loop.open()) {
      assertThatThrownBy(() -> Device.open(device.library(), "no_such_0"))
          .isInstanceOf(VerbsException.class)
          .hasMessageContainingAll("no_such_0", device.name());
    }
  }

  @Test
  void closingTheDeviceLeavesNothingInTheKernel() throws Exception {
    String before = KernelCounts.now();
    Loop loop = new Loop();
    assertThat(KernelCounts.now()).isNotEqualTo(before);
    assertThat(loop.one.tryWrite(1, QueuePair.Flag.SIGNALED, loop.here, 0, 64, 1, 2)).isTrue();
    loop.close();
    assertThat(KernelCounts.now()).isEqualTo(before);
  }

  @Test
  void resourcesThatCannotBeCreatedLeaveNothingInTheKernel() throws Exception {
    String before = KernelCounts.now();
    try (Device device = Loop.open();
        Arena arena = Arena.ofShared()) {
      ProtectionDomain domain = device.protectionDomain();
      CompletionChannel channel = device.completionChannel();
      CompletionQueue queue = channel.queue(16);
      SharedReceiveQueue receives = domain.sharedReceiveQueue(16);
      int tooMany = device.limits().workRequests() + 1;
      assertThatThrownBy(
              () ->
                  domain.queuePair(
                      queue, queue, receives, new QueuePairSettings(tooMany, 0, 14, 7, 7, 12)))
          .isInstanceOf(VerbsException.class)
          .hasMessageContainingAll(Integer.toString(tooMany), "the device allows");
      assertThatThrownBy(() -> channel.queue(device.limits().completions() + 1))
          .isInstanceOf(VerbsException.class)
          .hasMessageContaining("completion queue");
      assertThatThrownBy(() -> domain.sharedReceiveQueue(device.limits().receives() + 1))
          .isInstanceOf(VerbsException.class)
          .hasMessageContainingAll("shared receive queue", "the device allows");
      domain.close();
      assertThatThrownBy(
              () -> domain.register(arena.allocate(8), Registration.Access.LOCAL).close())
          .isInstanceOf(RuntimeException.class);
    }
    assertThat(KernelCounts.now()).isEqualTo(before);
  }

  @Test
  void theChannelSignalsACompletionOfAnArmedQueue() {
    try (Loop loop = new Loop();
        Descriptors descriptors = new Descriptors(loop.channel.descriptor())) {
      assertThat(loop.channel.drain()).isZero();
      loop.done.arm();
      assertThat(loop.done.poll()).isZero();
      long start = System.nanoTime();
      assertThat(
              loop.one.tryWrite(
                  9,
                  QueuePair.Flag.SIGNALED,
                  loop.here,
                  0,
                  8,
                  loop.remote(0),
                  loop.there.remoteKey()))
          .isTrue();
      int events = 0;
      while (events == 0) {
        descriptors.await(1_000_000_000L);
        events = loop.channel.drain();
        assertThat(System.nanoTime() - start).isLessThan(Loop.LIMIT_NANOS);
      }
      loop.await(1);
      assertThat(loop.done.id(0)).isEqualTo(9);
    }
  }

  @Test
  void regionWithPostedWorkCannotBeClosed() {
    try (Loop loop = new Loop()) {
      loop.mine().set(ValueLayout.JAVA_LONG, 0, 42);
      assertThat(
              loop.one.tryWrite(
                  1,
                  QueuePair.Flag.SIGNALED,
                  loop.here,
                  0,
                  8,
                  loop.remote(0),
                  loop.there.remoteKey()))
          .isTrue();
      assertThatThrownBy(loop.here::close)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("1 posted");
      loop.await(1);
      loop.here.settle();
      loop.here.close();
      assertThat(loop.theirs().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(42);
    }
  }
}
