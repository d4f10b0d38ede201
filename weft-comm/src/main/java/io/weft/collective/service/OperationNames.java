// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.service;

import io.weft.collective.frame.Hash;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/// The names that were used on one communicator. Kept as long as it, as the counts of their uses
/// are, so that a name's next use makes nothing and hashes nothing. Any thread.
final class OperationNames {

  private final long communicator;
  private final ConcurrentMap<String, OperationName> known = new ConcurrentHashMap<>();

  /// Of the communicator with this key.
  OperationNames(long communicator) {
    this.communicator = communicator;
  }

  /// Hot path, once the name was used.
  OperationName get(String text) {
    OperationName name = known.get(text);
    return name != null ? name : known.computeIfAbsent(text, this::make);
  }

  private OperationName make(String text) {
    return new OperationName(text, Hash.of(communicator, text));
  }
}
