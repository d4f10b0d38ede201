// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.timeline;

import io.weft.qa.fuzz.FuzzTarget;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Objects;
import java.util.zip.CRC32C;

/// A timeline file of unknown origin. The target corrects the checksum of each frame before it
/// reads the file, because random inputs would hardly ever pass the check.
public final class TimelineFileTarget implements FuzzTarget {

  /// Creates the target. The fuzzer calls this constructor by reflection.
  public TimelineFileTarget() {}

  @Override
  public String name() {
    return "timeline-file";
  }

  @Override
  public List<byte[]> seeds() {
    return List.of(file(0), file(3), file(12));
  }

  private static byte[] file(int spans) {
    var timeline = new Timeline(() -> 0, Timeline.FEWEST);
    for (int i = 0; i < spans; i++) {
      timeline.record(SpanCategory.WAIT, "\u2603 " + i % 2, i, i + 1, 2);
    }
    var bytes = new ByteArrayOutputStream();
    try {
      TimelineWriter.write(
          timeline,
          new TimelineWriter.Owner("job", 1, 3, "node7"),
          List.of(new ClockSample(1, -2, 3)),
          bytes);
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
    return bytes.toByteArray();
  }

  @Override
  public List<byte[]> dictionary() {
    return List.of(TimelineFormat.MAGIC, new byte[] {5, 0, 0, 0, 42}, new byte[] {6, 0, 0, 0, 8});
  }

  @Override
  public void decode(byte[] input) {
    drain(input);
    drain(mended(input));
  }

  private static void drain(byte[] input) {
    try {
      TimelineReader reader = TimelineReader.open(new ByteArrayInputStream(input));
      long read = 0;
      for (TimelineEvent event = reader.next(); event != null; event = reader.next()) {
        Objects.requireNonNull(event.name(), "an event without a name");
        Objects.checkIndex(event.thread(), reader.threads().size());
        read++;
      }
      if (read != reader.count() || reader.next() != null) {
        throw new AssertionError(read + " events read, " + reader.count() + " counted");
      }
      for (ClockSample sample : reader.clocks()) {
        long unused = ClockLine.through(reader.clocks()).rankZeroNanos(sample.nanos());
      }
    } catch (IOException refused) {
      if (refused.getMessage() == null) {
        throw new AssertionError("no message", refused);
      }
    }
  }

  private static byte[] mended(byte[] input) {
    byte[] mended = input.clone();
    ByteBuffer buffer = ByteBuffer.wrap(mended);
    int at = TimelineFormat.MAGIC.length + Integer.BYTES;
    while (at + 9 <= mended.length) {
      int length = buffer.getInt(at + 1);
      if (length < 0 || length > mended.length - at - 9) {
        break;
      }
      var crc = new CRC32C();
      crc.update(mended, at, 5 + length);
      buffer.putInt(at + 5 + length, (int) crc.getValue());
      at += 9 + length;
    }
    return mended;
  }
}
