// SPDX-License-Identifier: Apache-2.0
package io.weft;

import io.weft.cluster.MeshService;
import io.weft.cluster.ProgressThreads;
import io.weft.cluster.channel.ChannelLane;
import io.weft.cluster.channel.MeshChannel;
import io.weft.collective.service.Collectives;
import io.weft.memory.TensorPool;
import io.weft.observer.OperationObserver;
import io.weft.rendezvous.RendezvousConfig;
import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import java.util.ArrayList;
import java.util.List;

/// The lanes of a rank's request channel, in the order of the progress threads that run it. Owned
/// by the thread that joins the job until `start`; then any thread.
final class Lanes implements AutoCloseable {

  private final List<MeshChannel> channels = new ArrayList<>();
  private final List<TensorPool> pools = new ArrayList<>();
  private final long poolBytes;
  private List<ChannelLane> lanes = List.of();

  Lanes(WeftConfig config, ServiceThreads threads) {
    this.poolBytes = config.poolBytes();
    for (int i = 0; i < threads.lanes(); i++) {
      channels.add(new MeshChannel(config.required(RendezvousConfig.MEMORY), config.eagerBytes()));
    }
  }

  /// Returns the channel of a lane as a service of its progress thread.
  MeshService service(int lane) {
    return channels.get(lane);
  }

  /// Prepares the lanes, before the progress threads start. A lane on the thread of the collectives
  /// shares their memory, and any other lane has separate memory of its transport.
  void start(ProgressThreads threads, Collectives collectives, OperationObserver observer) {
    List<ChannelLane> all = new ArrayList<>();
    for (MeshChannel channel : channels) {
      channel.runBy(threads.runner(channel));
      channel.observedBy(observer);
      boolean shared = threads.mesh(channel) == threads.mesh(collectives);
      TensorPool memory = shared ? collectives.tensors() : pool(threads, channel);
      all.add(
          new ChannelLane(
              channel, bytes -> memory.allocate(DType.UINT8, Shape.of(Math.max(1, bytes)))));
    }
    lanes = List.copyOf(all);
  }

  private TensorPool pool(ProgressThreads threads, MeshChannel channel) {
    var pool = new TensorPool(threads.mesh(channel).transport(), poolBytes);
    pools.add(pool);
    return pool;
  }

  /// Returns the lanes, at least one.
  List<ChannelLane> all() {
    return lanes;
  }

  /// Returns the bytes of payloads that were copied into registered memory on all lanes.
  long copiedBytes() {
    return channels.stream().mapToLong(MeshChannel::copiedBytes).sum();
  }

  /// Frees the unused memory of the lanes. The rest is freed with its tensors.
  @Override
  public void close() {
    pools.forEach(TensorPool::close);
  }
}
