// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.secure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.transport.spi.Credentials;
import io.weft.transport.spi.Secret;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

/// Checks which peers pass the handshake and which are refused.
class HandshakeTest {

  private static final String SECRET = "the secret of this job";
  private static final int CALLER = 3;
  private static final int CALLED = 7;

  private final JobProof caller = proof("job", 1, CALLER, SECRET, 33);
  private final JobProof called = proof("job", 1, CALLED, SECRET, 77);

  private static JobProof proof(String job, long epoch, int node, String secret, long incarnation) {
    Secret known = Secret.of(secret.getBytes(StandardCharsets.UTF_8));
    return new JobProof(new Credentials(job, epoch, node, known), incarnation);
  }

  /// Both sides of one handshake and the frames that they sent.
  private static final class Conversation {
    final InitiatorHandshake initiator;
    final ResponderHandshake responder;
    byte[] hello = {};
    byte[] challenge = {};
    byte[] proof = {};
    byte[] answer = {};

    Conversation(JobProof caller, JobProof called, int wanted) {
      initiator = new InitiatorHandshake(caller, wanted);
      responder = new ResponderHandshake(called);
    }

    /// Runs the handshake up to the initiator's proof, which is not delivered.
    Conversation begin() {
      hello = bytes(initiator.hello());
      challenge = said(responder.receive(ByteBuffer.wrap(hello)));
      proof = said(initiator.receive(ByteBuffer.wrap(challenge)));
      return this;
    }

    HandshakeStep toResponder() {
      HandshakeStep step = responder.receive(ByteBuffer.wrap(proof));
      answer = bytes(step.reply().duplicate());
      return step;
    }

    HandshakeStep toInitiator() {
      return initiator.receive(ByteBuffer.wrap(answer));
    }
  }

  private static byte[] said(HandshakeStep step) {
    assertThat(step).isInstanceOf(HandshakeStep.Continued.class);
    return bytes(step.reply());
  }

  private static byte[] bytes(ByteBuffer buffer) {
    byte[] bytes = new byte[buffer.remaining()];
    buffer.get(bytes);
    return bytes;
  }

  private static void assertRefused(HandshakeStep step, String why) {
    assertThat(step).isInstanceOf(HandshakeStep.Refused.class);
    assertThat(((HandshakeStep.Refused) step).why()).contains(why);
  }

  /// Asserts a refusal with a reply that proves nothing and is the same for every peer.
  private static void assertTold(HandshakeStep step, String why) {
    assertRefused(step, why);
    assertThat(bytes(step.reply())).containsExactly('W', 'E', 'F', 'T', 1, 0x18, 0, 0);
  }

  /// Asserts a refusal without a reply.
  private static void assertShut(HandshakeStep step, String why) {
    assertRefused(step, why);
    assertThat(step.reply().remaining()).isZero();
  }

  private static byte[] flipped(byte[] bytes, int at) {
    byte[] changed = bytes.clone();
    changed[at] ^= 1;
    return changed;
  }

  @Test
  void bothSidesLearnTheIdentityOfTheOther() {
    Conversation talk = new Conversation(caller, called, CALLED).begin();
    assertThat(talk.toResponder())
        .isEqualTo(
            new HandshakeStep.Established(
                ByteBuffer.wrap(talk.answer), new Claim(CALLER, CALLED, 1, 33, 0)));
    assertThat(talk.toInitiator())
        .isEqualTo(
            new HandshakeStep.Established(
                ByteBuffer.allocate(0), new Claim(CALLED, CALLER, 1, 77, 0)));
  }

  @Test
  void bytesMayArriveInPiecesAndLaterBytesAreLeftUnread() {
    long seed = Long.getLong("weft.test.seed", System.nanoTime());
    Random random = new Random(seed);
    for (int round = 0; round < 50; round++) {
      Conversation talk = new Conversation(caller, called, CALLED).begin();
      talk.toResponder();
      byte[] stream = Arrays.copyOf(talk.answer, talk.answer.length + 5);
      ByteBuffer in = ByteBuffer.wrap(stream).limit(0);
      HandshakeStep step;
      do {
        in.limit(Math.min(stream.length, in.position() + 1 + random.nextInt(40)));
        step = talk.initiator.receive(in);
      } while (step instanceof HandshakeStep.Continued);
      assertThat(step).as("seed " + seed).isInstanceOf(HandshakeStep.Established.class);
      assertThat(in.position()).as("seed " + seed).isEqualTo(talk.answer.length);
      assertThat(talk.initiator.lacking()).isZero();
    }
  }

  @Test
  void replayedProofIsRefused() {
    Conversation recorded = new Conversation(caller, called, CALLED).begin();
    ResponderHandshake again = new ResponderHandshake(called);
    said(again.receive(ByteBuffer.wrap(recorded.hello)));
    assertTold(again.receive(ByteBuffer.wrap(recorded.proof)), "does not know the job's secret");
  }

  @Test
  void replayedAnswerIsRefused() {
    Conversation recorded = new Conversation(caller, called, CALLED).begin();
    recorded.toResponder();
    InitiatorHandshake again = new InitiatorHandshake(caller, CALLED);
    said(again.receive(ByteBuffer.wrap(recorded.challenge)));
    assertShut(again.receive(ByteBuffer.wrap(recorded.answer)), "does not know the job's secret");
  }

  @Test
  void anInitiatorRefusesItsOwnProof() {
    // The frame is the caller's own proof, changed to look like a responder's.
    Conversation talk = new Conversation(caller, called, CALLER).begin();
    byte[] mirrored = talk.proof.clone();
    mirrored[5] = HandshakeFrame.RESPONDER_PROOF;
    assertShut(talk.initiator.receive(ByteBuffer.wrap(mirrored)), "does not know the job's secret");
  }

  @Test
  void aResponderRefusesItsOwnProof() {
    // The victim's proof as an initiator elsewhere is replayed to it.
    ResponderHandshake victim = new ResponderHandshake(called);
    InitiatorHandshake elsewhere = new InitiatorHandshake(called, CALLER);
    byte[] challenge = said(victim.receive(elsewhere.hello()));
    byte[] proof = said(elsewhere.receive(ByteBuffer.wrap(challenge)));
    assertRefused(victim.receive(ByteBuffer.wrap(proof)), "the address belongs to another node");
    // If the claim is changed to the one that the victim expects, the proof does not match.
    ResponderHandshake second = new ResponderHandshake(called);
    said(second.receive(elsewhere.hello()));
    byte[] bent = proof.clone();
    bent[12] = CALLED;
    assertTold(second.receive(ByteBuffer.wrap(bent)), "does not know the job's secret");
  }

  @Test
  void frameOfTheOtherRoleIsRefused() {
    Conversation talk = new Conversation(caller, called, CALLED).begin();
    byte[] asResponder = talk.proof.clone();
    asResponder[5] = HandshakeFrame.RESPONDER_PROOF;
    assertShut(talk.responder.receive(ByteBuffer.wrap(asResponder)), "frame 20 where 19 is due");
    ResponderHandshake fresh = new ResponderHandshake(called);
    assertShut(fresh.receive(ByteBuffer.wrap(talk.challenge)), "frame 18 where 17 is due");
    InitiatorHandshake other = new InitiatorHandshake(caller, CALLED);
    assertShut(other.receive(ByteBuffer.wrap(talk.hello)), "frame 17 where 18 is due");
  }

  @Test
  void aDifferentEpochIsRefusedOnBothSides() {
    JobProof late = proof("job", 2, CALLER, SECRET, 33);
    Conversation talk = new Conversation(late, called, CALLED).begin();
    assertRefused(talk.toResponder(), "its epoch is 2, ours is 1");
    assertRefused(talk.toInitiator(), "its epoch is 1, ours is 2");
  }

  @Test
  void aDifferentJobIsRefusedOnBothSides() {
    JobProof other = proof("other", 1, CALLER, SECRET, 33);
    Conversation talk = new Conversation(other, called, CALLED).begin();
    assertRefused(talk.toResponder(), "is of job 'job': the jobs have different names");
    assertRefused(talk.toInitiator(), "is of job 'other': the jobs have different names");
  }

  @Test
  void aNodeOtherThanExpectedIsRefusedOnBothSides() {
    Conversation talk = new Conversation(caller, called, 8).begin();
    assertRefused(talk.toResponder(), "rank 8 was expected, but ranks 3 and 7 connected");
    assertRefused(talk.toInitiator(), "rank 8 was expected, but ranks 7 and 3 connected");
  }

  @Test
  void responderThatLiesAboutItsNodeIsRefusedByTheInitiator() {
    // The responder knows the secret and accepts, but is not the expected node.
    JobProof eight = proof("job", 1, 8, SECRET, 88);
    InitiatorHandshake initiator = new InitiatorHandshake(caller, CALLED);
    byte[] challenge = new byte[40];
    System.arraycopy(bytes(initiator.hello()), 0, challenge, 0, 40);
    challenge[5] = HandshakeFrame.CHALLENGE;
    byte[] proof = said(initiator.receive(ByteBuffer.wrap(challenge)));
    byte[] nonce = Arrays.copyOfRange(challenge, 8, 40);
    assertThat(proof).hasSize(96);
    Claim lie = eight.claim(CALLER, HandshakeReply.ACCEPTED);
    byte[] tag = eight.tag(nonce, nonce);
    byte[] mac = eight.prove(Role.RESPONDER, nonce, nonce, lie, tag, new byte[0]);
    ByteBuffer answer =
        HandshakeFrame.proof(HandshakeFrame.RESPONDER_PROOF, new ProvedClaim(lie, tag, mac));
    assertRefused(initiator.receive(answer), "rank 7 was expected, but ranks 8 and 3 connected");
  }

  @Test
  void aDifferentSecretIsRefusedOnBothSides() {
    JobProof stranger = proof("job", 1, CALLER, "a secret of another job", 33);
    Conversation talk = new Conversation(stranger, called, CALLED).begin();
    assertTold(talk.toResponder(), "does not know the job's secret");
    assertShut(talk.toInitiator(), "do all processes have the same secret?");
  }

  @Test
  void aRefusalBeforeTheProofOrToTheResponderIsInvalid() {
    byte[] refusal = bytes(HandshakeFrame.refusal());
    InitiatorHandshake initiator = new InitiatorHandshake(caller, CALLED);
    assertShut(initiator.receive(ByteBuffer.wrap(refusal)), "frame 24 where 18 is due");
    ResponderHandshake responder = new ResponderHandshake(called);
    assertShut(responder.receive(ByteBuffer.wrap(refusal)), "frame 24 where 17 is due");
  }

  @Test
  void anEndBeforeTheVerdictNamesThePossibleCause() {
    Conversation talk = new Conversation(caller, called, CALLED).begin();
    assertThat(talk.initiator.ended("reset")).contains("reset", "have the same secret?");
  }

  @Test
  void responderWithoutTheSecretIsRefused() {
    JobProof impostor = proof("job", 1, CALLED, "a secret of another job", 77);
    InitiatorHandshake initiator = new InitiatorHandshake(caller, CALLED);
    byte[] hello = bytes(initiator.hello());
    byte[] nonce = Arrays.copyOfRange(hello, 8, 40);
    said(initiator.receive(HandshakeFrame.nonce(HandshakeFrame.CHALLENGE, nonce)));
    Claim claim = impostor.claim(CALLER, HandshakeReply.ACCEPTED);
    byte[] tag = impostor.tag(nonce, nonce);
    byte[] mac = impostor.prove(Role.RESPONDER, nonce, nonce, claim, tag, new byte[0]);
    ByteBuffer answer =
        HandshakeFrame.proof(HandshakeFrame.RESPONDER_PROOF, new ProvedClaim(claim, tag, mac));
    assertShut(initiator.receive(answer), "does not know the job's secret");
  }

  @Test
  void changingAnyByteOfAProofInvalidatesIt() {
    for (int at = 0; at < 96; at++) {
      Conversation talk = new Conversation(caller, called, CALLED).begin();
      HandshakeStep step = talk.responder.receive(ByteBuffer.wrap(flipped(talk.proof, at)));
      if (at < 6) {
        assertShut(step, "it sent");
      } else {
        assertTold(step, "does not know the job's secret");
      }
      Conversation next = new Conversation(caller, called, CALLED).begin();
      next.toResponder();
      assertShut(
          next.initiator.receive(ByteBuffer.wrap(flipped(next.answer, at))),
          at < 6 ? "it answered with" : "does not know the job's secret");
    }
  }

  @Test
  void aTruncatedFrameIsNotAccepted() {
    Conversation talk = new Conversation(caller, called, CALLED).begin();
    ByteBuffer cut = ByteBuffer.wrap(talk.proof).limit(95);
    assertThat(said(talk.responder.receive(cut))).isEmpty();
    assertThat(talk.responder.lacking()).isEqualTo(1);
    // The next connection's frames do not complete it.
    assertTold(
        talk.responder.receive(ByteBuffer.wrap(talk.hello)), "does not know the job's secret");
    InitiatorHandshake early = new InitiatorHandshake(caller, CALLED);
    assertThat(said(early.receive(ByteBuffer.wrap(talk.challenge).limit(39)))).isEmpty();
    assertThat(early.ended("closed")).as("nothing was proved").isEqualTo("closed");
  }

  @Test
  void anOverlongFrameCorruptsTheNext() {
    ResponderHandshake responder = new ResponderHandshake(called);
    InitiatorHandshake initiator = new InitiatorHandshake(caller, CALLED);
    ByteBuffer hello = ByteBuffer.allocate(41).put(initiator.hello()).put((byte) 0).flip();
    byte[] challenge = said(responder.receive(hello));
    assertThat(hello.remaining()).as("left in the stream").isEqualTo(1);
    assertThat(said(responder.receive(hello))).isEmpty();
    byte[] proof = said(initiator.receive(ByteBuffer.wrap(challenge)));
    assertShut(responder.receive(ByteBuffer.wrap(proof)), "not Weft's handshake");
  }

  @Test
  void aProofIsInvalidOnAnotherChannel() {
    byte[] one = new byte[32];
    byte[] other = new byte[32];
    other[31] = 1;
    assertThat(meet(one, one.clone())).isInstanceOf(HandshakeStep.Established.class);
    assertTold(meet(one, other), "an intermediary decrypts the traffic");
    assertTold(meet(one, new byte[0]), "does not know the job's secret");
    assertTold(meet(new byte[0], one), "an intermediary decrypts the traffic");
  }

  /// Returns the responder's step for these channel bindings of the two sides.
  private HandshakeStep meet(byte[] initiators, byte[] responders) {
    InitiatorHandshake initiator = new InitiatorHandshake(caller, CALLED, initiators);
    ResponderHandshake responder = new ResponderHandshake(called, responders);
    byte[] challenge = said(responder.receive(initiator.hello()));
    byte[] proof = said(initiator.receive(ByteBuffer.wrap(challenge)));
    return responder.receive(ByteBuffer.wrap(proof));
  }

  @Test
  void anEncryptingPeerLearnsThatThisSideDoesNotEncrypt() {
    ResponderHandshake responder = new ResponderHandshake(called);
    byte[] greeting = {22, 3, 1, 2, 0, 1, 0};
    HandshakeStep step = responder.receive(ByteBuffer.wrap(greeting));
    assertRefused(step, "--secure (WEFT_SECURE), it is off here");
    InitiatorHandshake initiator = new InitiatorHandshake(caller, CALLED);
    assertShut(initiator.receive(step.reply()), "--secure (WEFT_SECURE), it is off here");
  }

  @Test
  void aForeignProtocolIsDetectedByItsFirstBytes() {
    ResponderHandshake responder = new ResponderHandshake(called);
    byte[] request = "GET / HT".getBytes(StandardCharsets.US_ASCII);
    assertShut(responder.receive(ByteBuffer.wrap(request)), "not Weft's handshake");
    assertThatThrownBy(() -> responder.receive(ByteBuffer.wrap(request)))
        .isInstanceOf(IllegalStateException.class);
  }
}
