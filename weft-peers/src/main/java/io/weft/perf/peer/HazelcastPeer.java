// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.peer;

import com.hazelcast.client.HazelcastClient;
import com.hazelcast.client.config.ClientConfig;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.map.IMap;
import io.weft.perf.kv.KvPlan;
import io.weft.perf.process.ServerProcess;
import java.util.ArrayDeque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/// Hazelcast. A push is an `EntryProcessor` for all its keys, and a pull is `getAll`.
public final class HazelcastPeer implements KvClient {

  private static final float[] NOTHING = {};

  private final HazelcastInstance client;
  private final IMap<Long, float[]> map;
  private final int width;
  private final ArrayDeque<CompletableFuture<float[]>> open = new ArrayDeque<>();

  private HazelcastPeer(int port, int width) {
    ClientConfig config = new ClientConfig();
    config.setProperty("hazelcast.logging.type", "none");
    config.setProperty("hazelcast.phone.home.enabled", "false");
    config.getNetworkConfig().addAddress("127.0.0.1:" + port);
    config.getSerializationConfig().addDataSerializableFactory(AddRows.FACTORY_ID, AddRows.FACTORY);
    this.client = HazelcastClient.newHazelcastClient(config);
    this.map = client.getMap(HazelcastServer.MAP);
    this.width = width;
  }

  /// Takes a plan's arguments and prints the report.
  public static void main(String[] words) throws Exception {
    KvPlan plan = KvPlan.parse(List.of(words));
    try (ServerProcess server = ServerProcess.start(HazelcastServer.class)) {
      PeerLoop.run(
          "hazelcast", plan, new HazelcastPeer(server.port(), (int) plan.subject().floats()));
    }
  }

  private static Set<Long> set(long[] keys) {
    Set<Long> set = LinkedHashSet.newLinkedHashSet(keys.length);
    for (long key : keys) {
      set.add(key);
    }
    return set;
  }

  @Override
  public void push(long[] keys, float[] values) {
    open.add(
        map.submitToKeys(set(keys), new AddRows(keys, values))
            .toCompletableFuture()
            .thenApply(done -> NOTHING));
  }

  @Override
  public void pull(long[] keys) {
    Map<Long, float[]> found = map.getAll(set(keys));
    float[] rows = new float[keys.length * width];
    for (int i = 0; i < keys.length; i++) {
      float[] row = found.get(keys[i]);
      if (row != null) {
        System.arraycopy(row, 0, rows, i * width, width);
      }
    }
    open.add(CompletableFuture.completedFuture(rows));
  }

  @Override
  public float[] await() throws Exception {
    return open.remove().get(1, TimeUnit.MINUTES);
  }

  @Override
  public void end() {
    client.shutdown();
  }
}
