// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.peer;

import com.hazelcast.config.Config;
import com.hazelcast.config.InMemoryFormat;
import com.hazelcast.config.JoinConfig;
import com.hazelcast.config.MapConfig;
import com.hazelcast.config.NetworkConfig;
import com.hazelcast.core.Hazelcast;
import com.hazelcast.core.HazelcastInstance;
import java.io.IOException;

/// A single member of Hazelcast on loopback. The program prints its port and ends when its standard
/// input is closed.
final class HazelcastServer {

  /// The name of the map of rows.
  static final String MAP = "table";

  private HazelcastServer() {}

  /// Takes no arguments.
  public static void main(String[] words) throws IOException {
    HazelcastInstance member = Hazelcast.newHazelcastInstance(config());
    System.out.println(member.getCluster().getLocalMember().getAddress().getPort());
    System.out.flush();
    int read = System.in.read();
    while (read >= 0) {
      read = System.in.read();
    }
    member.getLifecycleService().terminate();
  }

  private static Config config() {
    Config config = new Config();
    config.setProperty("hazelcast.logging.type", "none");
    config.setProperty("hazelcast.phone.home.enabled", "false");
    NetworkConfig network = config.getNetworkConfig();
    network.setPort(5701).setPortAutoIncrement(true).setPortCount(1000);
    network.getInterfaces().setEnabled(true).addInterface("127.0.0.1");
    JoinConfig join = network.getJoin();
    join.getAutoDetectionConfig().setEnabled(false);
    join.getMulticastConfig().setEnabled(false);
    config.getSerializationConfig().addDataSerializableFactory(AddRows.FACTORY_ID, AddRows.FACTORY);
    config.addMapConfig(
        new MapConfig(MAP)
            .setInMemoryFormat(InMemoryFormat.OBJECT)
            .setBackupCount(0)
            .setStatisticsEnabled(false));
    return config;
  }
}
