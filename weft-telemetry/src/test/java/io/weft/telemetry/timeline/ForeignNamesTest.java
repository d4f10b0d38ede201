// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.timeline;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Checks names that another rank has written to its timeline file.
class ForeignNamesTest {

  private static final String HOSTILE = "a\u001b[2J\nb\u202ec";

  @Test
  void namesOfATimelineFileAreSafeToPrint() throws Exception {
    var timeline = new Timeline(() -> 0, 2048);
    timeline.record(SpanCategory.COMPUTE, HOSTILE, 0, 10, -1);
    var bytes = new ByteArrayOutputStream();
    TimelineWriter.write(
        timeline, new TimelineWriter.Owner(HOSTILE, 0, 1, HOSTILE), List.of(), bytes);
    TimelineReader reader = TimelineReader.open(new ByteArrayInputStream(bytes.toByteArray()));
    assertThat(reader.header().job()).isEqualTo("a?[2J?b?c");
    assertThat(reader.header().host()).isEqualTo("a?[2J?b?c");
    TimelineEvent event = reader.next();
    assertThat(event).isNotNull();
    assertThat(event.name()).isEqualTo("a?[2J?b?c");
  }
}
