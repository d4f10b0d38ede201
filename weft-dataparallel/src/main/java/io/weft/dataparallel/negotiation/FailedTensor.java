// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.negotiation;

/// A tensor of this rank that will not be reduced.
///
/// @param culprit the rank that did not submit it; -1 = ranks disagree
/// @param message message for the caller
public record FailedTensor(String name, int culprit, String message) {

  /// Returns true if all ranks have submitted the tensor, with different signatures.
  public boolean isMismatch() {
    return culprit < 0;
  }
}
