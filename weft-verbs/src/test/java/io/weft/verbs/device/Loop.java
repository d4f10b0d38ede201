// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.device;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.verbs.ffm.Ibverbs;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;

/// Two connected queue pairs of one process on the first device, with one registered region each
/// and a shared receive queue, in which no receive is posted.
final class Loop implements AutoCloseable {

  static final long LIMIT_NANOS = 60_000_000_000L;
  static final int BYTES = 1 << 20;
  static final int RECEIVES = 31;

  final Device device;
  final CompletionChannel channel;
  final CompletionQueue done;
  final SharedReceiveQueue receives;
  final ProtectionDomain domain;
  final Registration here;
  final Registration there;
  final QueuePair one;
  final QueuePair other;
  final Arena arena = Arena.ofShared();

  Loop() {
    this(new QueuePairSettings(64, 64, 16, 7, 7, 12));
  }

  Loop(QueuePairSettings settings) {
    device = open();
    channel = device.completionChannel();
    done = channel.queue(256);
    domain = device.protectionDomain();
    here = domain.register(arena.allocate(BYTES, 4096), Registration.Access.REMOTE_ATOMIC);
    there = domain.register(arena.allocate(BYTES, 4096), Registration.Access.REMOTE_ATOMIC);
    receives = domain.sharedReceiveQueue(RECEIVES);
    one = domain.queuePair(done, done, receives, settings);
    other = domain.queuePair(done, done, receives, settings);
    Port port = device.port(1);
    assertThat(port.isActive()).as("port 1 of " + device + " is " + port.stateWords()).isTrue();
    Gid gid = Gid.preferred(device.gids(port)).orElseThrow();
    QueuePairAddress first =
        new QueuePairAddress(one.number(), 100, port.lid(), gid, port.activeMtu());
    QueuePairAddress second =
        new QueuePairAddress(other.number(), 0xFFFFFF, port.lid(), gid, port.activeMtu());
    one.initialize(port);
    other.initialize(port);
    one.connect(port, first, second);
    other.connect(port, second, first);
  }

  /// Opens the first device of this machine.
  static Device open() {
    assertThat(Ibverbs.load()).isInstanceOf(Ibverbs.Loading.Loaded.class);
    Ibverbs library = ((Ibverbs.Loading.Loaded) Ibverbs.load()).library();
    List<String> names = Device.names(library);
    assertThat(names).as("RDMA devices").isNotEmpty();
    return Device.open(library, names.getFirst());
  }

  long remote(long offset) {
    return there.memory().address() + offset;
  }

  MemorySegment mine() {
    return here.memory();
  }

  MemorySegment theirs() {
    return there.memory();
  }

  /// Waits for `count` completions, which are then at the places from 0. Each poll overwrites the
  /// batch, so the completions must arrive together or one by one.
  void await(int count) {
    long start = System.nanoTime();
    int seen = 0;
    while (seen < count) {
      seen += done.poll();
      assertThat(System.nanoTime() - start).as("completions in time").isLessThan(LIMIT_NANOS);
      Thread.yield();
    }
  }

  @Override
  public void close() {
    device.close();
    arena.close();
  }
}
