// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.transfer;

import io.weft.comm.CommException;
import io.weft.tensor.DType;
import io.weft.tensorflow.DataTypes;
import io.weft.tensorflow.KernelMode;
import io.weft.tensorflow.OpLibrary;
import io.weft.tensorflow.ffm.HandleTable;
import io.weft.tensorflow.ffm.KernelRegistration;
import io.weft.tensorflow.ffm.NodeKernels;
import io.weft.tensorflow.ffm.OpDefinition;
import io.weft.tensorflow.ffm.ShapeFunction;
import io.weft.tensorflow.partition.TransferOps;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// `WeftSend` and `WeftRecv` in TensorFlow's registry, with CPU kernels. One per process, like the
/// registry. Thread-safe.
public final class TransferLibrary {

  private static final List<String> ATTRIBUTES =
      List.of(
          TransferOps.TYPE + ": {half, bfloat16, float, double, uint8, int8, int32, int64}",
          TransferOps.COUNT + ": int >= 1",
          TransferOps.TENSOR_NAMES + ": list(string)",
          TransferOps.EDGES + ": list(string)",
          TransferOps.SOURCE + ": string",
          TransferOps.DESTINATION + ": string",
          TransferOps.GROUP + ": int",
          TransferOps.PART + ": int = 0");

  // Mutable and static, like TensorFlow's registry; guarded by the class.
  private static @Nullable TransferLibrary loaded;

  private final HandleTable<TransferKernel> kernels = new HandleTable<>("kernel");
  private final HandleTable<GraphPart> parts = new HandleTable<>("part");

  private TransferLibrary() {}

  /// Loads TensorFlow and registers the ops, if this process has not done so. Throws
  /// `CommException.Setup` if TensorFlow does not load, or if its C++ library does not allow
  /// kernels that end on another thread, because a receive must not occupy a TensorFlow thread.
  public static synchronized TransferLibrary load() {
    TransferLibrary library = loaded;
    if (library == null) {
      OpLibrary ops = OpLibrary.load();
      if (ops.mode() != KernelMode.ASYNCHRONOUS) {
        throw new CommException.Setup(
            "a graph over several tasks needs asynchronous kernels, which TensorFlow "
                + ops.version()
                + " does not allow here; use tensorflow-core-native 1.1.0 on x86-64, without"
                + " weft.tensorflow.async=false",
            null);
      }
      library = new TransferLibrary();
      library.register(TransferOps.SEND, List.of("x: N * T"), List.of(), SendKernel::new);
      library.register(TransferOps.RECEIVE, List.of(), List.of("y: N * T"), ReceiveKernel::new);
      library.registerWatch();
      loaded = library;
    }
    return library;
  }

  /// Returns the number of kernels created and not yet deleted.
  public int liveKernels() {
    return kernels.live();
  }

  HandleTable<GraphPart> parts() {
    return parts;
  }

  private void registerWatch() {
    String watch = TransferOps.WATCH;
    new OpDefinition(
            watch,
            List.of(),
            List.of("y: T"),
            ShapeFunction.UNKNOWN,
            List.of(TransferOps.TYPE + ": {uint8}", TransferOps.PART + ": int"))
        .register();
    new KernelRegistration(watch, new WatchKernels(parts))
        .register(DataTypes.of(DType.UINT8).getNumber());
  }

  private void register(
      String op,
      List<String> inputs,
      List<String> outputs,
      Function<List<TransferEnd>, TransferKernel> maker) {
    new OpDefinition(op, inputs, outputs, ShapeFunction.UNKNOWN, ATTRIBUTES).register();
    KernelRegistration registration =
        new KernelRegistration(
            op,
            new NodeKernels<>(
                kernels,
                node -> maker.apply(TransferEnd.read(node, parts)),
                "; sends and receives run only in the part of a graph that a WeftServer holds, by"
                    + " WeftSession.run"));
    for (DType dtype : DType.values()) {
      registration.register(DataTypes.of(dtype).getNumber());
    }
  }
}
