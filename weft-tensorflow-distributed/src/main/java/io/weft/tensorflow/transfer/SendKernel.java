// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.transfer;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.weft.rendezvous.Rendezvous;
import io.weft.rendezvous.RendezvousKey;
import io.weft.tensor.TensorView;
import io.weft.tensorflow.ffm.DoneCallback;
import io.weft.tensorflow.ffm.Extents;
import io.weft.tensorflow.ffm.KernelContext;
import io.weft.tensorflow.ffm.NativeTensor;
import io.weft.tensorflow.ffm.Status;
import io.weft.tensorflow.ffm.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;

/// The kernel of a `WeftSend`, which publishes its inputs in the rendezvous and ends at once.
/// TensorFlow keeps the tensor's memory. The rendezvous holds a reference until the other task has
/// received the tensor, so a concurrent change of a resource variable gets a new buffer. A
/// reference variable is changed in place, as under TensorFlow's own runtime.
final class SendKernel implements TransferKernel {

  private final List<TransferEnd> ends;
  private final Extents[] extents;
  private final Status status = new Status();
  private final MemorySegment pointer = Arena.ofAuto().allocate(JAVA_LONG);

  SendKernel(List<TransferEnd> ends) {
    this.ends = ends;
    this.extents = new Extents[ends.size()];
    Arrays.setAll(extents, at -> new Extents());
  }

  @Override
  public void start(long context, long done) {
    int at = 0;
    try {
      RunningStep step = ends.getFirst().part().step();
      for (; at < ends.size(); at++) {
        send(step, at, context);
      }
    } catch (RuntimeException e) {
      status.set(StatusCode.FAILED_PRECONDITION, "send of " + ends.get(at) + ": " + e.getMessage());
      KernelContext.fail(context, status);
    }
    DoneCallback.runInPlace(done);
  }

  private void send(RunningStep step, int at, long context) {
    TransferEnd end = ends.get(at);
    long input = KernelContext.input(context, at, pointer, status);
    try {
      TensorView view =
          new TensorView(end.dtype(), extents[at].of(input), NativeTensor.data(input));
      RendezvousKey key = RendezvousKey.of(end.edge(), step.number());
      step.sends().send(new Rendezvous.Offer(key, view, () -> NativeTensor.delete(input)));
    } catch (RuntimeException e) {
      NativeTensor.delete(input);
      throw e;
    }
  }

  @Override
  public void close() {
    status.close();
  }
}
