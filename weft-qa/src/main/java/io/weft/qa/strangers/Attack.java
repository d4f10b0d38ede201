// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.strangers;

import io.weft.qa.strangers.OpenPort.Visit;
import io.weft.transport.spi.Secret;
import java.io.IOException;
import java.util.Random;

/// What one stranger does with one port.
enum Attack {
  /// Up to 4 KiB of anything.
  RANDOM_BYTES,
  /// As a browser or a scanner of ports has it.
  HTTP_REQUEST,
  /// A client's greeting, and nothing after it.
  TLS_HELLO,
  /// Frames as only a proved peer may send them, of 2^31-1 bytes, at once.
  LENGTH_2_31,
  /// The same, of 2^63-1 bytes, in place of a proof.
  LENGTH_2_63,
  /// A proof that is right, on another connection than that for which it was made.
  REPLAYED_HANDSHAKE,
  /// All is right but the secret.
  WRONG_SECRET;

  private static final int MESSAGE = 1;
  private static final int WRITE = 2;
  private static final int MOST_ANSWER_BYTES = 96;

  /// The job as its strangers know it.
  ///
  /// @param name what the job is called
  /// @param secret to make what was recorded with; no other stranger knows it
  record Victim(String name, Secret secret) {}

  /// Whether the stranger was let in. Throws `IOException` where it was cut short, which is as it
  /// should be.
  boolean isLetIn(OpenPort door, Victim job, Random random) throws IOException {
    return switch (this) {
      case RANDOM_BYTES -> isLetIn(door, bytes(random, 1 + random.nextInt(4096)));
      case HTTP_REQUEST -> isLetIn(door, HostileBytes.httpRequest());
      case TLS_HELLO -> isLetIn(door, HostileBytes.tlsHello());
      case LENGTH_2_31 ->
          isLetIn(
              door,
              door.store()
                  ? HostileBytes.storePut(Integer.MAX_VALUE)
                  : HostileBytes.frame(MESSAGE, Integer.MAX_VALUE));
      case LENGTH_2_63 ->
          door.store()
              ? isLetIn(
                  door,
                  HostileBytes.storeMagic(),
                  new byte[HostileBytes.NONCE_BYTES],
                  HostileBytes.frame(WRITE, Long.MAX_VALUE),
                  HostileBytes.storePut(-1))
              : isLetIn(
                  door,
                  HostileBytes.hello(new byte[HostileBytes.NONCE_BYTES]),
                  HostileBytes.frame(WRITE, Long.MAX_VALUE));
      case REPLAYED_HANDSHAKE -> replay(door, job, random);
      case WRONG_SECRET -> proveOther(door, job, random);
    };
  }

  private static byte[] bytes(Random random, int count) {
    byte[] bytes = new byte[count];
    random.nextBytes(bytes);
    return bytes;
  }

  private static boolean isLetIn(OpenPort door, byte[]... words) throws IOException {
    try (Visit visit = door.visit()) {
      visit.say(words);
      byte[] answer = visit.hear(HostileBytes.GREETING_BYTES + MOST_ANSWER_BYTES);
      if (!HostileBytes.isGreeting(answer)) {
        return false;
      }
      byte[] rest = new byte[Math.max(0, answer.length - HostileBytes.GREETING_BYTES)];
      System.arraycopy(answer, answer.length - rest.length, rest, 0, rest.length);
      return HostileBytes.isWelcome(door, rest);
    }
  }

  private static boolean replay(OpenPort door, Victim job, Random random) throws IOException {
    byte[] ours = bytes(random, HostileBytes.NONCE_BYTES);
    byte[] recorded;
    try (Visit visit = door.visit()) {
      recorded = proof(door, job, ours, greeted(door, visit, ours));
    }
    try (Visit visit = door.visit()) {
      byte[] unused = greeted(door, visit, ours);
      visit.say(recorded);
      return HostileBytes.isWelcome(door, visit.hear(MOST_ANSWER_BYTES));
    }
  }

  private static boolean proveOther(OpenPort door, Victim job, Random random) throws IOException {
    byte[] ours = bytes(random, HostileBytes.NONCE_BYTES);
    var other = new Victim(job.name(), Secret.of(bytes(random, 32)));
    try (Visit visit = door.visit()) {
      visit.say(proof(door, other, ours, greeted(door, visit, ours)));
      return HostileBytes.isWelcome(door, visit.hear(MOST_ANSWER_BYTES));
    }
  }

  /// The other side's nonce.
  private static byte[] greeted(OpenPort door, Visit visit, byte[] ours) throws IOException {
    if (!door.store()) {
      visit.say(HostileBytes.hello(ours));
    }
    byte[] greeting = visit.hear(HostileBytes.GREETING_BYTES);
    if (!HostileBytes.isGreeting(greeting)) {
      throw new IOException("dropped before it was greeted, or encrypted");
    }
    return HostileBytes.nonce(greeting);
  }

  private static byte[] proof(OpenPort door, Victim job, byte[] ours, byte[] theirs) {
    return door.store()
        ? HostileBytes.storeProof(job.secret(), ours, theirs)
        : HostileBytes.proof(job.name(), job.secret(), ours, theirs);
  }
}
