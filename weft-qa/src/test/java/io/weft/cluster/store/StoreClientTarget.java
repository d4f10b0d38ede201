// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.store;

import io.weft.cluster.Store;
import io.weft.comm.CommException;
import io.weft.qa.fuzz.FuzzTarget;
import io.weft.transport.spi.Secret;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/// A rank's connection to the job's store. The first byte selects the meaning of the other bytes: 0
/// for the answers of an arbitrary process that listens at the address, 1 for the answers of a
/// store that has proved the secret, to two requests and a value.
public final class StoreClientTarget implements FuzzTarget {

  private static final Secret SECRET =
      Secret.of("the secret of this job".getBytes(StandardCharsets.UTF_8));
  private static final byte[] SERVER_NONCE = new byte[StoreWire.NONCE_BYTES];

  /// Creates the target. The fuzzer calls this constructor by reflection.
  public StoreClientTarget() {}

  @Override
  public String name() {
    return "store-client";
  }

  @Override
  public List<byte[]> seeds() {
    byte[] replies =
        ByteBuffer.allocate(15)
            .put((byte) StoreWire.FOUND)
            .putInt(3)
            .put(new byte[] {1, 2, 3})
            .put((byte) StoreWire.ABSENT)
            .put((byte) StoreWire.DONE)
            .array();
    byte[] full = {StoreWire.ABSENT, StoreWire.ABSENT, StoreWire.FULL};
    return List.of(
        with(0, opening(), new byte[] {StoreWire.WELCOME}, new byte[32]),
        with(0, opening(), new byte[] {StoreWire.REFUSED}),
        with(0, new byte[] {21, 3, 3, 0, 2, 2, 70}),
        with(1, replies),
        with(1, full));
  }

  private static byte[] opening() {
    return with(-1, StoreWire.magic(), SERVER_NONCE);
  }

  /// Concatenates the mode and the parts; omits a mode of -1.
  private static byte[] with(int mode, byte[]... parts) {
    var bytes = new ByteArrayOutputStream();
    if (mode >= 0) {
      bytes.write(mode);
    }
    for (byte[] part : parts) {
      bytes.writeBytes(part);
    }
    return bytes.toByteArray();
  }

  @Override
  public List<byte[]> dictionary() {
    return List.of(
        opening(),
        new byte[] {StoreWire.FOUND, 0, 0, 0, 1, 7},
        new byte[] {StoreWire.FOUND, 127, -1, -1, -1});
  }

  @Override
  public void decode(byte[] input) {
    if (input.length == 0) {
      return;
    }
    byte[] rest = Arrays.copyOfRange(input, 1, input.length);
    boolean knows = input[0] == 1;
    var server =
        knows
            ? new ScriptedSocket(opening(), StoreClientTarget::welcome, rest)
            : new ScriptedSocket(null, rest);
    boolean proved = false;
    try {
      var store = new StoreConnection(StoreLine.call(server, Optional.empty()), "there:1");
      store.prove(SECRET, "job", new byte[0]);
      proved = true;
      check(store.find("key", 0));
      check(store.findOther("key", new byte[] {1}, 0));
      boolean unused = store.put("key", new byte[] {1});
      int status = store.compareAndSet("key", null, new byte[] {1});
      store.remove("key");
      if (status != StoreWire.DONE && status != StoreWire.DIFFERENT && status != StoreWire.FULL) {
        throw new AssertionError("took the status " + status);
      }
    } catch (IOException ended) {
      if (knows && !proved) {
        throw new AssertionError("did not take a store that proved the secret", ended);
      }
    } catch (CommException.Setup refused) {
      if (!String.valueOf(refused.getMessage()).contains("there:1")) {
        throw new AssertionError("the message does not say where", refused);
      }
    }
    if (proved && !knows) {
      throw new AssertionError("took a store that does not know the secret");
    }
  }

  private static void check(Optional<byte[]> value) {
    if (value.isPresent() && value.get().length > Store.MAX_VALUE_BYTES) {
      throw new AssertionError("a value of " + value.get().length + " bytes");
    }
  }

  /// Returns a server's answer to a client's magic, nonce, proof and job.
  private static byte[] welcome(byte[] said) {
    int magic = StoreWire.magicBytes();
    byte[] nonce = Arrays.copyOfRange(said, magic, magic + StoreWire.NONCE_BYTES);
    byte[] proof = StoreWire.serverProof(SECRET, SERVER_NONCE, nonce, new byte[0]);
    byte[] nonces = StoreWire.nonces(SERVER_NONCE, nonce);
    byte[] agreed = with(StoreWire.SAME_JOB, StoreSessionTarget.text(StoreWire.SAME_JOB, nonces));
    return with(StoreWire.WELCOME, proof, agreed);
  }
}
