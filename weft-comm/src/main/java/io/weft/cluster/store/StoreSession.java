// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.store;

import io.weft.CommException;
import io.weft.cluster.Store;
import io.weft.transport.spi.Secret;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The server's side of one connection, on its own virtual thread.
final class StoreSession {

  private static final Logger LOG = LoggerFactory.getLogger(StoreSession.class);
  private static final Duration HANDSHAKE = Duration.ofSeconds(5);

  private final Socket socket;
  private final Store values;
  private final Secret secret;

  StoreSession(Socket socket, Store values, Secret secret) {
    this.socket = socket;
    this.values = values;
    this.secret = secret;
  }

  /// Lets the peer prove that it knows the secret; false = it does not, or took too long.
  boolean opens() {
    try {
      var out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
      byte[] serverNonce = StoreWire.nonce();
      out.write(StoreWire.magic());
      out.write(serverNonce);
      out.flush();
      Deadline deadline = Deadline.after(HANDSHAKE);
      if (!Arrays.equals(StoreWire.magic(), read(StoreWire.magicBytes(), deadline))) {
        LOG.debug("{} sent something that is not Weft; closed", socket.getRemoteSocketAddress());
        return false;
      }
      byte[] clientNonce = read(StoreWire.NONCE_BYTES, deadline);
      byte[] proof = read(StoreWire.PROOF_BYTES, deadline);
      if (!StoreWire.same(StoreWire.clientProof(secret, serverNonce, clientNonce), proof)) {
        LOG.warn(
            "refused {} at the bootstrap store: its secret is not this job's",
            socket.getRemoteSocketAddress());
        out.writeByte(StoreWire.REFUSED);
        out.flush();
        return false;
      }
      out.writeByte(StoreWire.WELCOME);
      out.write(StoreWire.serverProof(secret, serverNonce, clientNonce));
      out.flush();
      return true;
    } catch (IOException stranger) {
      LOG.debug(
          "{} did not open properly: {}", socket.getRemoteSocketAddress(), stranger.toString());
      return false;
    }
  }

  /// Answers requests until the peer leaves, breaks the protocol or the server closes the socket.
  void serve() throws InterruptedException {
    try {
      // A rank is silent between its requests for as long as it computes.
      socket.setSoTimeout(0);
      var in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
      var out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
      for (int request = in.read(); request >= 0; request = in.read()) {
        String key = key(in);
        switch (request) {
          case StoreWire.PUT -> put(key, in, out);
          case StoreWire.GET -> get(key, in, out);
          default -> throw new IOException("unknown request " + request);
        }
        out.flush();
      }
    } catch (IOException gone) {
      LOG.debug(
          "{} left the bootstrap store: {}", socket.getRemoteSocketAddress(), gone.toString());
    }
  }

  private void put(String key, DataInputStream in, DataOutputStream out) throws IOException {
    int length = in.readInt();
    if (length < 0 || length > Store.MAX_VALUE_BYTES) {
      throw new IOException("a value of " + length + " bytes");
    }
    byte[] value = new byte[length];
    in.readFully(value);
    int status = StoreWire.DONE;
    try {
      values.put(key, value);
    } catch (CommException.Setup full) {
      status = StoreWire.FULL;
    }
    out.writeByte(status);
  }

  private void get(String key, DataInputStream in, DataOutputStream out)
      throws IOException, InterruptedException {
    int millis = Math.clamp(in.readInt(), 0, StoreWire.MAX_WAIT_MILLIS);
    Optional<byte[]> value = values.find(key);
    if (value.isEmpty() && millis > 0) {
      try {
        value = Optional.of(values.get(key, Duration.ofMillis(millis)));
      } catch (CommException.Setup absent) {
        value = Optional.empty();
      }
    }
    if (value.isEmpty()) {
      out.writeByte(StoreWire.ABSENT);
    } else {
      out.writeByte(StoreWire.FOUND);
      out.writeInt(value.get().length);
      out.write(value.get());
    }
  }

  private static String key(DataInputStream in) throws IOException {
    int length = in.readUnsignedShort();
    if (length == 0 || length > Store.MAX_KEY_BYTES) {
      throw new IOException("a key of " + length + " bytes");
    }
    byte[] key = new byte[length];
    in.readFully(key);
    return new String(key, StandardCharsets.UTF_8);
  }

  /// Unbuffered: not a byte of the first request is taken.
  private byte[] read(int bytes, Deadline deadline) throws IOException {
    InputStream in = socket.getInputStream();
    byte[] read = new byte[bytes];
    int at = 0;
    while (at < bytes) {
      if (deadline.passed()) {
        throw new SocketTimeoutException("no proof of the secret within " + deadline);
      }
      socket.setSoTimeout(deadline.remainingMillis(Integer.MAX_VALUE));
      int count = in.read(read, at, bytes - at);
      if (count < 0) {
        throw new EOFException("closed during the opening");
      }
      at += count;
    }
    return read;
  }
}
