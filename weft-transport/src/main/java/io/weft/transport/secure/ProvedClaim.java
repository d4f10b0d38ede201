// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.secure;

/// A claim with the tag of its job and the proof of both; immutable by convention.
final class ProvedClaim {

  private final Claim claim;
  private final byte[] tag;
  private final byte[] proof;

  /// Takes the arrays over.
  ProvedClaim(Claim claim, byte[] tag, byte[] proof) {
    this.claim = claim;
    this.tag = tag;
    this.proof = proof;
  }

  /// What is claimed.
  Claim claim() {
    return claim;
  }

  /// The job's tag in this handshake; not to be changed.
  byte[] tag() {
    return tag;
  }

  /// The proof; not to be changed.
  byte[] proof() {
    return proof;
  }
}
