// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.transport;

import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;

/// What a logger has written since.
public final class LogLines extends Handler {

  private static final SimpleFormatter WORDS = new SimpleFormatter();

  private final Logger logger;
  private final List<String> lines = new CopyOnWriteArrayList<>();

  private LogLines(Logger logger) {
    this.logger = logger;
  }

  /// Of the logger with this name, until it is closed.
  public static LogLines of(String name) {
    LogLines lines = new LogLines(Logger.getLogger(name));
    lines.logger.addHandler(lines);
    return lines;
  }

  /// Whether one line has all these words.
  public boolean has(String... words) {
    Objects.requireNonNull(words, "words");
    return lines.stream().anyMatch(line -> List.of(words).stream().allMatch(line::contains));
  }

  @Override
  public void publish(LogRecord line) {
    lines.add(WORDS.formatMessage(line));
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
