// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.torture;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/// What is done to a job.
public enum Harm {
  /// `kill -9` of one rank, at any moment from when its process is there.
  KILL,
  /// `kill -STOP` of one rank, while it works.
  STOP,
  /// One connection is reset, by the fault plug-in, while it is used.
  CUT,
  /// The network between two halves of the job stops to carry anything, while it is used.
  PARTITION;

  /// As a command line says it.
  String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /// The one with this word.
  static Optional<Harm> of(String word) {
    return Arrays.stream(values()).filter(harm -> harm.word().equals(word)).findFirst();
  }

  /// Whether nobody is told by the system, so that only silence shows it.
  boolean isSilent() {
    return this == STOP || this == PARTITION;
  }
}
