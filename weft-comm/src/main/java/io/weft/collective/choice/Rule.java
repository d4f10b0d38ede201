// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.choice;

/// One line of the table, for people.
///
/// @param algorithm that is taken
/// @param when its conditions, as they are written; empty = always
/// @param why for what reason
/// @param origin where it stands; empty = shipped
public record Rule(String algorithm, String when, String why, String origin) {

  /// Conditions, reason and origin in one line, without a full stop.
  public String reason() {
    return (when.isEmpty() ? "" : when + ": ")
        + why
        + (origin.isEmpty() ? "" : " (" + origin + ")");
  }
}
