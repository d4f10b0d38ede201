// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.store;

import io.weft.agent.Ticker;
import io.weft.transport.limit.ClampedDuration;
import io.weft.transport.limit.UnprovenLimit;
import java.net.Socket;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;

/// The connections to the store that have not proved anything. It bounds their number by
/// `UnprovenLimit`, and the number of lines about them in the log. Thread-safe.
final class UnprovenConnections {

  static final int MOST = 128;
  private static final int LINES_PER_PERIOD = 5;
  private static final long PERIOD_NANOS = ClampedDuration.nanos(Duration.ofSeconds(1));

  private final ReentrantLock lock = new ReentrantLock();
  private final UnprovenLimit<Socket> waiting = new UnprovenLimit<>(MOST);
  private final Logger logger;
  private long periodStart = Ticker.SYSTEM.nanos() - PERIOD_NANOS;
  private int lines;
  private long leftOut;

  UnprovenConnections(Logger logger) {
    this.logger = logger;
  }

  /// Admits a connection. Returns the connection to close in exchange, if any.
  Optional<Socket> admit(Socket socket) {
    lock.lock();
    try {
      return waiting.admit(socket, socket.getInetAddress());
    } finally {
      lock.unlock();
    }
  }

  void spoke(Socket socket) {
    lock.lock();
    try {
      waiting.spoke(socket);
    } finally {
      lock.unlock();
    }
  }

  /// Forgets a connection that has proved itself or is closed.
  void forget(Socket socket) {
    lock.lock();
    try {
      waiting.leave(socket);
    } finally {
      lock.unlock();
    }
  }

  /// Logs one line, unless this second already has many.
  void log(String message) {
    lock.lock();
    try {
      long now = Ticker.SYSTEM.nanos();
      if (now - periodStart >= PERIOD_NANOS) {
        periodStart = now;
        lines = 0;
        if (leftOut > 0) {
          logger.warn("the job's store: {} similar lines were left out", leftOut);
          leftOut = 0;
        }
      }
      if (lines++ < LINES_PER_PERIOD) {
        logger.warn("the job's store {}", message);
      } else {
        leftOut++;
      }
    } finally {
      lock.unlock();
    }
  }
}
