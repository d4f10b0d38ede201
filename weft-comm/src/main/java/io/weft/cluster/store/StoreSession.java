// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.store;

import io.weft.cluster.Store;
import io.weft.comm.CommException;
import io.weft.transport.spi.Secret;
import io.weft.transport.tls.TlsMark;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The server's side of one connection, on its own thread.
final class StoreSession {

  private static final Logger LOG = LoggerFactory.getLogger(StoreSession.class);

  /// Buffer size, which holds the server's messages before the peer has proved anything.
  private static final int OPENING_BYTES = 64;

  private final StoreLine line;
  private final Store values;
  private final Secret secret;
  private final StoreIdentity identity;

  /// The job of a store.
  ///
  /// @param job the job's identity
  /// @param meeting the unique identifier of the store
  record StoreIdentity(String job, String meeting) {}

  StoreSession(StoreLine line, Store values, Secret secret, StoreIdentity identity) {
    this.line = line;
    this.values = values;
    this.secret = secret;
    this.identity = identity;
  }

  /// Checks the peer's proofs that it knows the secret and belongs to the same job. Throws with the
  /// reason if a proof fails. The caller limits the time. `spoke` runs when the peer has sent the
  /// opening of a rank.
  void open(Runnable spoke) throws IOException {
    var in = new DataInputStream(line.in());
    var out = new DataOutputStream(new BufferedOutputStream(line.out(), OPENING_BYTES));
    byte[] serverNonce = StoreWire.nonce();
    out.write(StoreWire.magic());
    out.write(serverNonce);
    out.flush();
    byte[] magic = new byte[StoreWire.magicBytes()];
    in.readFully(magic);
    if (TlsMark.isTls(magic[0], magic[1])) {
      throw new IOException(
          "it encrypts; give the launcher and all ranks the same --secure (WEFT_SECURE), it is off"
              + " here");
    }
    if (!Arrays.equals(StoreWire.magic(), magic)) {
      throw new IOException("it sent something that is not Weft");
    }
    spoke.run();
    byte[] clientNonce = new byte[StoreWire.NONCE_BYTES];
    in.readFully(clientNonce);
    byte[] proof = new byte[StoreWire.PROOF_BYTES];
    in.readFully(proof);
    byte[] expected = StoreWire.clientProof(secret, serverNonce, clientNonce, line.binding());
    if (!StoreWire.same(expected, proof)) {
      out.writeByte(StoreWire.REFUSED);
      out.flush();
      throw new IOException("its secret is not this job's, or an intermediary decrypts");
    }
    out.writeByte(StoreWire.WELCOME);
    out.write(StoreWire.serverProof(secret, serverNonce, clientNonce, line.binding()));
    out.flush();
    agree(in, out, StoreWire.nonces(serverNonce, clientNonce));
  }

  private void agree(DataInputStream in, DataOutputStream out, byte[] nonces) throws IOException {
    String job = StoreWire.readText(in, secret, 0, nonces);
    boolean same = job.equals(identity.job());
    int status = same ? StoreWire.SAME_JOB : StoreWire.OTHER_JOB;
    out.writeByte(status);
    StoreWire.writeText(out, secret, status, nonces, same ? identity.meeting() : identity.job());
    out.flush();
    if (!same) {
      throw new JobMismatch(
          "it is of job '" + job + "', this store is of job '" + identity.job() + "'");
    }
  }

  /// Answers requests until the peer leaves or breaks the protocol, or until the server closes the
  /// socket.
  void serve() throws InterruptedException {
    try {
      // A computing rank may be silent between its requests for any time.
      var in = new DataInputStream(new BufferedInputStream(line.in()));
      var out = new DataOutputStream(new BufferedOutputStream(line.out()));
      for (int request = in.read(); request >= 0; request = in.read()) {
        String key = key(in);
        switch (request) {
          case StoreWire.PUT -> put(key, in, out);
          case StoreWire.GET -> get(key, in, out);
          case StoreWire.COMPARE_AND_SET -> compareAndSet(key, in, out);
          case StoreWire.REMOVE -> {
            values.remove(key);
            out.writeByte(StoreWire.DONE);
          }
          case StoreWire.GET_OTHER -> getOther(key, in, out);
          default -> throw new IOException("unknown request " + request);
        }
        out.flush();
      }
    } catch (IOException gone) {
      LOG.debug(
          "{} left the job's store: {}", line.socket().getRemoteSocketAddress(), gone.toString());
    }
  }

  private void put(String key, DataInputStream in, DataOutputStream out) throws IOException {
    byte[] value = value(in, in.readInt());
    int status = StoreWire.DONE;
    try {
      values.put(key, value);
    } catch (CommException.Setup full) {
      status = StoreWire.FULL;
    }
    out.writeByte(status);
  }

  private void compareAndSet(String key, DataInputStream in, DataOutputStream out)
      throws IOException {
    int length = in.readInt();
    byte[] expected = length == StoreWire.NO_VALUE ? null : value(in, length);
    byte[] value = value(in, in.readInt());
    int status;
    try {
      boolean put =
          expected == null
              ? values.putIfAbsent(key, value)
              : values.compareAndSet(key, expected, value);
      status = put ? StoreWire.DONE : StoreWire.DIFFERENT;
    } catch (CommException.Setup full) {
      status = StoreWire.FULL;
    }
    out.writeByte(status);
  }

  private void get(String key, DataInputStream in, DataOutputStream out)
      throws IOException, InterruptedException {
    Duration wait = wait(in);
    Optional<byte[]> value = values.find(key);
    if (value.isEmpty() && !wait.isZero()) {
      try {
        value = Optional.of(values.get(key, wait));
      } catch (CommException.Setup absent) {
        value = Optional.empty();
      }
    }
    reply(value, out);
  }

  private void getOther(String key, DataInputStream in, DataOutputStream out)
      throws IOException, InterruptedException {
    Duration wait = wait(in);
    byte[] known = value(in, in.readInt());
    reply(values.awaitChange(key, known, wait), out);
  }

  private static void reply(Optional<byte[]> value, DataOutputStream out) throws IOException {
    if (value.isEmpty()) {
      out.writeByte(StoreWire.ABSENT);
    } else {
      out.writeByte(StoreWire.FOUND);
      out.writeInt(value.get().length);
      out.write(value.get());
    }
  }

  private static Duration wait(DataInputStream in) throws IOException {
    return Duration.ofMillis(Math.clamp(in.readInt(), 0, StoreWire.MAX_WAIT_MILLIS));
  }

  private static byte[] value(DataInputStream in, int length) throws IOException {
    if (length < 0 || length > Store.MAX_VALUE_BYTES) {
      throw new IOException("a value of " + length + " bytes");
    }
    byte[] value = new byte[length];
    in.readFully(value);
    return value;
  }

  private static String key(DataInputStream in) throws IOException {
    int length = in.readUnsignedShort();
    if (length == 0 || length > Store.MAX_STORED_KEY_BYTES) {
      throw new IOException("a key of " + length + " bytes");
    }
    byte[] key = new byte[length];
    in.readFully(key);
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(key)).toString();
    } catch (CharacterCodingException malformed) {
      throw new IOException("a key that is not UTF-8", malformed);
    }
  }
}
