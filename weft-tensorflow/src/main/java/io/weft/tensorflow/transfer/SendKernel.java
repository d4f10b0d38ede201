// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.transfer;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.weft.rendezvous.Rendezvous;
import io.weft.rendezvous.RendezvousKey;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import io.weft.tensorflow.ffm.DoneCallback;
import io.weft.tensorflow.ffm.KernelContext;
import io.weft.tensorflow.ffm.Status;
import io.weft.tensorflow.ffm.StatusCode;
import io.weft.tensorflow.ffm.TensorMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// The kernel of one `WeftSend`: leaves its input in the rendezvous and ends at once. The tensor
/// stays TensorFlow's own; the rendezvous holds a reference until the other task has it, so that
/// who changes a resource variable meanwhile gets a new buffer. A reference variable is changed
/// where it lies, as it is under TensorFlow's own runtime.
final class SendKernel implements TransferKernel {

  private final TransferEnd end;
  private final Status status = new Status();
  private final MemorySegment pointer = Arena.ofAuto().allocate(JAVA_LONG);
  private final Extents extents = new Extents();

  SendKernel(TransferEnd end) {
    this.end = end;
  }

  @Override
  public void start(long context, long done) {
    long input = 0;
    try {
      RunningStep step = end.part().step();
      input = KernelContext.input(context, pointer, status);
      Shape shape = extents.of(input);
      TensorView view = new TensorView(end.dtype(), shape, TensorMemory.data(input));
      long sent = input;
      step.sends()
          .send(
              new Rendezvous.Offer(
                  RendezvousKey.of(end.edge(), step.number()),
                  view,
                  () -> TensorMemory.delete(sent)));
    } catch (RuntimeException e) {
      if (input != 0) {
        TensorMemory.delete(input);
      }
      status.set(StatusCode.FAILED_PRECONDITION, "send of " + end + ": " + e.getMessage());
      KernelContext.fail(context, status);
    }
    DoneCallback.runInPlace(done);
  }

  @Override
  public void close() {
    status.close();
  }
}
