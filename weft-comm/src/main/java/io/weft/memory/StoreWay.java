// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

import io.weft.tensor.copy.TensorCopier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/// Whether what other ranks hold in their caches is better stored by way of this rank's own cache
/// or past it. That depends on the processor, on whether two of them share a cache, which the host
/// of a virtual machine may change at any time, and on the length; so either way is timed, by
/// length, and the other one than the better is tried now and then. Ranks choose each for itself:
/// the bits are the same. Confined to the progress thread.
public final class StoreWay {

  /// One in so many operations goes the way that was slower.
  private static final int TRIED_EACH = 128;

  /// What is by non-temporal stores is slow for who reads it next, which nobody times here: it must
  /// be so much faster.
  private static final double WORTH = 1.25;

  /// How much a way's time rises when it takes longer. It falls at once: whatever else goes on on a
  /// machine makes a store slower and never faster.
  private static final double RISE = 1.1;

  private static final int OWN_CACHE = 0;
  private static final int PAST_CACHES = 1;

  private final LongSupplier clock;
  private final @Nullable TensorCopier streaming;
  private final double[][] nanosPerByte = new double[Long.SIZE][2];
  private final int[] operations = new int[Long.SIZE];

  /// Timed by this clock, in nanoseconds; null where nothing can be stored by non-temporal stores.
  public StoreWay(LongSupplier clock, @Nullable TensorCopier streaming) {
    this.clock = clock;
    this.streaming = streaming;
  }

  /// What an operation on tensors of so many bytes, more than none, should copy with to store past
  /// the caches; null if by way of its own.
  ///
  /// Hot path.
  public @Nullable TensorCopier pastCaches(long bytes) {
    if (streaming == null) {
      return null;
    }
    int length = length(bytes);
    double[] nanos = nanosPerByte[length];
    if (nanos[OWN_CACHE] == 0 || nanos[PAST_CACHES] == 0) {
      return nanos[OWN_CACHE] == 0 ? null : streaming;
    }
    boolean faster = nanos[PAST_CACHES] * WORTH < nanos[OWN_CACHE];
    operations[length] = (operations[length] + 1) % TRIED_EACH;
    return faster == operations[length] > 0 ? streaming : null;
  }

  /// The clock, before a part of such an operation.
  public long nanos() {
    return clock.getAsLong();
  }

  /// A part of an operation on tensors of so many bytes has taken from `sinceNanos` until now.
  ///
  /// Hot path.
  ///
  /// @param by what `pastCaches` gave
  /// @param part bytes of it, more than none
  public void took(@Nullable TensorCopier by, long bytes, long part, long sinceNanos) {
    double[] nanos = nanosPerByte[length(bytes)];
    int way = by == null ? OWN_CACHE : PAST_CACHES;
    double now = Math.max(1, clock.getAsLong() - sinceNanos) / (double) part;
    nanos[way] = nanos[way] == 0 ? now : Math.min(now, nanos[way] * RISE);
  }

  /// Lengths that differ by less than twice are one.
  private static int length(long bytes) {
    return Long.SIZE - 1 - Long.numberOfLeadingZeros(bytes);
  }
}
