// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs;

import io.weft.verbs.device.AsyncEvent;
import io.weft.verbs.device.Device;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// What a device tells by itself, asked for now and then: which endpoints are lost by it, and what
/// an operator should know.
final class DeviceNews {

  private static final long ASK_NANOS = 100_000_000;
  private static final int MOST_AT_ONCE = 64;

  private final Device device;
  private final Consumer<String> warnings;
  private long askedNanos;

  DeviceNews(Device device, Consumer<String> warnings) {
    this.device = device;
    this.warnings = warnings;
  }

  /// Asks, if it is time; an endpoint that has lost its queue pair ends in its next turn.
  void ask(long nowNanos, VerbsEndpoint[] endpoints) {
    if (Math.abs(nowNanos - askedNanos) < ASK_NANOS) {
      return;
    }
    askedNanos = nowNanos;
    for (int i = 0; i < MOST_AT_ONCE; i++) {
      AsyncEvent event = device.takeEvent();
      if (event == null) {
        return;
      }
      tell(event, endpoints);
    }
  }

  private void tell(AsyncEvent event, VerbsEndpoint[] endpoints) {
    switch (event.kind()) {
      case QUEUE_PAIR_FAILED -> fail(event, event, endpoints);
      case COMPLETION_QUEUE_FAILED, DEVICE_FAILED -> fail(event, null, endpoints);
      case PORT_DOWN, PORT_ACTIVE, PORT_CHANGED -> warnings.accept(words(event));
      case NOTICE -> {}
    }
  }

  /// Fails the endpoint that `about` is about, or all.
  private void fail(AsyncEvent event, @Nullable AsyncEvent about, VerbsEndpoint[] endpoints) {
    for (VerbsEndpoint endpoint : endpoints) {
      Link link = endpoint.link();
      if (link != null && (about == null || link.isMeant(about))) {
        link.fail(words(event));
      }
    }
  }

  private String words(AsyncEvent event) {
    return device + " says: " + event.words();
  }
}
