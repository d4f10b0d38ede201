// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.store;

import io.weft.cluster.Store;
import io.weft.qa.fuzz.FuzzTarget;
import io.weft.transport.spi.Secret;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/// The server side of a connection to the job's store. The first byte selects the meaning of the
/// other bytes: 0 for the bytes of a stranger, 1 for the requests of a rank that has proved the
/// secret, 2 for such requests with the proof before them.
public final class StoreSessionTarget implements FuzzTarget {

  private static final Secret SECRET =
      Secret.of("the secret of this job".getBytes(StandardCharsets.UTF_8));

  private static final StoreSession.StoreIdentity IDENTITY =
      new StoreSession.StoreIdentity("job", "meeting");

  /// Creates the target. The fuzzer calls this constructor by reflection.
  public StoreSessionTarget() {}

  @Override
  public String name() {
    return "store-session";
  }

  @Override
  public List<byte[]> seeds() {
    byte[] key = "epoch/0/meeting/0/member/1".getBytes(StandardCharsets.UTF_8);
    byte[] requests =
        ByteBuffer.allocate(256)
            .put((byte) StoreWire.PUT)
            .putShort((short) key.length)
            .put(key)
            .putInt(5)
            .put(new byte[] {1, 2, 3, 4, 5})
            .put((byte) StoreWire.GET)
            .putShort((short) key.length)
            .put(key)
            .putInt(1000)
            .put((byte) StoreWire.GET)
            .putShort((short) 1)
            .put((byte) 'x')
            .putInt(0)
            .put((byte) StoreWire.COMPARE_AND_SET)
            .putShort((short) 1)
            .put((byte) 'x')
            .putInt(StoreWire.NO_VALUE)
            .putInt(1)
            .put((byte) 7)
            .put((byte) StoreWire.GET_OTHER)
            .putShort((short) 1)
            .put((byte) 'x')
            .putInt(1000)
            .putInt(0)
            .put((byte) StoreWire.REMOVE)
            .putShort((short) 1)
            .put((byte) 'x')
            .array();
    return List.of(with(0, StoreWire.magic(), new byte[64]), with(1, requests), with(2, requests));
  }

  private static byte[] with(int mode, byte[]... parts) {
    var bytes = new ByteArrayOutputStream();
    bytes.write(mode);
    for (byte[] part : parts) {
      bytes.writeBytes(part);
    }
    return bytes.toByteArray();
  }

  @Override
  public List<byte[]> dictionary() {
    return List.of(StoreWire.magic(), new byte[] {1, 0, 1, 'k', 0, 1, 0, 0});
  }

  @Override
  public void decode(byte[] input) throws Exception {
    if (input.length == 0) {
      return;
    }
    byte[] rest = Arrays.copyOfRange(input, 1, input.length);
    var session = new ScriptedSocket(input[0] == 2 ? StoreSessionTarget::opening : null, rest);
    var line = StoreLine.answer(session, Optional.empty());
    Store values = new NeverWaiting();
    if (input[0] != 1 && !opens(new StoreSession(line, values, SECRET, IDENTITY))) {
      if (input[0] == 2) {
        throw new AssertionError("a rank that proved the secret was refused");
      }
      return;
    }
    if (input[0] != 1 && input[0] != 2) {
      throw new AssertionError("a stranger was let in");
    }
    new StoreSession(line, values, SECRET, IDENTITY).serve();
  }

  private static boolean opens(StoreSession session) {
    try {
      session.open(() -> {});
      return true;
    } catch (IOException refused) {
      return false;
    }
  }

  /// Returns a rank's answer to the server's first bytes.
  private static byte[] opening(byte[] greeting) {
    int magic = StoreWire.magicBytes();
    byte[] theirs = Arrays.copyOfRange(greeting, magic, magic + StoreWire.NONCE_BYTES);
    byte[] ours = new byte[StoreWire.NONCE_BYTES];
    byte[] job = text(0, StoreWire.nonces(theirs, ours));
    return ByteBuffer.allocate(magic + StoreWire.NONCE_BYTES + StoreWire.PROOF_BYTES + job.length)
        .put(StoreWire.magic())
        .put(ours)
        .put(StoreWire.clientProof(SECRET, theirs, ours, new byte[0]))
        .put(job)
        .array();
  }

  /// Returns the identity of a job or of a meeting as it is sent.
  static byte[] text(int status, byte[] nonces) {
    var bytes = new ByteArrayOutputStream();
    try (var out = new DataOutputStream(bytes)) {
      StoreWire.writeText(out, SECRET, status, nonces, "job");
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
    return bytes.toByteArray();
  }

  /// The real store, except that a wait for a key returns at once.
  private static final class NeverWaiting implements Store {
    private final InMemoryStore values = new InMemoryStore();

    @Override
    public void put(String key, byte[] value) {
      values.put(key, value);
    }

    @Override
    public byte[] get(String key, Duration timeout) throws InterruptedException {
      return values.get(key, Duration.ZERO);
    }

    @Override
    public boolean putIfAbsent(String key, byte[] value) {
      return values.putIfAbsent(key, value);
    }

    @Override
    public boolean compareAndSet(String key, byte[] expected, byte[] value) {
      return values.compareAndSet(key, expected, value);
    }

    @Override
    public void remove(String key) {
      values.remove(key);
    }

    @Override
    public Optional<byte[]> awaitChange(String key, byte[] known, Duration timeout)
        throws InterruptedException {
      return values.awaitChange(key, known, Duration.ZERO);
    }

    @Override
    public Optional<byte[]> find(String key) {
      return values.find(key);
    }

    @Override
    public void close() {
      values.close();
    }
  }
}
