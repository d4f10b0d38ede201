// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.link;

import io.weft.transport.Completion;
import io.weft.transport.TransportException;
import org.jspecify.annotations.Nullable;

/// At most so many reads or writes on their way at a time. Confined to the main thread.
final class InFlightWindow {

  private final PeerLink link;
  private final Flight[] free;
  private int idle;
  private int posted;
  private @Nullable TransportException failure;

  /// Posts number `number` of a batch if there is room; whether it did.
  @FunctionalInterface
  interface Posting {
    boolean post(int number, Completion done);
  }

  /// One read or write; armed while it is free.
  private final class Flight extends Completion {

    Flight() {
      arm(1);
    }

    @Override
    protected void onSuccess() {
      arm(1);
      free[idle++] = this;
    }

    @Override
    protected void onFailure(TransportException first) {
      failure = first;
      onSuccess();
    }
  }

  /// Of `width` operations, at least one.
  InFlightWindow(PeerLink link, int width) {
    this.link = link;
    free = new Flight[width];
    while (idle < width) {
      free[idle++] = new Flight();
    }
  }

  /// Posts a batch as there is room, and waits until all of it is complete. Throws
  /// `TransportException` if one failed.
  ///
  /// Hot path.
  void run(int batch, Posting posting) {
    posted = 0;
    link.until(
        () -> {
          boolean room = true;
          while (room && posted < batch && idle > 0) {
            // Taken first: it may complete while it is posted.
            Flight flight = free[--idle];
            room = posting.post(posted, flight);
            if (room) {
              posted++;
            } else {
              free[idle++] = flight;
            }
          }
          return posted == batch && idle == free.length;
        });
    if (failure != null) {
      throw failure;
    }
  }
}
