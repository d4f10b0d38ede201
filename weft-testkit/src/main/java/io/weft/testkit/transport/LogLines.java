// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.transport;

import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;

/// The lines that a logger has written since this object was created.
public final class LogLines extends Handler {

  private static final SimpleFormatter WORDS = new SimpleFormatter();

  private final Logger logger;
  private final List<String> lines = new CopyOnWriteArrayList<>();

  private LogLines(Logger logger) {
    this.logger = logger;
  }

  /// Collects the lines of the logger with this name until it is closed.
  public static LogLines of(String name) {
    LogLines lines = new LogLines(Logger.getLogger(name));
    lines.logger.addHandler(lines);
    return lines;
  }

  /// Returns whether one line contains all these words.
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
    // No line is buffered.
  }

  @Override
  public void close() {
    logger.removeHandler(this);
  }
}
