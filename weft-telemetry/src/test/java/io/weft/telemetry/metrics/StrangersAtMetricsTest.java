// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Proxy;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Checks connections to the port of metrics that send no valid HTTP request.
@Timeout(60)
class StrangersAtMetricsTest {

  private static final Duration LIMIT = Duration.ofMillis(500);

  private final List<Socket> strangers = new ArrayList<>();
  private MetricsServer server;
  private MetricsAddress address;

  @BeforeEach
  void listen() throws IOException {
    try (var free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      address = new MetricsAddress("127.0.0.1", free.getLocalPort());
    }
    server = MetricsServer.listen(address, LIMIT, request -> MetricsResponse.text(200, "here\n"));
  }

  @AfterEach
  void end() throws IOException {
    for (Socket stranger : strangers) {
      stranger.close();
    }
    server.close();
  }

  private Socket stranger(String words) throws IOException {
    var socket = new Socket(Proxy.NO_PROXY);
    strangers.add(socket);
    socket.connect(new java.net.InetSocketAddress(address.host(), address.port()));
    socket.getOutputStream().write(words.getBytes(StandardCharsets.US_ASCII));
    return socket;
  }

  private String read() throws IOException {
    try (InputStream in = URI.create("http://" + address + "/metrics").toURL().openStream()) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  private static String answer(Socket stranger) throws IOException {
    return new String(stranger.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
  }

  @Test
  void incompleteRequestsDoNotDelayTheNextOne() throws IOException {
    for (int i = 0; i < 3 * MetricsServer.MOST_CONNECTIONS; i++) {
      stranger(i % 2 == 0 ? "GET /metrics HTTP/1.1\r\nHost:" : "");
      if (i % 40 == 0) {
        assertThat(read()).isEqualTo("here\n");
      }
    }
    assertThat(read()).isEqualTo("here\n");
  }

  @Test
  void anIncompleteRequestIsClosedAfterTheLimit() throws IOException {
    for (String words : List.of("", "GET /metrics HTTP/1.1\r\n")) {
      assertThat(stranger(words).getInputStream().read()).isEqualTo(-1);
    }
  }

  @Test
  void aMalformedRequestIsAnsweredAndClosed() throws IOException {
    assertThat(answer(stranger("\u0001\u0002\r\n\r\n"))).startsWith("HTTP/1.1 400 ");
    assertThat(answer(stranger("GET / HTTP/2.0\r\n\r\n"))).startsWith("HTTP/1.1 400 ");
    assertThat(answer(stranger("GET /metrics?x=1 HTTP/1.0\r\n\r\n"))).startsWith("HTTP/1.1 200 ");
  }

  @Test
  void longRequestIsRefused() throws IOException {
    Socket stranger = stranger("GET / HTTP/1.1\r\nX: " + "x".repeat(MetricsConnection.MOST_BYTES));
    try {
      assertThat(answer(stranger)).startsWith("HTTP/1.1 431 ");
    } catch (SocketException reset) {
      // Unread bytes reset the connection, and the answer may be lost then.
      assertThat(reset).hasMessageContaining("reset");
    }
    assertThat(read()).isEqualTo("here\n");
  }

  @Test
  void thePortIsClosedAfterTheEnd() {
    server.close();
    org.assertj.core.api.Assertions.assertThatThrownBy(this::read)
        .isInstanceOf(java.net.ConnectException.class);
  }
}
