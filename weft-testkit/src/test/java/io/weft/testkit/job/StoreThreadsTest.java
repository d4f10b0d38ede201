// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.job;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.cluster.store.JobTrust;
import io.weft.cluster.store.SecretFile;
import io.weft.cluster.store.TcpStore;
import io.weft.cluster.store.TcpStoreServer;
import io.weft.transport.spi.Encryption;
import java.net.InetAddress;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class StoreThreadsTest {

  private static final Duration LIMIT = Duration.ofSeconds(20);

  @Test
  void theStoreAnswersWhileNoVirtualThreadCanRun() throws Exception {
    var trust = new JobTrust(SecretFile.random(), new Encryption.Off(), "job");
    try (var carriers = new BusyCarriers();
        TcpStoreServer server =
            TcpStoreServer.bind(InetAddress.getLoopbackAddress(), 0, trust, LIMIT);
        TcpStore store = TcpStore.connect("127.0.0.1", server.address().getPort(), trust, LIMIT)) {
      store.put("key", new byte[] {7});
      assertThat(store.get("key", LIMIT)).containsExactly(7);
      assertThat(carriers.count()).isPositive();
    }
  }
}
