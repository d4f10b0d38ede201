// SPDX-License-Identifier: Apache-2.0
package io.weft.rendezvous;

import java.util.Objects;
import java.util.function.Consumer;

/// One of several receives that are submitted together.
///
/// @param key the tensor
/// @param receiver the receiver, which is notified of the outcome once
public record ReceiveRequest(RendezvousKey key, Consumer<? super Arrival> receiver) {
  /// Throws `NullPointerException` if a component is null.
  public ReceiveRequest {
    Objects.requireNonNull(key, "key");
    Objects.requireNonNull(receiver, "receiver");
  }
}
