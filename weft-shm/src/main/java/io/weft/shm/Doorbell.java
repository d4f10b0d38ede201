// SPDX-License-Identifier: Apache-2.0
package io.weft.shm;

import io.weft.shm.ffm.Futex;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/// How a process that waits is woken: a word in its control file says how it waits, and whoever
/// finds it waiting sets it back and wakes it. While it is awake nobody makes a system call.
final class Doorbell {

  static final int AWAKE = 0;

  /// Sleeps on the word itself.
  static final int ON_WORD = 1;

  /// Sleeps in the selector of its TCP transport.
  static final int ON_SOCKETS = 2;

  private final MemorySegment control;
  private final Futex futex;

  /// The bell of the process that owns this control file.
  Doorbell(MemorySegment control) {
    this.control = control;
    futex = new Futex(control.asSlice(ControlLayout.BELL, Integer.BYTES));
  }

  /// Announces the wait; afterwards its caller looks for work once more.
  void lieDown(int how) {
    ControlLayout.INT.setOpaque(control, ControlLayout.BELL, how);
    // Pairs with the fence in `ring`: either the poster sees us lie or we see what it posted.
    VarHandle.fullFence();
  }

  void sleep(long nanos) {
    futex.await(ON_WORD, nanos);
  }

  void getUp() {
    ControlLayout.INT.setRelease(control, ControlLayout.BELL, AWAKE);
  }

  /// Wakes the owner of this control file if it waits; true if it must be told over its TCP
  /// connection. After what it shall find was stored. Any thread, any process.
  ///
  /// Hot path.
  static boolean ring(MemorySegment control) {
    // Pairs with the fence in `lieDown`.
    VarHandle.fullFence();
    int how = (int) ControlLayout.INT.getOpaque(control, ControlLayout.BELL);
    if (how == AWAKE) {
      return false;
    }
    if (!ControlLayout.INT.compareAndSet(control, ControlLayout.BELL, how, AWAKE)) {
      return false;
    }
    if (how == ON_SOCKETS) {
      return true;
    }
    Futex.wake(control, ControlLayout.BELL);
    return false;
  }
}
