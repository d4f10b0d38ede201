// SPDX-License-Identifier: Apache-2.0
package io.weft.rendezvous;

import java.util.Objects;
import java.util.function.Consumer;

/// One of several receives that are asked for together.
///
/// @param key the tensor
/// @param receiver who hears once what became of it
public record ReceiveRequest(RendezvousKey key, Consumer<? super Arrival> receiver) {
  /// Throws `NullPointerException` where a part is missing.
  public ReceiveRequest {
    Objects.requireNonNull(key, "key");
    Objects.requireNonNull(receiver, "receiver");
  }
}
