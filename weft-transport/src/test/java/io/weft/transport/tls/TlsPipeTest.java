// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.transport.spi.Encryption;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Random;
import javax.net.ssl.SSLException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Checks TLS between two pipes, with the network as an array.
@Timeout(60)
class TlsPipeTest {

  private static final TlsParty ONE = TlsParty.of(new Encryption.Ephemeral());
  private static final TlsParty OTHER = TlsParty.of(new Encryption.Ephemeral());

  /// The two ends of one connection.
  private record Ends(TlsPipe caller, TlsPipe called) {

    static Ends of(TlsParty caller, TlsParty called) {
      return new Ends(caller.call(), called.answer());
    }

    Ends shaken() throws SSLException {
      for (boolean done = false; !done; ) {
        boolean first = handshake(caller);
        carry(caller, called, Integer.MAX_VALUE);
        boolean second = handshake(called);
        carry(called, caller, Integer.MAX_VALUE);
        done = first && second;
      }
      return this;
    }

    private static boolean handshake(TlsPipe pipe) throws SSLException {
      TlsPipe.Need need = pipe.handshake();
      if (need == TlsPipe.Need.WORK) {
        pipe.work();
      }
      return need == TlsPipe.Need.NOTHING;
    }

    Ends open() {
      caller.open();
      called.open();
      return this;
    }
  }

  /// Carries at most `most` bytes from one pipe to the other.
  private static int carry(TlsPipe from, TlsPipe to, int most) {
    ByteBuffer unsent = from.unsent();
    ByteBuffer room = to.room();
    int bytes = Math.min(most, Math.min(unsent.remaining(), room.remaining()));
    room.put(room.position(), unsent, unsent.position(), bytes);
    to.received(bytes);
    from.sent(bytes);
    return bytes;
  }

  private static ByteBuffer[] one(ByteBuffer buffer) {
    return new ByteBuffer[] {buffer};
  }

  @Test
  void bothEndsShareABindingThatIsNewPerConnection() throws SSLException {
    Ends ends = Ends.of(ONE, OTHER).shaken();
    assertThat(ends.caller().binding()).hasSize(32).isEqualTo(ends.called().binding());
    Ends again = Ends.of(ONE, OTHER).shaken();
    assertThat(again.caller().binding())
        .as("nothing is resumed")
        .isNotEqualTo(ends.caller().binding());
  }

  @Test
  void bytesArriveUnchangedForAnyStepSizes() throws SSLException {
    long seed = Long.getLong("weft.test.seed", System.nanoTime());
    Random random = new Random(seed);
    Ends ends = Ends.of(ONE, OTHER).shaken().open();
    byte[] data = new byte[3 << 20];
    random.nextBytes(data);
    ByteBuffer sending = ByteBuffer.allocateDirect(data.length).put(data).flip();
    ByteBuffer receiving = ByteBuffer.allocateDirect(data.length);
    long taken = 0;
    long got = 0;
    while (got < data.length) {
      int step = 1 + random.nextInt(random.nextBoolean() ? 100 : 300_000);
      sending.limit((int) Math.min(data.length, taken + step));
      int half = sending.remaining() / 2;
      ByteBuffer tail = sending.duplicate();
      tail.position(tail.position() + half);
      ByteBuffer head = sending.duplicate();
      head.limit(head.position() + half);
      taken += ends.caller().encrypt(new ByteBuffer[] {head, tail}, 0, 2);
      sending.limit(data.length).position((int) taken);
      int unused = carry(ends.caller(), ends.called(), 1 + random.nextInt(200_000));
      receiving.limit((int) Math.min(data.length, got + 1 + random.nextInt(100_000)));
      got += ends.called().decrypt(one(receiving), 0, 1);
      assertThat(receiving.position()).as("seed " + seed).isEqualTo((int) got);
    }
    byte[] arrived = new byte[data.length];
    receiving.flip().get(arrived);
    assertThat(arrived).as("seed " + seed).isEqualTo(data);
    assertThat(ends.called().isReadable()).isFalse();
  }

  @Test
  void aFlippedBitNeverDeliversWrongData() throws SSLException {
    byte[] data = new byte[1000];
    new Random(3).nextBytes(data);
    int recordBytes = 1022;
    for (int at = 0; at < recordBytes; at += at < 8 ? 1 : 97) {
      Ends ends = Ends.of(ONE, OTHER).shaken().open();
      assertThat(ends.caller().encrypt(one(ByteBuffer.wrap(data)), 0, 1)).isEqualTo(1000);
      ByteBuffer record = ends.caller().unsent();
      recordBytes = record.remaining();
      record.put(record.position() + at, (byte) (record.get(record.position() + at) ^ 0x10));
      // A record with a larger length in its header waits for the rest.
      ends.caller().encrypt(one(ByteBuffer.allocate(9000)), 0, 1);
      carry(ends.caller(), ends.called(), Integer.MAX_VALUE);
      ByteBuffer into = ByteBuffer.allocate(20_000);
      if (at == 1 || at == 2) {
        // The receiver ignores the version in a record's header [RFC8446 §5.1].
        assertThat(ends.called().decrypt(one(into), 0, 1)).isEqualTo(10_000);
        assertThat(into.slice(0, 1000)).isEqualTo(ByteBuffer.wrap(data));
        continue;
      }
      assertThatThrownBy(() -> ends.called().decrypt(one(into), 0, 1))
          .as("byte %d", at)
          .isInstanceOf(SSLException.class);
      assertThat(into.array()).as("byte %d", at).containsOnly(0);
      // The sender receives an alert.
      ends.called().end();
      carry(ends.called(), ends.caller(), Integer.MAX_VALUE);
      assertThatThrownBy(() -> ends.caller().decrypt(one(into), 0, 1))
          .hasMessageContaining("alert");
    }
  }

  @Test
  void aReplayedRecordIsRefused() throws SSLException {
    Ends ends = Ends.of(ONE, OTHER).shaken().open();
    ends.caller().encrypt(one(ByteBuffer.wrap(new byte[100])), 0, 1);
    ByteBuffer record = ends.caller().unsent();
    byte[] copy = new byte[record.remaining()];
    record.get(copy);
    for (int i = 0; i < 2; i++) {
      ends.called().room().put(copy);
      ends.called().received(copy.length);
    }
    ByteBuffer into = ByteBuffer.allocate(100);
    assertThat(ends.called().decrypt(one(into), 0, 1)).isEqualTo(100);
    assertThatThrownBy(() -> ends.called().decrypt(one(into.clear()), 0, 1))
        .isInstanceOf(SSLException.class);
  }

  @Test
  void theEndArrivesAfterAllEarlierData() throws SSLException {
    Ends ends = Ends.of(ONE, OTHER).shaken().open();
    ends.caller().encrypt(one(ByteBuffer.wrap(new byte[10])), 0, 1);
    ends.caller().end();
    carry(ends.caller(), ends.called(), Integer.MAX_VALUE);
    ByteBuffer into = ByteBuffer.allocate(20);
    assertThat(ends.called().decrypt(one(into), 0, 1)).isEqualTo(10);
    assertThat(ends.called().decrypt(one(into), 0, 1)).isEqualTo(-1);
  }

  @Test
  void givenCertificatesAreCheckedByBothSides() throws SSLException {
    SelfSigned first = SelfSigned.fresh();
    SelfSigned second = SelfSigned.fresh();
    var both = List.of(first.certificate(), second.certificate());
    TlsParty caller = certified(first, both);
    TlsParty called = certified(second, both);
    assertThat(Ends.of(caller, called).shaken().caller().binding()).hasSize(32);
    TlsParty knowsItself = certified(second, List.of(second.certificate()));
    assertThatThrownBy(() -> Ends.of(caller, knowsItself).shaken())
        .hasMessageContainingAll("a failing TLS handshake", "--tls-ca");
    assertThatThrownBy(() -> Ends.of(knowsItself, certified(first, both)).shaken())
        .hasMessageContaining("a failing TLS handshake");
    assertThatThrownBy(() -> Ends.of(ONE, called).shaken())
        .hasMessageContaining("a failing TLS handshake");
  }

  private static TlsParty certified(SelfSigned own, List<X509Certificate> authorities) {
    return TlsParty.of(
        new Encryption.Certified(List.of(own.certificate()), own.key(), authorities));
  }

  @Test
  void aPeerThatDoesNotEncryptIsDetectedAndNotified() {
    TlsPipe called = ONE.answer();
    assertThat(handshakeUnchecked(called)).isEqualTo(TlsPipe.Need.RECEIVING);
    called.room().put("WEFTSTO2".getBytes(StandardCharsets.US_ASCII));
    called.received(8);
    assertThatThrownBy(called::handshake)
        .hasMessageContainingAll("not encrypted", "--secure", "it is on here");
    ByteBuffer told = called.unsent();
    assertThat(TlsMark.isTls(told.get(told.position()), told.get(told.position() + 1))).isTrue();
    TlsPipe caller = OTHER.call();
    assertThat(handshakeUnchecked(caller)).isEqualTo(TlsPipe.Need.RECEIVING);
    caller.room().put(told.duplicate());
    caller.received(told.remaining());
    assertThatThrownBy(caller::handshake).hasMessageContaining("--secure");
  }

  private static TlsPipe.Need handshakeUnchecked(TlsPipe pipe) {
    try {
      TlsPipe.Need need = pipe.handshake();
      while (need == TlsPipe.Need.WORK) {
        pipe.work();
        need = pipe.handshake();
      }
      return need;
    } catch (SSLException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void hostileBytesEndTheHandshake() throws SSLException {
    Random random = new Random(5);
    for (int i = 0; i < 50; i++) {
      TlsPipe called = ONE.answer();
      byte[] garbage = new byte[16_000];
      random.nextBytes(garbage);
      if (i % 2 == 0) {
        garbage[0] = 22; // the header of a handshake of random length
        garbage[1] = 3;
        garbage[2] = 1;
      }
      assertThat(called.handshake()).isEqualTo(TlsPipe.Need.RECEIVING);
      called.room().put(garbage);
      called.received(garbage.length);
      TlsPipe.Need need = TlsPipe.Need.WORK;
      try {
        while (need == TlsPipe.Need.WORK) {
          need = called.handshake();
          called.work();
        }
        // The pipe waits for the rest of a long record, but its buffer is bounded.
        assertThat(need).isEqualTo(TlsPipe.Need.RECEIVING);
        assertThat(called.room().remaining()).isLessThan(1000);
      } catch (SSLException refused) {
        assertThat(refused).hasMessageContaining("a failing TLS handshake");
      }
    }
  }
}
