// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.agent.Ticker;
import io.weft.comm.Handle;
import io.weft.telemetry.timeline.RankTimeline;
import io.weft.telemetry.timeline.SpanCategory;
import io.weft.telemetry.timeline.TimelineEvent;
import io.weft.telemetry.timeline.TimelineFile;
import io.weft.telemetry.timeline.TimelineReader;
import io.weft.tensor.TensorView;
import io.weft.testkit.job.LocalJob;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class LayerSpansTest {

  private static final int STEPS = 5;

  @TempDir Path directory;

  /// Reduces four short tensors in each step on two ranks.
  private void reduce(boolean recorded) {
    try (LocalJob job = LocalJob.over("inproc", 2)) {
      var unused =
          job.run(
              weft -> {
                var options = DataParallelOptions.of(weft.config()).with(Fusion.ON);
                try (RankTimeline rank =
                    RankTimeline.open(weft, Ticker.SYSTEM, Optional.of(directory))) {
                  if (!recorded) {
                    rank.timeline().stop();
                  }
                  try (DataParallel parallel = DataParallel.open(weft, options, rank.timeline())) {
                    Reducer reducer = parallel.reducer(weft.communicator());
                    for (int step = 0; step < STEPS; step++) {
                      List<Handle<TensorView>> handles = new ArrayList<>();
                      for (int i = 0; i < 4; i++) {
                        handles.add(reducer.reduce("g" + i, ReducerTest.floats(i, step)));
                      }
                      for (Handle<TensorView> handle : handles) {
                        var reduced = handle.await();
                        assertThat(ReducerTest.floats(reduced)).contains(step);
                      }
                    }
                  }
                  rank.write();
                  return 0;
                } catch (IOException unwritable) {
                  throw new UncheckedIOException(unwritable);
                }
              });
    }
  }

  private List<TimelineEvent> spans(int rank) throws IOException {
    List<TimelineEvent> spans = new ArrayList<>();
    try (InputStream in = TimelineFile.open(TimelineFile.of(directory, rank))) {
      TimelineReader reader = TimelineReader.open(in);
      for (TimelineEvent event = reader.next(); event != null; event = reader.next()) {
        if (event.category() != null) {
          spans.add(event);
        }
      }
    }
    return spans;
  }

  private static List<TimelineEvent> of(List<TimelineEvent> spans, SpanCategory category) {
    return spans.stream().filter(span -> span.category() == category).toList();
  }

  @Test
  void eachTensorIsNegotiatedAndEachBufferFilledAndEmptied() throws IOException {
    reduce(true);
    for (int rank = 0; rank < 2; rank++) {
      List<TimelineEvent> spans = spans(rank);
      assertThat(spans).allSatisfy(span -> assertThat(span.value() - span.nanos()).isNotNegative());
      assertThat(of(spans, SpanCategory.NEGOTIATE))
          .hasSize(4 * STEPS)
          .extracting(TimelineEvent::name)
          .containsOnly("g0", "g1", "g2", "g3");
      assertThat(of(spans, SpanCategory.QUEUE)).hasSizeBetween(STEPS, 4 * STEPS);
      List<TimelineEvent> in = of(spans, SpanCategory.FUSE);
      assertThat(in).hasSameSizeAs(of(spans, SpanCategory.COPY_OUT));
      assertThat(in)
          .isNotEmpty()
          .allSatisfy(span -> assertThat(span.name()).startsWith("weft/fusion-"));
      assertThat(of(spans, SpanCategory.WAIT))
          .isNotEmpty()
          .allSatisfy(
              span -> {
                assertThat(span.name()).matches("allreduce 'g[0-3]'");
                assertThat(span.detail()).isEqualTo(-1);
              });
    }
  }

  @Test
  void nothingIsRecordedWhileTheTimelineIsStopped() throws IOException {
    reduce(false);
    assertThat(spans(0)).isEmpty();
    assertThat(spans(1)).isEmpty();
  }
}
