// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.tls;

import io.weft.qa.fuzz.FuzzTarget;
import io.weft.transport.spi.Encryption;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import javax.net.ssl.SSLException;

/// Either end of an encrypted connection against a peer that sends arbitrary bytes instead. The
/// first byte selects the end, and its bit 1 puts a valid greeting before the other bytes. The
/// second byte is the number of bytes that arrive at a time.
public final class TlsPipeTarget implements FuzzTarget {

  private static final int MOST_TURNS = 10_000;

  private final TlsParty party = TlsParty.of(new Encryption.Ephemeral());

  /// Creates the target. The fuzzer calls this constructor by reflection.
  public TlsPipeTarget() {}

  @Override
  public String name() {
    return "tls-pipe";
  }

  @Override
  public List<byte[]> seeds() {
    byte[] greeting = greeting();
    byte[] alert = {21, 3, 3, 0, 2, 2, 70};
    return List.of(
        with(0, 255, greeting),
        with(0, 40, greeting),
        with(1, 255, alert),
        with(2, 255, alert),
        with(2, 255, new byte[] {20, 3, 3, 0, 1, 1}),
        with(0, 255, "WEFT\1\21\0\0".getBytes(StandardCharsets.ISO_8859_1)),
        with(1, 9, new byte[] {22, 3, 3, 0, 4, 2, 0, 0, 0}));
  }

  private static byte[] with(int mode, int piece, byte[] rest) {
    byte[] input = new byte[2 + rest.length];
    input[0] = (byte) mode;
    input[1] = (byte) piece;
    System.arraycopy(rest, 0, input, 2, rest.length);
    return input;
  }

  @Override
  public List<byte[]> dictionary() {
    return List.of(
        new byte[] {22, 3, 3, 0, 4},
        new byte[] {23, 3, 3, 64, 0},
        new byte[] {20, 3, 3, 0, 1, 1},
        new byte[] {21, 3, 3, 0, 2, 1, 0});
  }

  /// Returns a client's first bytes.
  private byte[] greeting() {
    TlsPipe client = party.call();
    try {
      while (client.handshake() == TlsPipe.Need.WORK) {
        client.work();
      }
    } catch (SSLException impossible) {
      throw new IllegalStateException(impossible);
    }
    byte[] greeting = new byte[client.unsent().remaining()];
    client.unsent().get(greeting);
    return greeting;
  }

  @Override
  public void decode(byte[] input) {
    if (input.length < 2) {
      return;
    }
    boolean calls = (input[0] & 1) == 1;
    TlsPipe pipe = calls ? party.call() : party.answer();
    byte[] rest = Arrays.copyOfRange(input, 2, input.length);
    ByteBuffer in = (input[0] & 2) == 0 || calls ? ByteBuffer.wrap(rest) : behind(greeting(), rest);
    int piece = Math.max(1, input[1] & 0xff);
    try {
      handshake(pipe, in, piece);
    } catch (SSLException refused) {
      if (refused.getMessage() == null) {
        throw new AssertionError("no message", refused);
      }
    }
    pipe.end();
  }

  private static ByteBuffer behind(byte[] first, byte[] then) {
    return ByteBuffer.allocate(first.length + then.length).put(first).put(then).flip();
  }

  private static void handshake(TlsPipe pipe, ByteBuffer in, int piece) throws SSLException {
    for (int turn = 0; turn < MOST_TURNS; turn++) {
      switch (pipe.handshake()) {
        case WORK -> pipe.work();
        case SENDING -> pipe.sent(pipe.unsent().remaining());
        case RECEIVING -> {
          pipe.sent(pipe.unsent().remaining());
          if (!in.hasRemaining()) {
            return;
          }
          ByteBuffer room = pipe.room();
          int bytes = Math.min(Math.min(piece, in.remaining()), room.remaining());
          if (bytes == 0) {
            throw new AssertionError("wants more and has no room");
          }
          room.put(in.slice().limit(bytes));
          in.position(in.position() + bytes);
          pipe.received(bytes);
        }
        case NOTHING -> throw new AssertionError("let somebody in who has shown no certificate");
      }
    }
    throw new AssertionError("does not come to an end");
  }
}
