// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.job;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/// A rank's output without lines that are useless for users and that no flag turns off: Java's
/// notes on the vector module and on the launcher's flags, and TensorFlow's lines of level
/// information. A line is delayed only while its beginning matches one of them. One thread.
final class OutputFilter extends InputStream {

  private static final String PICKED_UP =
      "NOTE: Picked up JDK_JAVA_OPTIONS: " + RankVariables.RANK_JAVA;
  private static final List<byte[]> JAVA =
      bytes("WARNING: Using incubator modules: jdk.incubator.vector", PICKED_UP);
  private static final List<byte[]> JAVA_AND_TENSORFLOW =
      bytes(
          PICKED_UP,
          "WARNING: Using incubator modules: jdk.incubator.vector",
          "WARNING: All log messages before absl::InitializeLog() is called",
          "I0000 00:00:");

  private enum State {
    /// At the beginning of a line, which is in `held`.
    DECIDING,
    /// In a line that passes.
    PASSING,
    /// In a line that is dropped.
    DROPPING
  }

  private final InputStream from;
  private final List<byte[]> beginnings;
  private final ByteArrayOutputStream held = new ByteArrayOutputStream();
  private final ByteArrayOutputStream passed = new ByteArrayOutputStream();
  private final byte[] chunk = new byte[1 << 13];
  private byte[] ready = new byte[0];
  private int at;
  private State state = State.DECIDING;

  private OutputFilter(InputStream from, List<byte[]> beginnings) {
    this.from = from;
    this.beginnings = beginnings;
  }

  static InputStream withoutJavas(InputStream from) {
    return new OutputFilter(from, JAVA);
  }

  static InputStream withoutTensorFlows(InputStream from) {
    return new OutputFilter(from, JAVA_AND_TENSORFLOW);
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
  }

  @Override
  public int read(byte[] into, int offset, int length) throws IOException {
    while (at == ready.length) {
      int count = from.read(chunk);
      if (count < 0 && held.size() == 0) {
        return -1;
      }
      if (count < 0) {
        held.writeTo(passed);
        held.reset();
      }
      for (int i = 0; i < count; i++) {
        take(chunk[i]);
      }
      ready = passed.toByteArray();
      passed.reset();
      at = 0;
    }
    int count = Math.min(length, ready.length - at);
    System.arraycopy(ready, at, into, offset, count);
    at += count;
    return count;
  }

  @Override
  public void close() throws IOException {
    from.close();
  }

  private void take(byte next) throws IOException {
    switch (state) {
      case DECIDING -> decide(next);
      case PASSING -> {
        passed.write(next);
        state = next == '\n' || next == '\r' ? State.DECIDING : State.PASSING;
      }
      case DROPPING -> state = next == '\n' ? State.DECIDING : State.DROPPING;
    }
  }

  private void decide(byte next) throws IOException {
    held.write(next);
    byte[] begun = held.toByteArray();
    boolean possible = false;
    for (byte[] beginning : beginnings) {
      int same = Arrays.mismatch(begun, beginning);
      if (same < 0 || same == beginning.length) {
        held.reset();
        state = State.DROPPING;
        return;
      }
      possible |= same == begun.length;
    }
    if (!possible) {
      held.writeTo(passed);
      held.reset();
      state = next == '\n' || next == '\r' ? State.DECIDING : State.PASSING;
    }
  }

  private static List<byte[]> bytes(String... beginnings) {
    return Arrays.stream(beginnings).map(text -> text.getBytes(StandardCharsets.US_ASCII)).toList();
  }
}
