// SPDX-License-Identifier: Apache-2.0
package io.weft.shm;

import io.weft.shm.ffm.Futex;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/// Wakes a waiting process. A word in its control file tells how it waits; a peer that finds it
/// waiting resets the word and wakes it. While the process is awake, the doorbell makes no system
/// call.
final class Doorbell {

  static final int AWAKE = 0;

  /// The process sleeps on the word itself.
  static final int ON_WORD = 1;

  /// The process sleeps in the selector of its TCP transport.
  static final int ON_SOCKETS = 2;

  private final MemorySegment control;
  private final Futex futex;

  /// Creates the bell of the process that owns this control file.
  Doorbell(MemorySegment control) {
    this.control = control;
    futex = new Futex(control.asSlice(ControlLayout.BELL, Integer.BYTES));
  }

  /// Announces the wait; afterwards the caller must look for work once more.
  void lieDown(int how) {
    ControlLayout.INT.setOpaque(control, ControlLayout.BELL, how);
    // Pairs with the fence in `ring`: the poster sees this state, or this side sees the work.
    VarHandle.fullFence();
  }

  void sleep(long nanos) {
    futex.await(ON_WORD, nanos);
  }

  void getUp() {
    ControlLayout.INT.setRelease(control, ControlLayout.BELL, AWAKE);
  }

  /// Wakes the owner of this control file if it waits. Returns true if the caller must instead wake
  /// it over its TCP connection. The caller must store the work first. Thread-safe, also across
  /// processes.
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
