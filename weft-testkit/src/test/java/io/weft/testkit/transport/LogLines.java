// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.transport;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/// What a logger has written since.
final class LogLines extends Handler {

  private final Logger logger;
  private final List<String> lines = new CopyOnWriteArrayList<>();

  private LogLines(Logger logger) {
    this.logger = logger;
  }

  static LogLines of(String name) {
    LogLines lines = new LogLines(Logger.getLogger(name));
    lines.logger.addHandler(lines);
    return lines;
  }

  /// Whether one line has all these words.
  boolean has(String... words) {
    return lines.stream().anyMatch(line -> List.of(words).stream().allMatch(line::contains));
  }

  @Override
  public void publish(LogRecord line) {
    lines.add(line.getMessage());
  }

  @Override
  public void flush() {
    // Nothing is kept back.
  }

  @Override
  public void close() {
    logger.removeHandler(this);
  }
}
