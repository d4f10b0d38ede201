// SPDX-License-Identifier: Apache-2.0
package io.weft.spark;

import io.weft.Weft;
import org.apache.spark.TaskContext;
import org.apache.spark.util.TaskCompletionListener;
import org.apache.spark.util.TaskInterruptListener;

/// Ends a rank when Spark ends its task, because its stage is cancelled or another task of the
/// stage has failed. The rank then leaves the job, which fails its pending operations, and its
/// thread is interrupted.
final class TaskEnd implements TaskCompletionListener, TaskInterruptListener {

  private final Weft weft;
  private final Thread thread = Thread.currentThread();
  private boolean over; // guarded by this

  private TaskEnd(Weft weft) {
    this.weft = weft;
  }

  /// Lets `weft` leave when Spark ends the task. The calling thread is that of the task.
  static void watch(TaskContext task, Weft weft) {
    var end = new TaskEnd(weft);
    var unused = task.addTaskCompletionListener(end).addTaskInterruptListener(end);
  }

  @Override
  public synchronized void onTaskCompletion(TaskContext task) {
    over = true;
  }

  @Override
  public void onTaskInterrupted(TaskContext task, String reason) {
    // Leaving takes up to two seconds, and the calling thread ends the tasks of all jobs.
    Thread.ofPlatform().daemon().name("weft-spark-end").start(this::leave);
  }

  private void leave() {
    if (interrupt()) {
      weft.close();
    }
  }

  /// Interrupts the task, unless it is over and its thread may run another one. Returns whether it
  /// did.
  private synchronized boolean interrupt() {
    if (!over) {
      thread.interrupt();
    }
    return !over;
  }
}
