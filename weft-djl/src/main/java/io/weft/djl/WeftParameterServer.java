// SPDX-License-Identifier: Apache-2.0
package io.weft.djl;

import ai.djl.ndarray.NDArray;
import ai.djl.nn.Block;
import ai.djl.nn.Parameter;
import ai.djl.training.ParameterServer;
import ai.djl.util.Pair;
import io.weft.comm.Handle;
import io.weft.kv.KvTensor;
import io.weft.kv.KvWorker;
import io.weft.kv.rule.UpdateRules;
import io.weft.kv.spec.Consistency;
import io.weft.kv.spec.TableSpec;
import io.weft.tensor.DType;
import io.weft.tensor.TensorView;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/// DJL's parameter server over Weft's: the trained parameters of a model are dense tensors on
/// servers, and an update rule of the servers takes the place of DJL's optimizer. Gradients are
/// pushed from PyTorch's memory, and weights pulled into it. Confined to one thread.
///
/// `update` only begins the exchange of one parameter, because DJL updates parameters in an order
/// that differs between processes; `await` completes those of a step. `ServedTrainer` calls both.
public final class WeftParameterServer implements ParameterServer {

  private static final String PREFIX = "djl/";

  private final KvWorker worker;
  private final Block block;
  private final String rule;
  private final Consistency consistency;
  private final Map<String, Served> served = new HashMap<>();
  private final List<Exchange> begun = new ArrayList<>();

  /// A parameter on the servers.
  ///
  /// @param weights its memory in PyTorch
  /// @param priority of its requests; layers that are needed earlier have a higher one
  private record Served(KvTensor tensor, MemorySegment weights, int priority) {}

  /// An exchange that has begun.
  private record Exchange(MemorySegment gradient, Handle<Void> handle) {}

  /// A request for the servers.
  @FunctionalInterface
  private interface Request {
    Handle<Void> begin() throws InterruptedException;
  }

  /// Creates the worker's side for the parameters of a block. Throws `IllegalArgumentException` for
  /// an invalid rule.
  ///
  /// @param rule of the updates, such as `momentum:lr=0.05,momentum=0.9`
  public WeftParameterServer(KvWorker worker, Block block, String rule, Consistency consistency) {
    this.worker = Objects.requireNonNull(worker, "worker");
    this.block = Objects.requireNonNull(block, "block");
    this.rule = Objects.requireNonNull(rule, "rule");
    this.consistency = Objects.requireNonNull(consistency, "consistency");
    var unused = UpdateRules.parse(rule);
  }

  /// Registers a parameter and sets its values to those of the servers, which begin with those of
  /// the lowest worker. All workers must register the same parameters in the same order.
  @Override
  public void init(String parameterId, NDArray[] value) {
    int index = index(parameterId);
    String name = block.getParameters().keyAt(index);
    TensorView weights = floats("parameter '" + name + "'", value[0]);
    TableSpec spec =
        TableSpec.tensor(PREFIX + name, weights.shape().elements())
            .withRule(rule)
            .with(consistency);
    try {
      KvTensor tensor = worker.registerTensor(spec);
      var unusedFirst = tensor.init(weights.data()).await();
      var unusedPull = tensor.pull(weights.data()).await();
      int priority = block.getParameters().size() - index;
      served.put(parameterId, new Served(tensor, weights.data(), priority));
    } catch (InterruptedException e) {
      throw interrupted(e);
    }
  }

  private int index(String parameterId) {
    int index = 0;
    for (Pair<String, Parameter> each : block.getParameters()) {
      if (each.getValue().getId().equals(parameterId)) {
        return index;
      }
      index++;
    }
    throw new IllegalArgumentException(
        "no parameter of the block has the identifier " + parameterId);
  }

  private static TensorView floats(String what, NDArray array) {
    TensorView view = ArrayMemory.of(what, array);
    if (view.dtype() != DType.FLOAT32) {
      throw new IllegalArgumentException(
          what + " is " + view.signature() + ", expected FLOAT32, the only type of the servers");
    }
    return view;
  }

  /// Begins to push the gradient of a parameter, divided by the number of workers, and to pull its
  /// weights. Borrows both until `await`.
  @Override
  public void update(String parameterId, NDArray[] gradients, NDArray[] weights) {
    Served of = served.get(parameterId);
    if (of == null) {
      throw new IllegalStateException(
          "parameter " + parameterId + " is not on the servers; call init before update");
    }
    int workers = worker.workers().size();
    if (workers > 1) {
      gradients[0].divi(workers);
    }
    MemorySegment gradient = ArrayMemory.memory(gradients[0]);
    Handle<Void> handle =
        begin(
            () ->
                isBounded()
                    ? of.tensor.push(gradient, of.priority)
                    : of.tensor.pushPull(gradient, of.weights, of.priority));
    begun.add(new Exchange(gradient, handle));
  }

  /// Returns whether pulls wait for slow workers, so that the clock must advance between the pushes
  /// and the pulls of a step.
  private boolean isBounded() {
    return consistency.staleness() > 0;
  }

  /// Completes the exchanges that have begun, advances this worker's clock, and sets the gradients
  /// to zero, which PyTorch would otherwise accumulate.
  public void await() {
    List<Exchange> all = List.copyOf(begun);
    begun.clear();
    try {
      for (Exchange each : all) {
        var unused = each.handle.await();
      }
      worker.clock();
    } catch (InterruptedException e) {
      throw interrupted(e);
    }
    if (isBounded()) {
      pull();
    }
    all.forEach(each -> each.gradient.fill((byte) 0));
  }

  /// Sets all weights to those of the servers.
  public void pull() {
    List<Handle<Void>> pulls = new ArrayList<>();
    try {
      for (Served each : served.values()) {
        pulls.add(each.tensor.pull(each.weights, each.priority));
      }
      for (Handle<Void> each : pulls) {
        var unused = each.await();
      }
    } catch (InterruptedException e) {
      throw interrupted(e);
    }
  }

  private static Handle<Void> begin(Request request) {
    try {
      return request.begin();
    } catch (InterruptedException e) {
      throw interrupted(e);
    }
  }

  private static IllegalStateException interrupted(InterruptedException cause) {
    Thread.currentThread().interrupt();
    return new IllegalStateException("interrupted while the servers answer", cause);
  }

  /// Does nothing, because the caller closes the worker.
  @Override
  public void close() {}
}
