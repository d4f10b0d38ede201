// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.secure;

/// What a responder answers an initiator that has proved to know the secret. The ordinal is the
/// code on the wire.
enum HandshakeReply {
  /// They belong together.
  ACCEPTED(0, "accepted"),
  /// Another job with the same secret.
  WRONG_JOB(1, "the jobs have different names; check the address and the job's name"),
  /// Another membership version.
  WRONG_EPOCH(2, "the epochs differ; one side must rejoin the job"),
  /// The responder has another number than the initiator wants.
  WRONG_NODE(3, "the address belongs to another node; check the list of addresses");

  private final int code;
  private final String meaning;

  HandshakeReply(int code, String meaning) {
    this.code = code;
    this.meaning = meaning;
  }

  /// On the wire.
  int code() {
    return code;
  }

  /// In words, with what to do.
  String meaning() {
    return meaning;
  }

  /// The verdict with this code; unknown codes read as `WRONG_JOB`.
  static HandshakeReply of(int code) {
    for (HandshakeReply verdict : values()) {
      if (verdict.code == code) {
        return verdict;
      }
    }
    return WRONG_JOB;
  }
}
