// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.transport;

import io.weft.transport.Address;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import java.util.Random;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/// A bare socket that speaks the protocol of docs/protocol/tcp.md or sends arbitrary bytes. It is
/// written from the document and not from the transport, so that tests check both against each
/// other.
final class RawPeer implements AutoCloseable {

  private static final byte[] SECRET = "the secret of this job".getBytes(StandardCharsets.UTF_8);

  private final Net net;
  private final SocketChannel channel;
  private final byte[] nonce = new byte[32];

  RawPeer(Net net, Address address) throws IOException {
    this.net = net;
    String[] parts = address.location().split(":");
    channel = SocketChannel.open(new InetSocketAddress(parts[0], Integer.parseInt(parts[1])));
    channel.configureBlocking(false);
    new Random(9).nextBytes(nonce);
  }

  void send(byte[] bytes) throws IOException {
    ByteBuffer out = ByteBuffer.wrap(bytes);
    while (out.hasRemaining()) {
      channel.write(out);
      net.poll();
    }
  }

  /// Returns the bytes that arrive until there are `bytes` of them or the peer ends the connection.
  byte[] receive(int bytes) {
    ByteBuffer in = ByteBuffer.allocate(bytes);
    net.until(() -> !in.hasRemaining() || read(in) < 0, bytes + " bytes or the end");
    byte[] got = new byte[in.position()];
    in.flip().get(got);
    return got;
  }

  private int read(ByteBuffer in) {
    try {
      return channel.read(in);
    } catch (IOException e) {
      return -1;
    }
  }

  /// Polls until the peer has closed the connection, and ignores the bytes that arrive before.
  void awaitEnd() {
    ByteBuffer in = ByteBuffer.allocate(1 << 16);
    net.until(() -> read(in.clear()) < 0, "the connection is closed");
  }

  static byte[] hello(byte[] nonce) {
    return start(0x11).put(nonce).array();
  }

  /// Returns the answer to a wrong proof.
  static byte[] refusal() {
    return start(0x18, 8).array();
  }

  private static ByteBuffer start(int kind) {
    return start(kind, kind <= 0x12 ? 40 : 96);
  }

  private static ByteBuffer start(int kind, int bytes) {
    return ByteBuffer.allocate(bytes)
        .order(ByteOrder.LITTLE_ENDIAN)
        .put("WEFT".getBytes(StandardCharsets.US_ASCII))
        .put((byte) 1)
        .put((byte) kind)
        .putShort((short) 0);
  }

  /// Returns the initiator's third frame: node 5, epoch 1 and job "contract", which requests rank
  /// 1.
  byte[] proof(byte[] challenge) {
    byte[] theirs = new byte[32];
    System.arraycopy(challenge, 8, theirs, 0, 32);
    byte[] claim =
        ByteBuffer.allocate(28)
            .order(ByteOrder.LITTLE_ENDIAN)
            .putInt(5)
            .putInt(1)
            .putLong(1)
            .putLong(4711)
            .putInt(0)
            .array();
    byte[] tag =
        hmac(ascii("weft job tag 1"), nonce, theirs, "contract".getBytes(StandardCharsets.UTF_8));
    byte[] mac = hmac(ascii("weft handshake 1"), new byte[] {1}, nonce, theirs, claim, tag);
    return start(0x13).put(claim, 0, 24).put(tag).put(mac).array();
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  private static byte[] hmac(byte[]... parts) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(SECRET, "HmacSHA256"));
      for (byte[] part : parts) {
        mac.update(part);
      }
      return mac.doFinal();
    } catch (GeneralSecurityException e) {
      throw new AssertionError(e);
    }
  }

  /// Performs the handshake and returns the bytes of the proof.
  byte[] authenticate() throws IOException {
    send(hello(nonce));
    byte[] proof = proof(receive(40));
    send(proof);
    byte[] answer = receive(96);
    if (answer.length != 96 || answer[6] != 0) {
      throw new AssertionError("not accepted: " + answer.length + " bytes");
    }
    return proof;
  }

  byte[] nonce() {
    return nonce;
  }

  static byte[] frame(int kind, int immediate, int context, int key, long offset, long length) {
    return ByteBuffer.allocate(32)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putShort((short) 0xF7E1)
        .put((byte) 3)
        .put((byte) kind)
        .putInt(immediate)
        .putInt(context)
        .putInt(key)
        .putLong(offset)
        .putLong(length)
        .array();
  }

  /// Returns a payload with the zeros that follow it.
  static byte[] padded(byte[] payload) {
    return Arrays.copyOf(payload, (payload.length + 31) / 32 * 32);
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
