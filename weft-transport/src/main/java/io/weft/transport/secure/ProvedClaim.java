// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.secure;

/// A claim with its job's tag and the proof of both; immutable by convention.
final class ProvedClaim {

  private final Claim claim;
  private final byte[] tag;
  private final byte[] proof;

  /// Creates a claim that takes ownership of the arrays.
  ProvedClaim(Claim claim, byte[] tag, byte[] proof) {
    this.claim = claim;
    this.tag = tag;
    this.proof = proof;
  }

  Claim claim() {
    return claim;
  }

  /// Returns the job's tag in this handshake; callers must not change it.
  byte[] tag() {
    return tag;
  }

  /// Returns the proof; callers must not change it.
  byte[] proof() {
    return proof;
  }
}
