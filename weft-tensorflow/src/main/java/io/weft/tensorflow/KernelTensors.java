// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import io.weft.tensorflow.ffm.BorrowedTensors;
import io.weft.tensorflow.ffm.Extents;
import io.weft.tensorflow.ffm.KernelContext;
import io.weft.tensorflow.ffm.NativeTensor;
import io.weft.tensorflow.ffm.Status;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;

/// The inputs and outputs of a kernel, reused over successive runs. Views are valid until the run
/// ends. One thread at a time: the TensorFlow thread that starts the run, then the thread that ends
/// it.
public final class KernelTensors {

  /// The maximum bytes of a result that is copied, which takes about as long as a call from C to
  /// Java and two locks.
  private static final long COPIED_BYTES = 4096;

  private final List<DType> types;
  private final Status status;
  private final MemorySegment pointer = Arena.ofAuto().allocate(JAVA_LONG);
  private final Slot[] slots;

  // State of the current run.
  private long context;

  /// @param types of the inputs, in order; an output has the type of the input of its index
  /// @param status borrowed, for the results of calls
  public KernelTensors(List<DType> types, Status status) {
    this.types = List.copyOf(types);
    this.status = status;
    slots = new Slot[Math.max(1, types.size())];
    for (int i = 0; i < slots.length; i++) {
      slots[i] = new Slot(i);
    }
  }

  /// The buffers of one index.
  private static final class Slot {
    final MemorySegment indexAndResult = Arena.ofAuto().allocate(JAVA_INT, 2);
    final Extents input = new Extents();
    final Extents output = new Extents();
    long held;

    Slot(int index) {
      indexAndResult.set(JAVA_INT, 0, index);
    }
  }

  /// Begins a run.
  public void begin(long runContext) {
    context = runContext;
  }

  /// Returns the number of inputs.
  public int inputs() {
    return types.size();
  }

  /// Returns an input, whose memory the context keeps.
  ///
  /// Hot path.
  public TensorView input(int index) {
    long tensor = KernelContext.input(context, index, pointer, status);
    MemorySegment data = NativeTensor.data(tensor);
    Shape shape = slots[index].input.of(tensor);
    // The context still references the input's memory, so the tensor would be a second reference.
    NativeTensor.delete(tensor);
    return new TensorView(types.get(index), shape, data);
  }

  /// Returns the output of this index, with the shape of `input`. If no other op uses the input's
  /// memory, the output is `input` itself; otherwise it is new memory.
  ///
  /// Hot path.
  public TensorView like(int index, TensorView input) {
    Slot slot = slots[index];
    MemorySegment dims = slot.input.dims(input.shape());
    slot.held =
        KernelContext.forwardInputOrAllocate(
            context, index, dims, slot.input.rank(), slot.indexAndResult, status);
    MemorySegment data = NativeTensor.data(slot.held);
    return data.address() == input.data().address()
        ? input
        : new TensorView(input.dtype(), input.shape(), data);
  }

  /// Returns the output of this index in new memory, of any shape and type.
  public TensorView output(int index, DType dtype, Shape shape) {
    Slot slot = slots[index];
    MemorySegment dims = slot.output.dims(shape);
    long bytes = TensorView.bytes(dtype, shape);
    int type = DataTypes.of(dtype).getNumber();
    slot.held =
        KernelContext.allocate(context, index, type, dims, slot.output.rank(), bytes, status);
    return new TensorView(dtype, shape, NativeTensor.data(slot.held));
  }

  /// Makes a result the output of this index. A long result is lent to TensorFlow without a copy.
  ///
  /// @param result ownership passes to this method
  public void give(int index, TensorLease result) {
    TensorView view = result.view();
    if (view.bytes() <= COPIED_BYTES) {
      try (result) {
        output(index, view.dtype(), view.shape()).data().copyFrom(view.data());
      }
      return;
    }
    Slot slot = slots[index];
    MemorySegment dims = slot.output.dims(view.shape());
    int type = DataTypes.of(view.dtype()).getNumber();
    long tensor = BorrowedTensors.lend(type, dims, slot.output.rank(), view.data(), result::close);
    try {
      KernelContext.output(context, index, tensor, status);
    } finally {
      NativeTensor.delete(tensor);
    }
  }

  /// Ends a run.
  public void end() {
    for (Slot slot : slots) {
      if (slot.held != 0) {
        NativeTensor.delete(slot.held);
        slot.held = 0;
      }
    }
  }
}
