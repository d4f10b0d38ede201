// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import io.weft.comm.CompletableHandle;
import io.weft.telemetry.timeline.SpanCategory;
import java.time.Duration;

/// The handle of an operation that the layer's thread completes, with its waits recorded in the
/// timeline. Any thread.
final class ReductionHandle<T> extends CompletableHandle<T> {

  private final String words;
  private final LayerSpans spans;

  /// @param words the operation in words, for messages
  /// @param spans the recorder of waits
  ReductionHandle(String words, LayerSpans spans) {
    this.words = words;
    this.spans = spans;
  }

  @Override
  protected String description() {
    return words;
  }

  @Override
  protected boolean isCompletedHere() {
    return NegotiationThread.isTurning();
  }

  @Override
  public T await(Duration timeout) throws InterruptedException {
    long begun = isDone() ? 0 : spans.now();
    try {
      return super.await(timeout);
    } finally {
      spans.record(SpanCategory.WAIT, words, begun);
    }
  }
}
