// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.job;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.ServerSocket;
import org.junit.jupiter.api.Test;

class OwnLoopbackTest {

  @Test
  void theAddressIsALoopbackAddressOtherThanTheUsualOne() throws Exception {
    assertThat(OwnLoopback.address().isLoopbackAddress()).isTrue();
    assertThat(OwnLoopback.address()).isNotEqualTo(InetAddress.getByName("127.0.0.1"));
  }

  @Test
  void consecutivePortsCanBeBound() throws Exception {
    String[] hostAndPort = OwnLoopback.free(2).split(":");
    InetAddress address = InetAddress.getByName(hostAndPort[0]);
    int port = Integer.parseInt(hostAndPort[1]);
    try (var first = new ServerSocket(port, 1, address);
        var second = new ServerSocket(port + 1, 1, address)) {
      assertThat(second.getLocalPort() - first.getLocalPort()).isOne();
    }
  }
}
