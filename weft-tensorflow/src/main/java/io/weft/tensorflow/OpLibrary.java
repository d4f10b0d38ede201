// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import io.weft.Weft;
import io.weft.collective.Communicator;
import io.weft.comm.CommException;
import io.weft.gradient.GradientReducer;
import io.weft.tensor.DType;
import io.weft.tensorflow.ffm.DoneCallback;
import io.weft.tensorflow.ffm.FrameworkLibrary;
import io.weft.tensorflow.ffm.HandleTable;
import io.weft.tensorflow.ffm.KernelConstruction;
import io.weft.tensorflow.ffm.KernelRegistration;
import io.weft.tensorflow.ffm.NodeKernels;
import io.weft.tensorflow.ffm.OpDefinition;
import io.weft.tensorflow.ffm.ShapeFunction;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.tensorflow.ExecutionEnvironment;
import org.tensorflow.Graph;
import org.tensorflow.proto.ConfigProto;
import org.tensorflow.proto.DataType;

/// Weft's ops in TensorFlow's registry, one for each collective, with CPU kernels and gradients.
/// Thread-safe.
///
/// TensorFlow has one registry per process, and a second registration aborts the process. There is
/// therefore one library per process, created by the first `load`.
public final class OpLibrary {

  static final String ALLREDUCE = "WeftAllreduce";
  static final String BROADCAST = "WeftBroadcast";
  static final String ALLGATHER = "WeftAllgather";
  static final String REDUCE_SCATTER = "WeftReduceScatter";
  static final String ALLTOALL = "WeftAlltoall";
  static final String RANK = "WeftRank";
  static final String SIZE = "WeftSize";

  /// The ops that wait for other ranks.
  private static final Set<String> COLLECTIVES =
      Set.of(ALLREDUCE, BROADCAST, ALLGATHER, REDUCE_SCATTER, ALLTOALL);

  /// The property that selects blocking kernels if it is `false`.
  private static final String ASYNC_PROPERTY = "weft.tensorflow.async";

  /// The property that tells a copy of this class in another class loader that the ops are
  /// registered.
  private static final String REGISTERED_PROPERTY = "weft.tensorflow.registered";

  private static final String TYPES = "{half, bfloat16, float, double, uint8, int8, int32, int64}";

  private static final String NAME = OpAttributes.TENSOR_NAME + ": string";
  private static final String COMMUNICATOR = OpAttributes.COMMUNICATOR + ": int >= 0";

  // Mutable and static, like TensorFlow's registry; guarded by the class.
  private static @Nullable OpLibrary loaded;

  private final String version;
  private final KernelMode mode;
  private final HandleTable<CollectiveKernel<?>> kernels = new HandleTable<>("kernel");
  private final CommunicatorTable communicators = new CommunicatorTable();

  private OpLibrary(String version, KernelMode mode) {
    this.version = version;
    this.mode = mode;
  }

  /// Loads TensorFlow and registers the ops, if this process has not done so. The first call takes
  /// about 0.5 s, or 4 s if TensorFlow's libraries must be unpacked. Throws `CommException.Setup`,
  /// which names the dependency to add, if TensorFlow does not load.
  public static synchronized OpLibrary load() {
    OpLibrary library = loaded;
    if (library == null) {
      String version = FrameworkLibrary.load();
      boolean movable = DoneCallback.movable();
      boolean wanted = !"false".equals(System.getProperty(ASYNC_PROPERTY));
      library =
          new OpLibrary(version, movable && wanted ? KernelMode.ASYNCHRONOUS : KernelMode.BLOCKING);
      if (System.getProperties().putIfAbsent(REGISTERED_PROPERTY, version) != null) {
        throw new CommException.Setup(
            "Weft's TensorFlow ops are registered in this process already, by another class loader"
                + " or by an attempt that failed; load weft-tensorflow once, by the class loader of"
                + " TensorFlow",
            null);
      }
      library.register();
      loaded = library;
    }
    return library;
  }

  /// Returns TensorFlow's version.
  public String version() {
    return version;
  }

  /// Returns the kernel mode of this process. Kernels are asynchronous unless the C++ library does
  /// not allow it or the system property `weft.tensorflow.async` is `false`.
  public KernelMode mode() {
    return mode;
  }

  /// Throws `CommException.Setup` if this process does not allow asynchronous kernels.
  ///
  /// @param users of such kernels, for the message
  public void requireAsynchronous(String users) {
    if (mode != KernelMode.ASYNCHRONOUS) {
      throw new CommException.Setup(
          users
              + " need asynchronous kernels, which TensorFlow "
              + version
              + " does not allow here; use tensorflow-core-native 1.1.0 on x86-64, without"
              + " weft.tensorflow.async=false",
          null);
    }
  }

  /// Returns session settings for `graph` that suit `mode`. Asynchronous kernels use TensorFlow's
  /// defaults. Blocking kernels get a thread pool per session, with a thread for each of Weft's ops
  /// and one per processor.
  public ConfigProto sessionConfig(Graph graph) {
    if (mode == KernelMode.ASYNCHRONOUS) {
      return ConfigProto.getDefaultInstance();
    }
    int[] ops = {0};
    graph
        .operations()
        .forEachRemaining(
            op -> {
              if (COLLECTIVES.contains(op.type())) {
                ops[0]++;
              }
            });
    return ConfigProto.newBuilder()
        .setUsePerSessionThreads(true)
        .setInterOpParallelismThreads(ops[0] + Runtime.getRuntime().availableProcessors())
        .build();
  }

  /// Returns session settings for `graph` on a rank that computes with its share of the host's
  /// processors: `new Session(graph, OpLibrary.load().sessionConfig(graph, weft))`. By default
  /// TensorFlow uses a thread per host processor in each process, so ranks of one host compete for
  /// processors. The first session of a process determines the settings of later ones.
  public ConfigProto sessionConfig(Graph graph, Weft weft) {
    return sessionConfig(graph, weft.processorShare());
  }

  /// Returns session settings with a given number of compute threads. One thread runs a graph's ops
  /// in turn, if `mode` allows, because asynchronous Weft ops do not block it. A fixed number of
  /// threads is one precondition of equal bits in each run.
  public ConfigProto sessionConfig(Graph graph, int threads) {
    ConfigProto.Builder config = sessionConfig(graph).toBuilder();
    if (config.getInterOpParallelismThreads() == 0) {
      config.setInterOpParallelismThreads(1);
    }
    return config.setIntraOpParallelismThreads(threads).build();
  }

  /// Returns the cause of the most recent failed step over this communicator: the failure of its
  /// first failed op. Its type tells a program whether `Weft.shrink` helps; TensorFlow's exception
  /// contains only its text. Returns empty if no step has failed. Any thread; does not block.
  public Optional<CommException> failure(Communicator communicator) {
    return communicators.failure(Objects.requireNonNull(communicator, "communicator"));
  }

  /// Rebinds all ops of all graphs built on `from`, and `WeftVariables`, to `to` from their next
  /// run. After `Weft.shrink` a graph thus continues with the communicator of the next epoch, and
  /// its variables keep their values. `to` must then stay reachable instead of `from`. No run may
  /// be under way.
  public void rebind(Communicator from, Communicator to) {
    communicators.rebind(from, to);
    kernels.forEach(kernel -> kernel.rebind(from, communicators));
  }

  /// Returns the value of the attribute `communicator` for a communicator.
  int numberOf(Communicator communicator) {
    return numberOf(communicator, mode);
  }

  /// Returns the number for gradient ops, which use reducers of this factory.
  int numberOf(Communicator communicator, GradientReducer.Factory reducers) {
    return communicators.numberOf(communicator, mode, reducers);
  }

  /// Returns the number for kernels of another mode than this process's.
  int numberOf(Communicator communicator, KernelMode kernelMode) {
    return communicators.numberOf(communicator, kernelMode, null);
  }

  /// Returns the prefix of a graph's tensor names on this communicator (see `GraphNumbers`).
  String prefix(ExecutionEnvironment environment, int communicator) {
    @Nullable Communicator served = communicators.find(communicator);
    return served != null && served.size() > 1 && environment instanceof Graph graph
        ? communicators.graphs(served).prefix(graph, served)
        : "";
  }

  HandleTable<CollectiveKernel<?>> kernels() {
    return kernels;
  }

  CommunicatorTable communicators() {
    return communicators;
  }

  private void register() {
    String reduction = "op: {'SUM', 'AVERAGE', 'MIN', 'MAX', 'PRODUCT'}";
    group(
        ALLREDUCE,
        ShapeFunction.AS_INPUTS,
        OpAttributes::allreduce,
        reduction,
        "prescale: string = '1.0'",
        "postscale: string = '1.0'",
        "priority: int = 0",
        "predivide: string = '1.0'",
        "compression: string = 'none'",
        "awaited: int = 0");
    group(BROADCAST, ShapeFunction.AS_INPUTS, OpAttributes::broadcast, "root: int >= 0");
    group(ALLGATHER, ShapeFunction.OTHER_ROWS, OpAttributes::allgather);
    group(REDUCE_SCATTER, ShapeFunction.OTHER_ROWS, OpAttributes::reduceScatter, reduction);
    registerAlltoall();
    place(RANK, CollectiveOp.Place.RANK);
    place(SIZE, CollectiveOp.Place.SIZE);
    OpGradients.register();
  }

  /// Defines an op with one output per input, of the same type.
  private void group(
      String op, ShapeFunction shapes, OpAttributes.Reader reader, String... attributes) {
    define(
        new OpDefinition(
            op,
            List.of("x: T"),
            List.of("y: T"),
            shapes,
            attributes("T: list(" + TYPES + ") >= 1", attributes)),
        reader,
        node -> Arrays.stream(node.dataTypes()).mapToObj(OpLibrary::dtype).toList());
  }

  private void registerAlltoall() {
    define(
        new OpDefinition(
            ALLTOALL,
            List.of("x: T", "splits: int64"),
            List.of("y: T", "received: int64"),
            ShapeFunction.OTHER_ROWS,
            attributes("T: " + TYPES)),
        OpAttributes::alltoall,
        node -> List.of(dtype(node.dataType()), DType.INT64));
  }

  private void place(String op, CollectiveOp.Place place) {
    define(
        new OpDefinition(
            op, List.of(), List.of("y: int32"), ShapeFunction.SCALAR, List.of(NAME, COMMUNICATOR)),
        (node, inputs) -> place,
        node -> List.of());
  }

  private static List<String> attributes(String types, String... more) {
    List<String> all = new ArrayList<>(List.of(types, NAME, COMMUNICATOR));
    all.addAll(List.of(more));
    return all;
  }

  private static DType dtype(int tensorFlowType) {
    return DataTypes.of(DataType.forNumber(tensorFlowType));
  }

  private void define(OpDefinition definition, OpAttributes.Reader reader, InputTypes types) {
    definition.register();
    new KernelRegistration(
            definition.name(),
            new NodeKernels<>(kernels, node -> kernel(node, reader, types.of(node)), ""))
        .registerForAllTypes();
  }

  private CollectiveKernel<?> kernel(
      KernelConstruction node, OpAttributes.Reader reader, List<DType> inputs) {
    return new CollectiveKernel<>(
        reader.read(node, inputs.size()),
        inputs,
        communicators,
        node.integer(OpAttributes.COMMUNICATOR),
        node.string(OpAttributes.TENSOR_NAME));
  }

  /// A reader of the element types of a node's inputs, in order.
  private interface InputTypes {
    List<DType> of(KernelConstruction node);
  }
}
