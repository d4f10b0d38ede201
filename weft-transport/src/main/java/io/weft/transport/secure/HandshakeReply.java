// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.secure;

/// A responder's answer to an initiator that has proved the secret. The code on the wire equals the
/// ordinal.
enum HandshakeReply {
  /// Both sides belong together.
  ACCEPTED(0, "accepted"),
  /// The initiator belongs to another job with the same secret.
  WRONG_JOB(1, "the jobs have different names; check the address and the job's name"),
  /// The initiator has another membership version.
  WRONG_EPOCH(2, "the epochs differ; one side must rejoin the job"),
  /// The responder's number differs from the one that the initiator wants.
  WRONG_NODE(3, "the address belongs to another node; check the list of addresses");

  private final int code;
  private final String meaning;

  HandshakeReply(int code, String meaning) {
    this.code = code;
    this.meaning = meaning;
  }

  /// Returns the code on the wire.
  int code() {
    return code;
  }

  /// Returns a description with the remedy.
  String meaning() {
    return meaning;
  }

  /// Returns the verdict with this code; an unknown code decodes as `WRONG_JOB`.
  static HandshakeReply of(int code) {
    for (HandshakeReply verdict : values()) {
      if (verdict.code == code) {
        return verdict;
      }
    }
    return WRONG_JOB;
  }
}
