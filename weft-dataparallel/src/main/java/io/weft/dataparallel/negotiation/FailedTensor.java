// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.negotiation;

/// A tensor of this rank that will not be reduced.
///
/// @param culprit the rank that did not submit it; -1 = ranks disagree
/// @param message for the caller
public record FailedTensor(String name, int culprit, String message) {

  /// Whether all ranks have submitted it, in different ways.
  public boolean isMismatch() {
    return culprit < 0;
  }
}
