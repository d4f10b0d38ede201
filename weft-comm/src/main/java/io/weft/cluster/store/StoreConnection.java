// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.store;

import static io.weft.cluster.Store.MAX_VALUE_BYTES;

import io.weft.comm.CommException;
import io.weft.transport.spi.Secret;
import io.weft.transport.tls.TlsMark;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// One connection of a client to its store: first the proof of secret and job, then requests, each
/// with its reply. An `IOException` in any of them ends the connection. Confined to one thread at a
/// time.
final class StoreConnection implements AutoCloseable {

  private static final int REPLY_MILLIS = 10_000;

  private final Socket socket;
  private final DataInputStream in;
  private final DataOutputStream out;
  private final String location;
  private String meeting = "";

  /// Takes a line on which nothing has been sent.
  StoreConnection(StoreLine line, String location) {
    this.socket = line.socket();
    this.location = location;
    this.in = new DataInputStream(new BufferedInputStream(line.in()));
    this.out = new DataOutputStream(new BufferedOutputStream(line.out()));
  }

  Socket socket() {
    return socket;
  }

  /// The unique identifier of the server's store; empty before `prove`.
  String meeting() {
    return meeting;
  }

  /// Proves secret and job to the server, and checks the server's proofs. Throws
  /// `CommException.Setup` if the server is not a store or has another secret, `JobMismatch` if it
  /// serves another job, and `IOException` if the line ends before.
  void prove(Secret secret, String job, byte[] binding) throws IOException {
    // Sent at once, so that a server that waits for TLS recognizes the client.
    out.write(StoreWire.magic());
    out.flush();
    byte[] magic = new byte[StoreWire.magicBytes()];
    in.readFully(magic, 0, TlsMark.BYTES);
    if (TlsMark.isTls(magic[0], magic[1])) {
      throw new CommException.Setup(
          "the job's store at "
              + location
              + " encrypts; give the launcher and all ranks the same --secure (WEFT_SECURE), it is"
              + " off here",
          null);
    }
    in.readFully(magic, TlsMark.BYTES, magic.length - TlsMark.BYTES);
    if (!Arrays.equals(magic, StoreWire.magic())) {
      throw new CommException.Setup(
          "a server other than a Weft store answers at "
              + location
              + "; set WEFT_STORE to the address of this job's store",
          null);
    }
    byte[] serverNonce = new byte[StoreWire.NONCE_BYTES];
    in.readFully(serverNonce);
    byte[] clientNonce = StoreWire.nonce();
    out.write(clientNonce);
    out.write(StoreWire.clientProof(secret, serverNonce, clientNonce, binding));
    out.flush();
    int status = in.readUnsignedByte();
    if (status == StoreWire.REFUSED) {
      throw differentSecret();
    }
    byte[] proof = new byte[StoreWire.PROOF_BYTES];
    in.readFully(proof);
    if (status != StoreWire.WELCOME
        || !StoreWire.same(
            StoreWire.serverProof(secret, serverNonce, clientNonce, binding), proof)) {
      throw differentSecret();
    }
    byte[] nonces = StoreWire.nonces(serverNonce, clientNonce);
    StoreWire.writeText(out, secret, 0, nonces, job);
    out.flush();
    int agreed = in.readUnsignedByte();
    String text = StoreWire.readText(in, secret, agreed, nonces);
    if (agreed != StoreWire.SAME_JOB) {
      throw new JobMismatch(
          "that store is of job '" + text + "', this rank is of job '" + job + "'");
    }
    meeting = text;
  }

  /// Stores a value. Returns false if the store is full.
  boolean put(String key, byte[] value) throws IOException {
    socket.setSoTimeout(REPLY_MILLIS);
    request(StoreWire.PUT, key);
    bytes(value);
    return status(StoreWire.DONE, StoreWire.FULL) == StoreWire.DONE;
  }

  /// Replaces the value `expected`, or an absent one if `expected` is null. Returns `DONE`,
  /// `DIFFERENT` or `FULL`.
  int compareAndSet(String key, byte @Nullable [] expected, byte[] value) throws IOException {
    socket.setSoTimeout(REPLY_MILLIS);
    request(StoreWire.COMPARE_AND_SET, key);
    if (expected == null) {
      out.writeInt(StoreWire.NO_VALUE);
    } else {
      bytes(expected);
    }
    bytes(value);
    return status(StoreWire.DONE, StoreWire.DIFFERENT, StoreWire.FULL);
  }

  void remove(String key) throws IOException {
    socket.setSoTimeout(REPLY_MILLIS);
    request(StoreWire.REMOVE, key);
    int unused = status(StoreWire.DONE);
  }

  /// Returns the value, for which the server waits at most `waitMillis`.
  Optional<byte[]> find(String key, int waitMillis) throws IOException {
    socket.setSoTimeout(waitMillis + REPLY_MILLIS);
    request(StoreWire.GET, key);
    out.writeInt(waitMillis);
    return value();
  }

  /// Returns a value other than `known`, for which the server waits at most `waitMillis`.
  Optional<byte[]> findOther(String key, byte[] known, int waitMillis) throws IOException {
    socket.setSoTimeout(waitMillis + REPLY_MILLIS);
    request(StoreWire.GET_OTHER, key);
    out.writeInt(waitMillis);
    bytes(known);
    return value();
  }

  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException alreadyGone) {
      // Closing can fail without loss, because every request has been answered or has failed.
      assert socket.isClosed();
    }
  }

  private void request(int kind, String key) throws IOException {
    byte[] bytes = key.getBytes(StandardCharsets.UTF_8);
    out.writeByte(kind);
    out.writeShort(bytes.length);
    out.write(bytes);
  }

  private void bytes(byte[] value) throws IOException {
    out.writeInt(value.length);
    out.write(value);
  }

  private int status(int... allowed) throws IOException {
    out.flush();
    int status = in.readUnsignedByte();
    if (Arrays.stream(allowed).noneMatch(one -> one == status)) {
      throw new IOException("unexpected reply " + status);
    }
    return status;
  }

  private Optional<byte[]> value() throws IOException {
    if (status(StoreWire.FOUND, StoreWire.ABSENT) == StoreWire.ABSENT) {
      return Optional.empty();
    }
    int length = in.readInt();
    if (length < 0 || length > MAX_VALUE_BYTES) {
      throw new IOException("a value of " + length + " bytes");
    }
    byte[] value = new byte[length];
    in.readFully(value);
    return Optional.of(value);
  }

  private CommException.Setup differentSecret() {
    return new CommException.Setup(
        "the job's store at "
            + location
            + " has another secret than this rank; give all ranks"
            + " of the job the same WEFT_SECRET_FILE or WEFT_SECRET, or, if it is another job's,"
            + " another WEFT_STORE",
        null);
  }
}
