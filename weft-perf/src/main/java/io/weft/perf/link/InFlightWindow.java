// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.link;

import io.weft.transport.Completion;
import io.weft.transport.TransportException;
import org.jspecify.annotations.Nullable;

/// The limit on concurrent reads or writes. Confined to the main thread.
final class InFlightWindow {

  private final PeerLink link;
  private final Flight[] free;
  private int idle;
  private int posted;
  private @Nullable TransportException failure;

  /// Posts operation `number` of a batch. Returns false under back-pressure.
  @FunctionalInterface
  interface Posting {
    boolean post(int number, Completion done);
  }

  /// One read or write. It stays armed while it is free.
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

  /// Creates a window of `width` operations, at least one.
  InFlightWindow(PeerLink link, int width) {
    this.link = link;
    free = new Flight[width];
    while (idle < width) {
      free[idle++] = new Flight();
    }
  }

  /// Posts a batch as room becomes free and waits until all of it has completed. Throws
  /// `TransportException` if an operation failed.
  ///
  /// Hot path.
  void run(int batch, Posting posting) {
    posted = 0;
    link.until(
        () -> {
          boolean room = true;
          while (room && posted < batch && idle > 0) {
            // The flight is taken first because it may complete while it is posted.
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
