// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.cluster.Store;
import io.weft.comm.CommException;
import io.weft.transport.spi.Encryption;
import io.weft.transport.spi.Secret;
import io.weft.transport.tls.TlsParty;
import io.weft.transport.tls.TlsStreams;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class SecureTcpStoreTest extends StoreContract {

  private static final Duration LIMIT = Duration.ofSeconds(20);
  private final JobTrust trust =
      new JobTrust(SecretFile.random(), new Encryption.Ephemeral(), "job");
  private final TcpStoreServer server = bind(trust);

  private static TcpStoreServer bind(JobTrust trust) {
    return TcpStoreServer.bind(InetAddress.getLoopbackAddress(), 0, trust, LIMIT);
  }

  private static TcpStore connect(int port, JobTrust trust) throws InterruptedException {
    return TcpStore.connect("127.0.0.1", port, trust, LIMIT);
  }

  private JobTrust plain() {
    return new JobTrust(trust.secret(), new Encryption.Off(), "job");
  }

  @Override
  Store open() throws Exception {
    return connect(server.address().getPort(), trust);
  }

  @AfterEach
  void stop() {
    server.close();
  }

  @Test
  void differentSecretIsRefusedAtOnce() {
    var other = new JobTrust(SecretFile.random(), trust.encryption(), "job");
    assertThatThrownBy(() -> connect(server.address().getPort(), other))
        .isInstanceOf(CommException.Setup.class)
        .hasMessageContaining("another secret");
  }

  @Test
  void anUnencryptedClientLearnsTheSetting() {
    assertThatThrownBy(() -> connect(server.address().getPort(), plain()))
        .isInstanceOf(CommException.Setup.class)
        .hasMessageContainingAll("encrypts", "--secure (WEFT_SECURE)", "off here");
  }

  @Test
  void anEncryptingClientLearnsThatTheStoreDoesNotEncrypt() {
    try (TcpStoreServer open = bind(plain())) {
      assertThatThrownBy(() -> connect(open.address().getPort(), trust))
          .isInstanceOf(CommException.Setup.class)
          .hasMessageContainingAll("not encrypted", "--secure (WEFT_SECURE)", "on here");
    }
  }

  @Test
  void nothingOnTheWireCanBeRead() throws Exception {
    var seen = new CompletableFuture<byte[]>();
    try (var relay = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Thread.startVirtualThread(() -> record(relay, seen));
      try (TcpStore store = connect(relay.getLocalPort(), trust)) {
        store.put("a key to look for", "a value to look for".getBytes(StandardCharsets.UTF_8));
      }
      String wire =
          new String(seen.get(LIMIT.toSeconds(), TimeUnit.SECONDS), StandardCharsets.ISO_8859_1);
      assertThat(wire).hasSizeGreaterThan(100).doesNotContain("WEFT", "key to look", "value to");
    }
  }

  /// Relays one connection and records the bytes of the client.
  private void record(ServerSocket relay, CompletableFuture<byte[]> seen) {
    var said = new java.io.ByteArrayOutputStream();
    try (Socket from = relay.accept();
        Socket to = new Socket(server.address().getAddress(), server.address().getPort())) {
      Thread.startVirtualThread(
          () -> {
            try {
              to.getInputStream().transferTo(from.getOutputStream());
            } catch (IOException ended) {
              assert from.isClosed() || to.isClosed();
            }
          });
      InputStream in = from.getInputStream();
      byte[] bytes = new byte[4096];
      for (int got = in.read(bytes); got >= 0; got = in.read(bytes)) {
        said.write(bytes, 0, got);
        to.getOutputStream().write(bytes, 0, got);
      }
    } catch (IOException ended) {
      assert relay.isBound();
    }
    seen.complete(said.toByteArray());
  }

  @Test
  void anIntermediaryBetweenTwoTlsSessionsIsDetected() throws Exception {
    var party = TlsParty.of(new Encryption.Ephemeral());
    try (var man = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Thread.startVirtualThread(() -> carry(man, party));
      assertThatThrownBy(() -> connect(man.getLocalPort(), trust))
          .isInstanceOf(CommException.Setup.class)
          .hasMessageContaining("another secret");
    }
  }

  /// Terminates TLS on both sides and repeats the messages of each side to the other.
  private void carry(ServerSocket man, TlsParty party) {
    try (Socket from = man.accept();
        Socket to = new Socket(server.address().getAddress(), server.address().getPort())) {
      var client = new TlsStreams(party.answer(), from.getInputStream(), from.getOutputStream());
      client.handshake();
      var store = new TlsStreams(party.call(), to.getInputStream(), to.getOutputStream());
      store.handshake();
      repeat(store, client, StoreWire.magicBytes() + StoreWire.NONCE_BYTES);
      repeat(client, store, StoreWire.magicBytes() + StoreWire.NONCE_BYTES + StoreWire.PROOF_BYTES);
      repeat(store, client, 1);
    } catch (IOException ended) {
      assert man.isBound();
    }
  }

  private static void repeat(TlsStreams from, TlsStreams to, int bytes) throws IOException {
    to.output().write(from.input().readNBytes(bytes));
    to.output().flush();
  }

  @Test
  void toStringDoesNotContainTheSecret() {
    Secret secret = trust.secret();
    assertThat(trust.toString())
        .doesNotContain(new String(secret.bytes(), StandardCharsets.US_ASCII));
  }
}
