// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.torture;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/// The kinds of harm to a job.
public enum Harm {
  /// `kill -9` of one rank at a random moment after its process has started.
  KILL,
  /// `kill -STOP` of one rank while it works.
  STOP,
  /// A reset of one connection by the fault plug-in, while the connection is used.
  CUT,
  /// A network partition between two halves of the job, while the network is used.
  PARTITION;

  /// Returns the word on the command line.
  String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /// Returns the kind of this word.
  static Optional<Harm> of(String word) {
    return Arrays.stream(values()).filter(harm -> harm.word().equals(word)).findFirst();
  }

  /// Returns true if the system reports nothing, so that only silence reveals the harm.
  boolean isSilent() {
    return this == STOP || this == PARTITION;
  }
}
