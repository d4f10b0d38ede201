// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.weft.cluster.Store;
import io.weft.comm.CommException;
import io.weft.transport.spi.Encryption;
import io.weft.transport.spi.Secret;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class TcpStoreTest extends StoreContract {

  private static final Duration LIMIT = Duration.ofSeconds(20);
  private final Secret secret = SecretFile.random();
  private final TcpStoreServer server =
      TcpStoreServer.bind(InetAddress.getLoopbackAddress(), 0, plain(secret), LIMIT);

  @Override
  Store open() throws Exception {
    return connect(secret);
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private TcpStore connect(Secret with) throws InterruptedException {
    return TcpStore.connect("127.0.0.1", server.address().getPort(), plain(with), LIMIT);
  }

  private static JobTrust plain(Secret secret) {
    return new JobTrust(secret, new Encryption.Off(), "job");
  }

  private Socket stranger() throws Exception {
    var socket = new Socket(server.address().getAddress(), server.address().getPort());
    socket.setSoTimeout(10_000);
    return socket;
  }

  @Test
  void theServerListensOnExactlyTheRequestedAddress() {
    assertThat(server.address().getAddress()).isEqualTo(InetAddress.getLoopbackAddress());
    assertThat(server.location()).isEqualTo("127.0.0.1:" + server.address().getPort());
  }

  @Test
  void differentSecretIsRefusedAtOnce() {
    assertThatThrownBy(() -> connect(SecretFile.random()))
        .isInstanceOf(CommException.Setup.class)
        .hasMessageContaining("another secret")
        .hasMessageContaining("WEFT_SECRET_FILE");
  }

  @Test
  void aStoreOfAnotherJobWithTheSameSecretIsRefused() {
    var other = new JobTrust(secret, new Encryption.Off(), "slurm-9.0");
    int port = server.address().getPort();
    assertThatThrownBy(() -> TcpStore.connect("127.0.0.1", port, other, Duration.ofMillis(500)))
        .isInstanceOf(CommException.Setup.class)
        .hasMessageContaining("is of job 'job'")
        .hasMessageContaining("is of job 'slurm-9.0'");
  }

  @Test
  void everyServerHasItsOwnMeeting() throws Exception {
    try (TcpStoreServer another =
            TcpStoreServer.bind(InetAddress.getLoopbackAddress(), 0, plain(secret), LIMIT);
        TcpStore one = connect(secret);
        TcpStore two = connect(secret);
        TcpStore three =
            TcpStore.connect("127.0.0.1", another.address().getPort(), plain(secret), LIMIT)) {
      assertThat(one.meeting()).isNotEmpty().isEqualTo(two.meeting());
      assertThat(three.meeting()).isNotEqualTo(one.meeting());
    }
  }

  @Test
  void allAddressesOfNameAreTried() throws Exception {
    // The name resolves to 127.0.0.1 and on most systems to ::1, in either order; the store has one
    // of them.
    assumeTrue(InetAddress.getAllByName("localhost").length > 1, "needs a name with two addresses");
    for (InetAddress address : InetAddress.getAllByName("localhost")) {
      try (TcpStoreServer one = TcpStoreServer.bind(address, 0, plain(secret), LIMIT);
          TcpStore store =
              TcpStore.connect("localhost", one.address().getPort(), plain(secret), LIMIT)) {
        assertThat(store.meeting()).isNotEmpty();
      }
    }
  }

  @Test
  void theReasonOfTheFirstAttemptsIsReported() throws Exception {
    int port;
    try (var free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = free.getLocalPort();
    }
    var silent = new CountDownLatch(1);
    var refusing = new CountDownLatch(1);
    Thread.ofPlatform()
        .start(
            () -> {
              try {
                refusing.await();
                // The listener takes the connections of the last attempts and sends nothing.
                try (var there = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
                  there.setSoTimeout(10_000);
                  silent.await();
                }
              } catch (java.io.IOException | InterruptedException gone) {
                Thread.currentThread().interrupt();
              }
            });
    CompletableFuture.delayedExecutor(300, TimeUnit.MILLISECONDS).execute(refusing::countDown);
    try {
      assertThatThrownBy(
              () -> TcpStore.connect("localhost", port, plain(secret), Duration.ofMillis(800)))
          .isInstanceOf(CommException.Setup.class)
          .hasMessageContaining("127.0.0.1:" + port + ": Connection refused")
          .hasMessageContaining("loopback");
    } finally {
      silent.countDown();
    }
  }

  @Test
  void takenPortIsNamed() {
    assertThatThrownBy(
            () ->
                TcpStoreServer.bind(
                    InetAddress.getLoopbackAddress(),
                    server.address().getPort(),
                    plain(secret),
                    LIMIT))
        .isInstanceOf(CommException.Setup.class)
        .hasMessageContaining(server.location());
  }

  @Test
  void theErrorNamesAStoreThatNeverStarts() throws Exception {
    int port;
    try (var free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = free.getLocalPort();
    }
    assertThatThrownBy(
            () -> TcpStore.connect("127.0.0.1", port, plain(secret), Duration.ofMillis(80)))
        .isInstanceOf(CommException.Setup.class)
        .hasMessageContaining("127.0.0.1:" + port)
        .hasMessageContaining("0.08 s");
  }

  @Test
  void aServerOtherThanAStoreIsReported() throws Exception {
    try (var other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Thread.ofVirtual()
          .start(
              () -> {
                try (Socket peer = other.accept()) {
                  peer.getOutputStream()
                      .write("HTTP/1.1 400 Bad Request\r\n".getBytes(StandardCharsets.US_ASCII));
                } catch (java.io.IOException gone) {
                  throw new java.io.UncheckedIOException(gone);
                }
              });
      assertThatThrownBy(
              () -> TcpStore.connect("127.0.0.1", other.getLocalPort(), plain(secret), LIMIT))
          .isInstanceOf(CommException.Setup.class)
          .hasMessageContaining("a server other than a Weft store");
    }
  }

  @Test
  void aServerWithoutTheSecretIsDetected() throws Exception {
    try (TcpStoreServer impostor =
        TcpStoreServer.bind(
            InetAddress.getLoopbackAddress(), 0, plain(SecretFile.random()), LIMIT)) {
      assertThatThrownBy(
              () ->
                  TcpStore.connect("127.0.0.1", impostor.address().getPort(), plain(secret), LIMIT))
          .isInstanceOf(CommException.Setup.class)
          .hasMessageContaining("another secret");
    }
  }

  @Test
  void unprovenClientsDoNotDisturbOthers() throws Exception {
    long seed = Long.getLong("weft.test.seed", System.nanoTime());
    var random = new Random(seed);
    try (TcpStore good = connect(secret)) {
      for (int i = 0; i < 200; i++) {
        byte[] junk = new byte[random.nextInt(200)];
        random.nextBytes(junk);
        try (Socket socket = stranger()) {
          socket.getOutputStream().write(junk);
        }
        good.put("k" + i, new byte[] {(byte) i});
        assertThat(good.get("k" + i, LIMIT)).as("seed " + seed).isEqualTo(new byte[] {(byte) i});
      }
    }
  }

  @Test
  void theOldestOfManySilentClientsAreDisconnected() throws Exception {
    var silent = new ArrayList<Socket>();
    try {
      for (int i = 0; i < UnprovenConnections.MOST + 20; i++) {
        silent.add(stranger());
      }
      for (int i = 0; i < 20; i++) {
        assertThat(endOf(silent.get(i))).as("stranger " + i).isTrue();
      }
      try (TcpStore friend = connect(secret)) {
        friend.put("k", new byte[] {1});
      }
    } finally {
      for (Socket socket : silent) {
        socket.close();
      }
    }
  }

  @Test
  void aSlowUnprovenClientIsDisconnectedInTime() throws Exception {
    try (Socket socket = stranger()) {
      // A byte now and then would always restart a limit for single reads.
      assertThat(serverNonce(socket)).hasSize(StoreWire.NONCE_BYTES);
      socket.setSoTimeout(200);
      long start = System.nanoTime();
      boolean ended = false;
      for (int i = 0; !ended && System.nanoTime() - start < LIMIT.toNanos(); i++) {
        try {
          socket.getOutputStream().write(i < StoreWire.magicBytes() ? StoreWire.magic()[i] : 0);
          ended = socket.getInputStream().read() < 0;
        } catch (java.net.SocketTimeoutException stillOpen) {
          ended = false;
        } catch (java.io.IOException reset) {
          ended = true;
        }
      }
      assertThat(ended).isTrue();
    }
  }

  @Test
  void anUnprovenClientThatClaimsHugeLengthsIsDisconnected() throws Exception {
    try (Socket socket = stranger()) {
      // This is one write, because the server may close at its first bytes and a later write would
      // fail.
      byte[] claim = new byte[72];
      Arrays.fill(claim, 64, 72, (byte) 0x7f);
      socket.getOutputStream().write(claim);
      assertThat(endOf(socket)).isTrue();
    }
  }

  @Test
  void aProvenClientThatClaimsAHugeLengthIsDisconnected() throws Exception {
    try (Socket socket = stranger()) {
      byte[] nonce = opened(socket);
      assertThat(nonce).hasSize(StoreWire.NONCE_BYTES);
      var out = new DataOutputStream(socket.getOutputStream());
      out.writeByte(StoreWire.PUT);
      out.writeShort(1);
      out.writeByte('k');
      out.writeInt(Integer.MAX_VALUE);
      assertThat(endOf(socket)).isTrue();
    }
  }

  @Test
  void aProofOfAnEarlierConnectionIsRefused() throws Exception {
    byte[] clientNonce = new byte[StoreWire.NONCE_BYTES];
    byte[] proof;
    try (Socket first = stranger()) {
      proof = StoreWire.clientProof(secret, serverNonce(first), clientNonce, new byte[0]);
    }
    try (Socket second = stranger()) {
      assertThat(serverNonce(second)).isNotEqualTo(clientNonce);
      var out = new DataOutputStream(second.getOutputStream());
      out.write(StoreWire.magic());
      out.write(clientNonce);
      out.write(proof);
      assertThat(second.getInputStream().read()).isEqualTo(StoreWire.REFUSED);
    }
  }

  @Test
  void aLateClientFindsEarlierValues() throws Exception {
    try (TcpStore early = connect(secret)) {
      early.put("k", new byte[] {1});
    }
    try (TcpStore late = connect(secret)) {
      assertThat(late.find("k")).contains(new byte[] {1});
    }
  }

  @Test
  void aClientWithABrokenConnectionReconnects() throws Exception {
    try (var relay = new CutRelay(server.address());
        TcpStore store = TcpStore.connect("127.0.0.1", relay.port(), plain(secret), LIMIT)) {
      store.put("k", new byte[] {1});
      relay.cut();
      assertThat(store.find("k")).contains(new byte[] {1});
      relay.cut();
      store.put("k", new byte[] {2});
      relay.cut();
      assertThat(store.awaitChange("k", new byte[] {1}, LIMIT)).contains(new byte[] {2});
      relay.cut();
      assertThatThrownBy(() -> store.putIfAbsent("other", new byte[] {1}))
          .isInstanceOf(CommException.Setup.class)
          .hasMessageContaining("read the key");
      assertThat(store.putIfAbsent("another", new byte[] {1})).isTrue();
    }
  }

  @Test
  void anotherStoreAtTheAddressIsDetected() throws Exception {
    try (TcpStore store = connect(secret)) {
      store.put("k", new byte[] {1});
      int port = server.address().getPort();
      server.close();
      try (TcpStoreServer next =
          AddressClaim.bind("127.0.0.1", port, plain(secret), Deadline.after(LIMIT))) {
        assertThat(next.find("k")).isEmpty();
        assertThatThrownBy(() -> store.find("k"))
            .isInstanceOf(CommException.Setup.class)
            .hasMessageContaining("is not this rank's")
            .hasMessageContaining(next.location());
      }
    }
  }

  @Test
  void aFullServerIsNamedAndContinuesToServe() throws Exception {
    byte[] value = new byte[Store.MAX_VALUE_BYTES];
    try (TcpStore store = connect(secret)) {
      int fitting = (int) (InMemoryStore.MAX_BYTES / (value.length + 5));
      for (int i = 0; i < fitting; i++) {
        store.put("%05d".formatted(i), value);
      }
      assertThatThrownBy(
              () -> {
                store.put("more", value);
                store.put("yet more", value);
              })
          .isInstanceOf(CommException.Setup.class)
          .hasMessageContaining(server.location() + " is full")
          .hasMessageContaining("64 MiB");
      assertThatThrownBy(() -> store.putIfAbsent("yet more", value))
          .isInstanceOf(CommException.Setup.class)
          .hasMessageContaining("full");
      store.remove("00000");
      store.put("yet more", value);
      assertThat(store.find("yet more")).contains(value);
    }
  }

  @Test
  void aClosedClientThrows() throws Exception {
    TcpStore store = connect(secret);
    store.close();
    assertThatThrownBy(() -> store.find("k"))
        .isInstanceOf(CommException.Setup.class)
        .hasMessageContaining("has left the job");
  }

  @Test
  void lostServerIsNamed() throws Exception {
    try (TcpStore store = connect(secret)) {
      server.close();
      assertThatThrownBy(() -> store.get("k", LIMIT))
          .isInstanceOf(CommException.Setup.class)
          .hasMessageContaining("out of reach")
          .hasMessageContaining(server.location());
    }
  }

  private byte[] serverNonce(Socket socket) throws Exception {
    InputStream in = socket.getInputStream();
    assertThat(in.readNBytes(StoreWire.magicBytes())).isEqualTo(StoreWire.magic());
    return in.readNBytes(StoreWire.NONCE_BYTES);
  }

  private byte[] opened(Socket socket) throws Exception {
    byte[] serverNonce = serverNonce(socket);
    byte[] clientNonce = StoreWire.nonce();
    var out = socket.getOutputStream();
    out.write(StoreWire.magic());
    out.write(clientNonce);
    out.write(StoreWire.clientProof(secret, serverNonce, clientNonce, new byte[0]));
    assertThat(socket.getInputStream().read()).isEqualTo(StoreWire.WELCOME);
    assertThat(socket.getInputStream().readNBytes(StoreWire.PROOF_BYTES))
        .isEqualTo(StoreWire.serverProof(secret, serverNonce, clientNonce, new byte[0]));
    byte[] nonces = StoreWire.nonces(serverNonce, clientNonce);
    StoreWire.writeText(new DataOutputStream(out), secret, 0, nonces, "job");
    var in = new DataInputStream(socket.getInputStream());
    assertThat(in.read()).isEqualTo(StoreWire.SAME_JOB);
    assertThat(StoreWire.readText(in, secret, StoreWire.SAME_JOB, nonces)).isNotEmpty();
    return clientNonce;
  }

  /// Returns whether the server closed the connection, by an end or a reset.
  private static boolean endOf(Socket socket) {
    try {
      InputStream in = socket.getInputStream();
      while (in.read() >= 0) {
        // Skips the server's opening message.
      }
      return true;
    } catch (java.net.SocketTimeoutException open) {
      return false;
    } catch (java.io.IOException reset) {
      return true;
    }
  }
}
