// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.region;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Arrays;

/// Reusable byte buffers over one region, so that a socket call does not allocate in steady state.
/// A buffer spans at most 2^31 bytes, so that large regions are divided into windows that overlap
/// by the length of one call. Polling thread only.
public final class RegionViews {

  /// The longest view.
  public static final int MAX_BYTES = 1 << 18;

  private static final int WINDOW_SHIFT = 30;
  private static final ByteBuffer[] NONE = {};

  private final MemorySegment segment;
  private Window[] windows = {};
  private int taken;

  RegionViews(MemorySegment segment) {
    this.segment = segment;
  }

  /// Returns a buffer over `bytes` from `offset`, at most `MAX_BYTES`. It is not returned again
  /// before `giveBack`.
  ///
  /// Hot path.
  public ByteBuffer take(long offset, int bytes) {
    int index = (int) (offset >>> WINDOW_SHIFT);
    if (index >= windows.length) {
      grow(index);
    }
    taken++;
    ByteBuffer view = windows[index].take();
    int from = (int) (offset - ((long) index << WINDOW_SHIFT));
    return view.limit(from + bytes).position(from);
  }

  /// Allows all buffers to be returned again.
  ///
  /// Hot path.
  public void giveBack() {
    if (taken > 0) {
      for (Window window : windows) {
        window.taken = 0;
      }
      taken = 0;
    }
  }

  private void grow(int index) {
    int before = windows.length;
    windows = Arrays.copyOf(windows, index + 1);
    for (int i = before; i <= index; i++) {
      long start = (long) i << WINDOW_SHIFT;
      long bytes = Math.min(segment.byteSize() - start, (1L << WINDOW_SHIFT) + MAX_BYTES);
      windows[i] = new Window(segment.asSlice(start, bytes));
    }
  }

  private static final class Window {
    private final MemorySegment part;
    private ByteBuffer[] buffers = NONE;
    private int taken;

    Window(MemorySegment part) {
      this.part = part;
    }

    ByteBuffer take() {
      if (taken == buffers.length) {
        buffers = Arrays.copyOf(buffers, taken + 1);
        buffers[taken] = part.asByteBuffer();
      }
      return buffers[taken++];
    }
  }
}
