// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.strangers;

import io.weft.qa.strangers.OpenPort.Visit;
import io.weft.transport.spi.Secret;
import java.io.IOException;
import java.util.Random;

/// An attack of one stranger on one port.
enum Attack {
  /// Up to 4 KiB of random bytes.
  RANDOM_BYTES,
  /// The request of a browser or a port scanner.
  HTTP_REQUEST,
  /// A client's greeting without any further bytes.
  TLS_HELLO,
  /// Frames of 2^31-1 bytes, which only an authenticated peer may send, without a handshake.
  LENGTH_2_31,
  /// A frame of 2^63-1 bytes in place of a proof.
  LENGTH_2_63,
  /// A valid proof on another connection than that for which it was made.
  REPLAYED_HANDSHAKE,
  /// A handshake that is valid except for the secret.
  WRONG_SECRET;

  private static final int MESSAGE = 1;
  private static final int WRITE = 2;
  private static final int MOST_ANSWER_BYTES = 96;

  /// The strangers' knowledge of the job.
  ///
  /// @param name the job's name
  /// @param secret the secret for the recorded handshake, which other attacks do not use
  record Victim(String name, Secret secret) {}

  /// Returns whether the stranger was let in. Throws `IOException` if the job drops the connection,
  /// which is correct.
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

  /// Returns the other side's nonce.
  private static byte[] greeted(OpenPort door, Visit visit, byte[] ours) throws IOException {
    if (!door.store()) {
      visit.say(HostileBytes.hello(ours));
    }
    byte[] greeting = visit.hear(HostileBytes.GREETING_BYTES);
    if (!HostileBytes.isGreeting(greeting)) {
      throw new IOException("dropped before a greeting, or encrypted");
    }
    return HostileBytes.nonce(greeting);
  }

  private static byte[] proof(OpenPort door, Victim job, byte[] ours, byte[] theirs) {
    return door.store()
        ? HostileBytes.storeProof(job.secret(), ours, theirs)
        : HostileBytes.proof(job.name(), job.secret(), ours, theirs);
  }
}
