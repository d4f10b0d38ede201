// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.store;

import io.weft.agent.Ticker;
import io.weft.transport.limit.Span;
import io.weft.transport.limit.UnprovenLimit;
import java.net.Socket;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;

/// Connections to the store that have not proved anything: a bounded number, as `UnprovenLimit` has
/// it, and a bounded number of lines in the log. Thread-safe.
final class UnprovenConnections {

  static final int MOST = 128;
  private static final int LINES_PER_PERIOD = 5;
  private static final long PERIOD_NANOS = Span.nanos(Duration.ofSeconds(1));

  private final ReentrantLock lock = new ReentrantLock();
  private final UnprovenLimit<Socket> waiting = new UnprovenLimit<>(MOST);
  private final Logger logger;
  private long periodStart = Ticker.SYSTEM.nanos() - PERIOD_NANOS;
  private int lines;
  private long leftOut;

  UnprovenConnections(Logger logger) {
    this.logger = logger;
  }

  /// Lets one more wait; returns the one that must go for it.
  Optional<Socket> admit(Socket socket) {
    lock.lock();
    try {
      return waiting.admit(socket, socket.getInetAddress());
    } finally {
      lock.unlock();
    }
  }

  /// It has begun as a rank does.
  void spoke(Socket socket) {
    lock.lock();
    try {
      waiting.spoke(socket);
    } finally {
      lock.unlock();
    }
  }

  /// It has proved itself, or it is gone.
  void forget(Socket socket) {
    lock.lock();
    try {
      waiting.leave(socket);
    } finally {
      lock.unlock();
    }
  }

  /// One line, unless there were many in this second.
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
