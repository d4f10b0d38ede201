// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.tensorflow;

import static org.tensorflow.internal.c_api.global.tensorflow.TF_CloseSession;
import static org.tensorflow.internal.c_api.global.tensorflow.TF_DeleteSession;
import static org.tensorflow.internal.c_api.global.tensorflow.TF_GraphImportGraphDef;
import static org.tensorflow.internal.c_api.global.tensorflow.TF_GraphOperationByName;
import static org.tensorflow.internal.c_api.global.tensorflow.TF_NewSession;
import static org.tensorflow.internal.c_api.global.tensorflow.TF_SessionRun;
import static org.tensorflow.internal.c_api.global.tensorflow.TF_SetConfig;
import static org.tensorflow.internal.c_api.global.tensorflow.TF_SetTarget;

import io.weft.tensorflow.TensorViews;
import io.weft.tensorflow.natives.TensorFlowLibraries;
import io.weft.tensorflow.partition.GraphCall;
import io.weft.tensorflow.session.Fetched;
import io.weft.tensorflow.session.SharedNames;
import io.weft.transport.limit.ClampedDuration;
import io.weft.workloads.parameterserver.GraphSession;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.bytedeco.javacpp.BytePointer;
import org.bytedeco.javacpp.PointerPointer;
import org.bytedeco.javacpp.PointerScope;
import org.jspecify.annotations.Nullable;
import org.tensorflow.Tensor;
import org.tensorflow.internal.c_api.TF_Buffer;
import org.tensorflow.internal.c_api.TF_Graph;
import org.tensorflow.internal.c_api.TF_ImportGraphDefOptions;
import org.tensorflow.internal.c_api.TF_Operation;
import org.tensorflow.internal.c_api.TF_Session;
import org.tensorflow.internal.c_api.TF_SessionOptions;
import org.tensorflow.internal.c_api.TF_Status;
import org.tensorflow.proto.ConfigProto;
import org.tensorflow.proto.GraphDef;
import org.tensorflow.proto.RunOptions;

/// A graph over the tasks of a cluster under TensorFlow's own runtime. It is the counterpart of
/// `WeftSession` with the same calls. TensorFlow places the nodes by their devices, partitions the
/// graph and transfers its tensors over gRPC. Variables, queues and other resources keep their
/// names in the graph, so sessions with equal graphs share them.
///
/// It runs one step at a time. Except for `abandon`, only one thread at a time may use it.
public final class GrpcSession implements GraphSession {

  private final TF_Graph graph;
  private final TF_Session session;
  private final Map<String, TF_Operation> operations = new HashMap<>();
  private final Object ending = new Object();
  private boolean closed; // guarded by ending
  private @Nullable Thread canceller; // guarded by ending
  private volatile @Nullable String cancelled;

  private GrpcSession(TF_Graph graph, TF_Session session) {
    this.graph = graph;
    this.session = session;
  }

  /// Opens a session whose master is the task of `server`. The cluster's other tasks may start
  /// within `limit`. Throws `GraphException` with TensorFlow's message if a task does not.
  public static GrpcSession open(GrpcServer server, GraphDef definition, Duration limit) {
    return open(server.target(), definition, limit);
  }

  /// Opens a session whose master is a server of this or another process.
  ///
  /// @param target `grpc://HOST:PORT`
  public static GrpcSession open(String target, GraphDef definition, Duration limit) {
    var unused = TensorFlowLibraries.load();
    TF_Graph graph = TF_Graph.newGraph().retainReference();
    boolean opened = false;
    try (PointerScope _ = new PointerScope()) {
      TF_Status status = TF_Status.newStatus();
      TF_GraphImportGraphDef(
          graph,
          TF_Buffer.newBufferFromString(SharedNames.of(definition)),
          TF_ImportGraphDefOptions.newImportGraphDefOptions(),
          status);
      Statuses.require(status, "import of the graph");
      TF_SessionOptions options = TF_SessionOptions.newSessionOptions();
      TF_SetTarget(options, target);
      byte[] config = config(limit).toByteArray();
      TF_SetConfig(options, new BytePointer(config), config.length, status);
      Statuses.require(status, "configuration of a session");
      TF_Session session = TF_NewSession(graph, options, status);
      Statuses.require(status, "a session with " + target);
      opened = true;
      return new GrpcSession(graph, session);
    } finally {
      if (!opened) {
        graph.releaseReference();
      }
    }
  }

  private static ConfigProto config(Duration limit) {
    return ConfigProto.newBuilder().setOperationTimeoutInMs(ClampedDuration.millis(limit)).build();
  }

  /// Runs `call`, at most for `limit`. Returns the fetches in their order, owned by the caller.
  /// Throws `GraphException` with TensorFlow's message, `IllegalArgumentException` for a name that
  /// is not in the graph, a missing feed, or a type that Weft does not support.
  ///
  /// @param feeds the tensors by the names in `call`; they are copied
  @Override
  public Fetched run(GraphCall call, Map<String, ? extends Tensor> feeds, Duration limit) {
    requireOpen();
    try (PointerScope _ = new PointerScope();
        Endpoints fed = new Endpoints(call.feeds(), this::operation);
        Endpoints fetched = new Endpoints(call.fetches(), this::operation)) {
      for (int i = 0; i < call.feeds().size(); i++) {
        String name = call.feeds().get(i);
        @Nullable Tensor feed = feeds.get(name);
        if (feed == null) {
          throw new IllegalArgumentException("no tensor is fed to '" + name + "'");
        }
        fed.put(i, TensorViews.of(feed));
      }
      run(call, fed, fetched, limit);
      List<Tensor> tensors = new ArrayList<>();
      for (int i = 0; i < call.fetches().size(); i++) {
        tensors.add(TensorViews.copyOf(fetched.get(i)));
      }
      return new Fetched(tensors, tensors);
    }
  }

  private void run(GraphCall call, Endpoints fed, Endpoints fetched, Duration limit) {
    TF_Status status = TF_Status.newStatus();
    RunOptions options =
        RunOptions.newBuilder().setTimeoutInMs(Math.max(1, ClampedDuration.millis(limit))).build();
    PointerPointer<TF_Operation> targets = new PointerPointer<>(Math.max(1, call.targets().size()));
    for (int i = 0; i < call.targets().size(); i++) {
      targets.put(i, operation(call.targets().get(i)));
    }
    TF_SessionRun(
        session,
        TF_Buffer.newBufferFromString(options),
        fed.names(),
        fed.tensors(),
        fed.size(),
        fetched.names(),
        fetched.tensors(),
        fetched.size(),
        targets,
        call.targets().size(),
        null,
        status);
    @Nullable String why = cancelled;
    Statuses.require(status, "a step over gRPC" + (why == null ? "" : ", given up (" + why + "),"));
  }

  /// Runs the nodes `targets`, for example initializers, without fetches.
  public void run(List<String> targets, Duration limit) {
    run(new GraphCall(List.of(), List.of(), targets), Map.of(), limit).close();
  }

  /// Returns -1 because TensorFlow does not report the number.
  @Override
  public long requests() {
    return -1;
  }

  private TF_Operation operation(String name) {
    return operations.computeIfAbsent(
        name,
        wanted -> {
          TF_Operation found = TF_GraphOperationByName(graph, wanted);
          if (found == null || found.isNull()) {
            throw new IllegalArgumentException("the graph has no node '" + wanted + "'");
          }
          return found;
        });
  }

  /// Abandons the current step, which throws `GraphException` with `why` on its thread. All later
  /// steps fail too, because TensorFlow cancels steps by closing their session. Any thread may call
  /// it. Does not wait.
  @Override
  public void abandon(String why) {
    synchronized (ending) {
      if (!closed && canceller == null) {
        cancelled = why;
        canceller = Thread.ofPlatform().daemon().name("weft-grpc-cancel").start(this::endSteps);
      }
    }
  }

  private void endSteps() {
    try (PointerScope _ = new PointerScope()) {
      TF_CloseSession(session, TF_Status.newStatus());
    }
  }

  private void requireOpen() {
    synchronized (ending) {
      if (closed) {
        throw new IllegalStateException("the session is closed");
      }
    }
  }

  /// Closes the session after the end of an earlier `abandon`. Variables remain in their servers.
  @Override
  public void close() {
    @Nullable Thread before;
    synchronized (ending) {
      if (closed) {
        return;
      }
      closed = true;
      before = canceller;
    }
    if (before != null) {
      awaitEnd(before);
    }
    try (PointerScope _ = new PointerScope()) {
      TF_Status status = TF_Status.newStatus();
      TF_CloseSession(session, status);
      TF_DeleteSession(session, status);
    } finally {
      graph.releaseReference();
    }
  }

  /// Waits for the canceller's call of TensorFlow, which ends within the limit of the session's
  /// operations.
  private static void awaitEnd(Thread canceller) {
    boolean interrupted = false;
    while (canceller.isAlive()) {
      try {
        canceller.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
