// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.secure;

import io.weft.qa.fuzz.FuzzTarget;
import io.weft.transport.spi.Credentials;
import io.weft.transport.spi.Secret;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;

/// Both sides of the handshake against a peer that sends arbitrary bytes. Bit 0 of the first byte
/// selects the tested side. Bit 1 gives the peer the secret, so that its second frame carries a
/// proof that fits its claims. The second byte is the number of bytes that arrive at a time.
public final class HandshakeTarget implements FuzzTarget {

  private static final Credentials OURS = credentials("the secret of this job");
  private static final int CLAIM_END = 32;

  /// Creates the target. The fuzzer calls this constructor by reflection.
  public HandshakeTarget() {}

  private static Credentials credentials(String secret) {
    return new Credentials("fuzz", 1, 1, Secret.of(secret.getBytes(StandardCharsets.UTF_8)));
  }

  @Override
  public String name() {
    return "handshake";
  }

  @Override
  public List<byte[]> seeds() {
    byte[] first = HandshakeFrame.nonce(HandshakeFrame.HELLO, new byte[32]).array();
    byte[] answer = HandshakeFrame.nonce(HandshakeFrame.CHALLENGE, new byte[32]).array();
    var right = new Claim(5, 1, 1, 4711, 0);
    var old = new Claim(1, 1, 0, 4711, 2);
    return IntStream.range(0, 4)
        .mapToObj(
            mode -> {
              boolean initiator = (mode & 1) == 0;
              byte kind =
                  initiator ? HandshakeFrame.RESPONDER_PROOF : HandshakeFrame.INITIATOR_PROOF;
              Claim claim = initiator ? old : right;
              return ByteBuffer.allocate(2 + 40 + 96)
                  .put((byte) mode)
                  .put((byte) (mode < 2 ? 255 : 7))
                  .put(initiator ? answer : first)
                  .put(
                      HandshakeFrame.proof(
                          kind, new ProvedClaim(claim, new byte[32], new byte[32])))
                  .array();
            })
        .toList();
  }

  @Override
  public void decode(byte[] input) {
    if (input.length < 2) {
      return;
    }
    boolean knows = (input[0] & 2) != 0;
    var side = new Side((input[0] & 1) == 0);
    ByteBuffer in = ByteBuffer.wrap(input.clone(), 2, input.length - 2);
    int piece = Math.max(1, input[1] & 0xff);
    HandshakeStep step = new HandshakeStep.Continued(ByteBuffer.allocate(0));
    int frame = 0;
    while (step instanceof HandshakeStep.Continued && in.hasRemaining()) {
      int lacking = side.lacking();
      if (lacking < 1 || lacking > HandshakeFrame.PROOF_BYTES) {
        throw new AssertionError("wants " + lacking + " bytes");
      }
      if (knows && frame == 1 && lacking == HandshakeFrame.PROOF_BYTES) {
        side.prove(in);
      }
      int bytes = Math.min(Math.min(piece, lacking), in.remaining());
      step = side.receive(in.slice().limit(bytes));
      in.position(in.position() + bytes);
      if (bytes == lacking) {
        frame++;
      }
    }
    check(step, knows);
  }

  private static void check(HandshakeStep step, boolean knows) {
    if (step.reply().remaining() > HandshakeFrame.PROOF_BYTES) {
      throw new AssertionError("answers " + step.reply().remaining() + " bytes");
    }
    if (step instanceof HandshakeStep.Established && !knows) {
      throw new AssertionError("let somebody in who does not know the secret");
    }
    if (step instanceof HandshakeStep.Refused refused && refused.why().isBlank()) {
      throw new AssertionError("refused without a reason");
    }
  }

  /// The tested side, with the proofs of a peer that knows the secret.
  private static final class Side {
    private final JobProof proof = new JobProof(OURS, 7, new Random(1));
    private final boolean initiates;
    private final InitiatorHandshake initiator = new InitiatorHandshake(proof, 5);
    private final ResponderHandshake responder = new ResponderHandshake(proof);
    private ByteBuffer own;

    Side(boolean initiates) {
      this.initiates = initiates;
      own = initiator.hello();
    }

    int lacking() {
      return initiates ? initiator.lacking() : responder.lacking();
    }

    HandshakeStep receive(ByteBuffer bytes) {
      HandshakeStep step = initiates ? initiator.receive(bytes) : responder.receive(bytes);
      if (!initiates && step.reply().remaining() == HandshakeFrame.NONCE_BYTES) {
        own = step.reply().duplicate();
      }
      return step;
    }

    /// Writes the right tag and proof behind the claim that follows, after the peer's first frame.
    void prove(ByteBuffer in) {
      if (in.remaining() < HandshakeFrame.PROOF_BYTES) {
        return;
      }
      int at = in.position();
      in.order(ByteOrder.LITTLE_ENDIAN);
      var claim =
          new Claim(
              in.getInt(at + 8),
              in.getInt(at + 12),
              in.getLong(at + 16),
              in.getLong(at + 24),
              in.getShort(at + 6) & 0xffff);
      byte[] ours = nonce(own, own.position());
      byte[] theirs = nonce(in, at - HandshakeFrame.NONCE_BYTES);
      byte[] first = initiates ? ours : theirs;
      byte[] second = initiates ? theirs : ours;
      byte[] tag = proof.tag(first, second);
      Role role = initiates ? Role.RESPONDER : Role.INITIATOR;
      in.put(at + CLAIM_END, tag);
      in.put(
          at + CLAIM_END + tag.length, proof.prove(role, first, second, claim, tag, new byte[0]));
    }

    private static byte[] nonce(ByteBuffer frame, int at) {
      byte[] nonce = new byte[JobProof.BYTES];
      frame.get(at + HandshakeFrame.START_BYTES, nonce);
      return nonce;
    }
  }
}
