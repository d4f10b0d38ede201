// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.tcp;

import io.weft.transport.TransportException;
import io.weft.transport.limit.OpenFiles;
import java.io.IOException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.Arrays;
import java.util.function.Consumer;

/// The selector and the list of ready objects. Selecting only marks objects, so that their handlers
/// may open and close channels. Any thread may call `wake`.
final class Readiness implements AutoCloseable {

  private final Selector selector;
  private final Consumer<SelectionKey> mark = this::mark;
  private Pollable[] ready = new Pollable[16];
  private int count;
  // A wake that a preceding `look` has consumed still ends the next `await`.
  private volatile boolean woken;

  Readiness(OpenFiles openFiles) {
    try {
      selector = Selector.open();
    } catch (IOException e) {
      throw new TransportException.DeviceLost(
          "cannot open a selector: " + e.getMessage() + openFiles.advice(e), e);
    }
  }

  SelectionKey watch(SelectableChannel channel, int operations, Pollable pollable)
      throws IOException {
    return channel.register(selector, operations, pollable);
  }

  /// Marks the ready objects.
  ///
  /// Hot path.
  void look() {
    try {
      selector.selectNow(mark);
    } catch (IOException e) {
      throw lost(e);
    }
  }

  /// Waits until an object is ready, `wake` is called or the time has passed.
  void await(long millis) {
    try {
      if (!woken) {
        selector.select(mark, millis);
      }
      woken = false;
    } catch (IOException e) {
      throw lost(e);
    }
  }

  boolean isEmpty() {
    return count == 0;
  }

  /// Serves the marked objects.
  ///
  /// Hot path.
  int serve(long nowNanos) {
    int work = 0;
    for (int i = 0; i < count; i++) {
      Pollable pollable = ready[i];
      pollable.queued = false;
      work += pollable.ready(nowNanos);
    }
    count = 0;
    return work;
  }

  void wake() {
    woken = true;
    selector.wakeup();
  }

  private void mark(SelectionKey key) {
    Pollable pollable = (Pollable) key.attachment();
    if (!pollable.queued) {
      pollable.queued = true;
      if (count == ready.length) {
        ready = Arrays.copyOf(ready, 2 * count);
      }
      ready[count++] = pollable;
    }
  }

  private static TransportException lost(IOException e) {
    return new TransportException.DeviceLost(
        "waiting for sockets failed: " + e.getMessage() + "; open the transport again", e);
  }

  @Override
  public void close() {
    try {
      selector.close();
    } catch (IOException e) {
      throw lost(e);
    }
  }
}
