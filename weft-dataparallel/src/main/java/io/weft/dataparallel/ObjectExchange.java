// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/// The exchange of objects between ranks. It sends the lengths, which are checked, and then the
/// bytes, as tensors of the layer. A failure fails only this object, on all ranks. User threads.
record ObjectExchange(Reducer reducer) {

  private static final String LENGTH = "weft/length/";
  private static final String OBJECT = "weft/object/";
  private static final long MOST_BYTES = 1 << 30;

  <T> T broadcast(String name, T value, ObjectCodec<T> codec, int root)
      throws InterruptedException {
    byte[] own = reducer.rank() == root ? codec.encode(value) : new byte[0];
    TensorView length = memory(DType.INT64, 1);
    length.data().set(ValueLayout.JAVA_LONG, 0, own.length);
    var unused =
        reducer.submit(CollectiveRequest.Broadcast.of(LENGTH + name, length, root)).await();
    long bytes = length.data().get(ValueLayout.JAVA_LONG, 0);
    check(name, root, bytes);
    if (bytes == 0) {
      return codec.decode(new byte[0]);
    }
    TensorView content = memory(DType.UINT8, bytes);
    MemorySegment.copy(own, 0, content.data(), ValueLayout.JAVA_BYTE, 0, own.length);
    var sent = reducer.submit(CollectiveRequest.Broadcast.of(OBJECT + name, content, root)).await();
    return codec.decode(sent.data().toArray(ValueLayout.JAVA_BYTE));
  }

  <T> List<T> allgather(String name, T value, ObjectCodec<T> codec) throws InterruptedException {
    byte[] own = codec.encode(value);
    TensorView length = memory(DType.INT64, 1);
    length.data().set(ValueLayout.JAVA_LONG, 0, own.length);
    long[] lengths;
    try (TensorLease all =
        reducer.submit(CollectiveRequest.Allgather.of(LENGTH + name, length)).await()) {
      lengths = all.view().data().toArray(ValueLayout.JAVA_LONG);
    }
    long sum = 0;
    for (int r = 0; r < lengths.length; r++) {
      check(name, r, lengths[r]);
      sum += lengths[r];
      check(name, r, sum);
    }
    TensorView content = memory(DType.UINT8, own.length);
    MemorySegment.copy(own, 0, content.data(), ValueLayout.JAVA_BYTE, 0, own.length);
    try (TensorLease all =
        reducer.submit(CollectiveRequest.Allgather.of(OBJECT + name, content)).await()) {
      List<T> values = new ArrayList<>();
      long from = 0;
      for (long bytes : lengths) {
        MemorySegment each = all.view().data().asSlice(from, bytes);
        values.add(codec.decode(each.toArray(ValueLayout.JAVA_BYTE)));
        from += bytes;
      }
      return values;
    }
  }

  private static TensorView memory(DType dtype, long elements) {
    return new TensorView(
        dtype, Shape.of(elements), Arena.ofAuto().allocate(elements * dtype.bytes(), 8));
  }

  private static void check(String name, int rank, long bytes) {
    if (bytes < 0 || bytes > MOST_BYTES) {
      throw new IllegalArgumentException(
          "object '"
              + name
              + "' has "
              + bytes
              + " bytes up to that of rank "
              + rank
              + ", more than 1 GiB; send it as tensors");
    }
  }
}
