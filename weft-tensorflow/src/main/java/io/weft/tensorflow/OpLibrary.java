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
import io.weft.tensorflow.ffm.KernelRegistration;
import io.weft.tensorflow.ffm.OpDefinition;
import io.weft.tensorflow.ffm.OutputShapes;
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

/// Weft's ops in TensorFlow's registry, one for each collective, with kernels for the CPU and
/// gradients. Thread-safe.
///
/// The registry is one per process and refuses nothing: a second registration aborts the process.
/// So there is one library per process, made by the first `load`.
public final class OpLibrary {

  static final String ALLREDUCE = "WeftAllreduce";
  static final String BROADCAST = "WeftBroadcast";
  static final String ALLGATHER = "WeftAllgather";
  static final String REDUCE_SCATTER = "WeftReduceScatter";
  static final String ALLTOALL = "WeftAlltoall";
  static final String RANK = "WeftRank";
  static final String SIZE = "WeftSize";

  /// Those that wait for other ranks.
  private static final Set<String> COLLECTIVES =
      Set.of(ALLREDUCE, BROADCAST, ALLGATHER, REDUCE_SCATTER, ALLTOALL);

  /// Set to `false` to use blocking kernels.
  private static final String ASYNC_PROPERTY = "weft.tensorflow.async";

  /// Tells another copy of this class, of another class loader, that the ops are there.
  private static final String REGISTERED_PROPERTY = "weft.tensorflow.registered";

  private static final String TYPES = "{half, bfloat16, float, double, uint8, int8, int32, int64}";

  private static final String NAME = OpAttributes.TENSOR_NAME + ": string";
  private static final String COMMUNICATOR = OpAttributes.COMMUNICATOR + ": int >= 0";

  // Mutable and static because TensorFlow's registry is; guarded by the class.
  private static @Nullable OpLibrary loaded;

  private final String version;
  private final KernelMode mode;
  private final HandleTable<CollectiveKernel<?>> kernels = new HandleTable<>("kernel");
  private final CommunicatorTable communicators = new CommunicatorTable();

  private OpLibrary(String version, KernelMode mode) {
    this.version = version;
    this.mode = mode;
  }

  /// Loads TensorFlow and registers the ops, if this process has not done so. Takes about 0.5 s the
  /// first time, 4 s where TensorFlow's libraries must be unpacked. Throws `CommException.Setup`
  /// with the dependency to add where TensorFlow does not load.
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
                + " or by an attempt that failed; load weft-tensorflow once, beside TensorFlow",
            null);
      }
      library.register();
      loaded = library;
    }
    return library;
  }

  /// TensorFlow's version.
  public String version() {
    return version;
  }

  /// How kernels wait in this process: asynchronous, unless the C++ library does not allow it or
  /// the system property `weft.tensorflow.async` is `false`.
  public KernelMode mode() {
    return mode;
  }

  /// Returns settings of a session for `graph` that suit `mode`: TensorFlow's own for asynchronous
  /// kernels, which need no others, else a thread pool of the session's own with a thread for each
  /// of Weft's ops and one per processor.
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

  /// Settings of a session for `graph` on a rank that computes with as many threads as its share of
  /// the host's processors: `new Session(graph, OpLibrary.load().sessionConfig(graph, weft))`.
  /// TensorFlow's own are as many threads as the host has processors in each process, so that ranks
  /// of one host take each other's time. The first session of a process decides for those after it.
  public ConfigProto sessionConfig(Graph graph, Weft weft) {
    return sessionConfig(graph, weft.processorShare());
  }

  /// The same with a number of threads that compute. One thread runs a graph's ops in turn, as far
  /// as `mode` allows: Weft's do not hold it, and a fixed number of threads is one condition of
  /// equal bits in each run.
  public ConfigProto sessionConfig(Graph graph, int threads) {
    ConfigProto.Builder config = sessionConfig(graph).toBuilder();
    if (config.getInterOpParallelismThreads() == 0) {
      config.setInterOpParallelismThreads(1);
    }
    return config.setIntraOpParallelismThreads(threads).build();
  }

  /// Returns why the step failed that failed last over this communicator: the failure of its first
  /// op that failed, of which TensorFlow's exception holds only the text. A program tells by its
  /// type whether `Weft.shrink` helps. Empty if no step has failed. Any thread; does not block.
  public Optional<CommException> failure(Communicator communicator) {
    return communicators.failure(Objects.requireNonNull(communicator, "communicator"));
  }

  /// Lets all ops of all graphs that were built on `from` run on `to` from their next run on, and
  /// `WeftVariables` too: after `Weft.shrink` a graph goes on with the communicator of the next
  /// epoch, and its variables stay as they are. `to` must stay reachable in place of `from`. No run
  /// may be under way.
  public void rebind(Communicator from, Communicator to) {
    communicators.rebind(from, to);
    kernels.forEach(kernel -> kernel.rebind(from, communicators));
  }

  /// The number to put into the attribute `communicator`.
  int numberOf(Communicator communicator) {
    return numberOf(communicator, mode);
  }

  /// The same for gradients, which reducers of this factory take.
  int numberOf(Communicator communicator, GradientReducer.Factory reducers) {
    return communicators.numberOf(communicator, mode, reducers);
  }

  /// The number for kernels of another mode than this process's.
  int numberOf(Communicator communicator, KernelMode kernelMode) {
    return communicators.numberOf(communicator, kernelMode, null);
  }

  /// What the names of a graph's tensors on this communicator begin with; see `GraphNumbers`.
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
        OutputShapes.AS_INPUTS,
        OpAttributes::allreduce,
        reduction,
        "prescale: string = '1.0'",
        "postscale: string = '1.0'",
        "priority: int = 0",
        "predivide: string = '1.0'",
        "compression: string = 'none'",
        "awaited: int = 0");
    group(BROADCAST, OutputShapes.AS_INPUTS, OpAttributes::broadcast, "root: int >= 0");
    group(ALLGATHER, OutputShapes.OTHER_ROWS, OpAttributes::allgather);
    group(REDUCE_SCATTER, OutputShapes.OTHER_ROWS, OpAttributes::reduceScatter, reduction);
    registerAlltoall();
    place(RANK, CollectiveOp.Place.RANK);
    place(SIZE, CollectiveOp.Place.SIZE);
    Gradients.register();
  }

  /// An op of as many outputs as inputs, of the same types.
  private void group(
      String op, OutputShapes shapes, OpAttributes.Reader reader, String... attributes) {
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
            OutputShapes.OTHER_ROWS,
            attributes("T: " + TYPES)),
        OpAttributes::alltoall,
        node -> List.of(dtype(node.dataType()), DType.INT64));
  }

  private void place(String op, CollectiveOp.Place place) {
    define(
        new OpDefinition(
            op, List.of(), List.of("y: int32"), OutputShapes.SCALAR, List.of(NAME, COMMUNICATOR)),
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

  private void define(
      OpDefinition definition, OpAttributes.Reader reader, CollectiveKernels.InputTypes types) {
    definition.register();
    new KernelRegistration(
            definition.name(), new CollectiveKernels(reader, types, kernels, communicators))
        .registerForAllTypes();
  }
}
