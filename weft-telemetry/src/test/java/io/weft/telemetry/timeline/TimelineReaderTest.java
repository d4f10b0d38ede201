// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.timeline;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class TimelineReaderTest {

  private static final List<ClockSample> CLOCKS =
      List.of(new ClockSample(5, -7, 2), new ClockSample(900, -9, 3));

  private static byte[] file() throws IOException {
    var timeline = new Timeline(() -> 0, 2048);
    for (int i = 0; i < 1500; i++) {
      timeline.record(SpanCategory.COMPUTE, "\u2603 " + i % 70, i, i + 10, -1);
    }
    var bytes = new ByteArrayOutputStream();
    var owner = new TimelineWriter.Owner("weft-5", 2, 4, "node7");
    TimelineWriter.write(timeline, owner, CLOCKS, bytes);
    return bytes.toByteArray();
  }

  private static TimelineReader drained(byte[] file) throws IOException {
    TimelineReader reader = TimelineReader.open(new ByteArrayInputStream(file));
    for (TimelineEvent event = reader.next(); event != null; event = reader.next()) {
      assertThat(event.value()).isEqualTo(event.nanos() + 10);
    }
    return reader;
  }

  @Test
  void aTimelineIsReadAsItWasWritten() throws IOException {
    TimelineReader reader = drained(file());
    assertThat(reader.header())
        .isEqualTo(new TimelineHeader("weft-5", 2, 4, "node7", 1500, 1500, 0, 1509));
    assertThat(reader.clocks()).isEqualTo(CLOCKS);
    assertThat(reader.threads()).hasSize(2).contains(Thread.currentThread().getName());
    assertThat(reader.count()).isEqualTo(1500);
    assertThat(reader.cutOff()).isEmpty();
  }

  @Test
  void aTruncatedFileIsReadUpToTheCut() throws IOException {
    byte[] whole = file();
    long before = 0;
    for (int length = 0; length < whole.length; length += length < 2000 ? 1 : 997) {
      byte[] part = Arrays.copyOf(whole, length);
      try {
        TimelineReader reader = drained(part);
        assertThat(reader.cutOff()).isPresent();
        assertThat(reader.count()).isGreaterThanOrEqualTo(before);
        before = reader.count();
      } catch (IOException refused) {
        assertThat(refused).hasMessageMatching("it is cut off before .*|not a timeline of Weft");
        assertThat(before).isZero();
      }
    }
    assertThat(before).isGreaterThanOrEqualTo(1024);
    TimelineReader cut = drained(Arrays.copyOf(whole, whole.length - 30));
    assertThat(cut.cutOff()).hasValue("it is cut off after 1024 of 1500 events");
  }

  @Test
  void aDamagedFileIsReadUpToTheDamage() throws IOException {
    byte[] damaged = file();
    damaged[damaged.length - 100] ^= 1;
    TimelineReader reader = drained(damaged);
    assertThat(reader.count()).isEqualTo(1024);
    assertThat(reader.cutOff()).hasValue("it is damaged after 1024 events: a wrong checksum");
  }

  @Test
  void otherFilesAreRefused() throws IOException {
    assertThatThrownBy(() -> drained("hello, world".getBytes(UTF_8)))
        .isInstanceOf(IOException.class)
        .hasMessage("not a timeline of Weft");
    byte[] later = file();
    later[11] = 2;
    assertThatThrownBy(() -> drained(later))
        .isInstanceOf(IOException.class)
        .hasMessage("a timeline of version 2; this Weft reads 1");
  }

  @Test
  void aDirectoryIsCreatedAndItsTimelinesAreFound(@TempDir Path directory) throws IOException {
    Path made = directory.resolve("a/b");
    TimelineFile.prepare(made, 3);
    Files.write(TimelineFile.of(made, 3), file());
    Files.write(made.resolve("rank-03.weft-trace"), file());
    Files.write(made.resolve("other"), file());
    assertThat(TimelineFile.in(made)).containsOnlyKeys(3);
    try (var in = TimelineFile.open(TimelineFile.of(made, 3))) {
      assertThat(TimelineReader.open(in).header().rank()).isEqualTo(2);
    }
  }

  @Test
  void aDirectoryThatCannotBeCreatedIsNamed(@TempDir Path directory) throws IOException {
    Path file = Files.writeString(directory.resolve("file"), "");
    assertThatThrownBy(() -> TimelineFile.prepare(file, 0))
        .isInstanceOf(FileSystemException.class)
        .hasMessageContaining(file.toString());
    Path inTheWay = Files.createDirectories(TimelineFile.of(directory, 0));
    assertThatThrownBy(() -> TimelineFile.prepare(directory, 0))
        .isInstanceOf(FileSystemException.class)
        .hasMessageContaining(inTheWay.toString());
  }
}
