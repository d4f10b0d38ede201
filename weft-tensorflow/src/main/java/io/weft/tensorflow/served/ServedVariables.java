// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.served;

import io.weft.Weft;
import io.weft.agent.Ticker;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.kv.KvTensor;
import io.weft.tensor.TensorView;
import io.weft.tensorflow.ffm.NumberedOps;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.tensorflow.Graph;
import org.tensorflow.Operand;
import org.tensorflow.Operation;
import org.tensorflow.OperationBuilder;
import org.tensorflow.Output;
import org.tensorflow.ndarray.Shape;
import org.tensorflow.op.Ops;
import org.tensorflow.types.TFloat32;

/// The weights of a graph that servers keep and update: dense tensors as ops. A gradient leaves
/// when the backward pass has computed it, before the other gradients. A new value arrives while
/// this step and the next one compute, and an op of the graph waits only for the values that it
/// uses. Requests for the variables that were added first have the highest priority, so a program
/// adds variables in the order in which the forward pass needs them [PSLITE §2.2].
///
/// ```java
/// try (var weights = ServedVariables.of(weft);
///     Graph graph = new Graph()) {
///   Ops tf = Ops.create(graph);
///   KvTensor tensor = kv.worker().registerTensor(TableSpec.tensor("w", 784 * 10).withRule("sgd"));
///   Operand<TFloat32> w = weights.add(tf, tensor, Shape.of(784, 10), x);
///   Operand<TFloat32> loss = network(x, w);
///   List<Operation> pushes = weights.push(tf, loss);
///   tensor.init(firstValues).await();
///   weights.pull();
///   for (...) {
///     Session.Runner step = session.runner().feed(x, batch).fetch(loss);
///     pushes.forEach(step::addTarget);
///     step.run().close();
///     weights.clock();
///   }
///   weights.flush();
/// }
/// ```
///
/// A run without the pushes, for example an evaluation, uses the same values as the next step. If a
/// request fails, the op that waits for it and all later ops of its variable fail; `failure`
/// returns the cause. Ops support one run of a graph at a time. A variable has memory for two
/// values: the next one arrives while the backward pass still reads the current one.
///
/// Building is not thread-safe, like a graph's scope. `failure` and `exposedNanos` are for any
/// thread, the other methods for one thread, between runs.
public final class ServedVariables implements AutoCloseable {

  private final Weft weft;
  private final NumberedOps<ServedTensor> ops;
  private final WaitMeter waits = new WaitMeter(Ticker.SYSTEM);
  private final List<Variable> variables = new ArrayList<>();

  /// @param number in the ops
  /// @param value in the graph
  private record Variable(ServedTensor tensor, long number, Output<TFloat32> value) {}

  private ServedVariables(Weft weft) {
    this.weft = weft;
    this.ops = ServedLibrary.load();
  }

  /// Creates an empty list of variables. Throws `CommException.Setup` if TensorFlow does not load.
  ///
  /// @param weft of the worker; borrowed until `close`
  public static ServedVariables of(Weft weft) {
    return new ServedVariables(Objects.requireNonNull(weft, "weft"));
  }

  /// Adds a variable and returns its value in the graph. Throws `IllegalArgumentException` if the
  /// shape has another number of elements than the tensor.
  ///
  /// @param before computed before the value is awaited, such as the input of the layer that uses
  ///   the value
  public Output<TFloat32> add(Ops tf, KvTensor tensor, Shape shape, Operand<?> before) {
    if (shape.size() != tensor.spec().width()) {
      throw new IllegalArgumentException(
          "tensor '%s' of %d elements as a variable of shape %s"
              .formatted(tensor.spec().name(), tensor.spec().width(), shape));
    }
    var extents = io.weft.tensor.Shape.of(shape.asArray());
    // Later layers need their values later.
    var served = new ServedTensor(weft, tensor, extents, -variables.size(), waits);
    long number = ops.add(served);
    Output<TFloat32> raw =
        op(tf, ServedLibrary.VALUE, served, "value")
            .addControlInput(before.asOutput().op())
            .setAttr(ServedLibrary.TENSOR, number)
            .build()
            .output(0);
    // The shape function of the op does not know the shape.
    Output<TFloat32> value = tf.reshape(raw, tf.constant(shape.asArray())).asOutput();
    variables.add(new Variable(served, number, value));
    return value;
  }

  /// Adds an op for each variable that pushes its gradient, in the order of the variables. A step
  /// runs them as targets. On a synchronous tensor every worker must run them once in each step.
  ///
  /// @param loss a scalar
  public List<Operation> push(Ops tf, Operand<TFloat32> loss) {
    Graph graph = (Graph) tf.scope().env();
    Output<?>[] by = variables.stream().map(Variable::value).toArray(Output<?>[]::new);
    Output<?>[] gradients = graph.addGradients(loss.asOutput(), by);
    List<Operation> pushes = new ArrayList<>();
    for (int i = 0; i < gradients.length; i++) {
      Variable of = variables.get(i);
      pushes.add(
          op(tf, ServedLibrary.GRADIENT, of.tensor(), "gradient")
              .addInput(gradients[i])
              .setAttr(ServedLibrary.TENSOR, of.number())
              .build());
    }
    return List.copyOf(pushes);
  }

  private static OperationBuilder op(Ops tf, String type, ServedTensor tensor, String what) {
    String name = tensor.tensor().spec().name().replaceAll("[^A-Za-z0-9_.]", "_") + "_" + what;
    return tf.scope().env().opBuilder(type, tf.scope().makeOpName(name), tf.scope());
  }

  /// Requests all values and does not wait for them.
  public void pull() throws InterruptedException {
    for (Variable each : variables) {
      each.tensor().pull();
    }
  }

  /// Ends the worker's step, whose run has ended. On a synchronous tensor it does nothing, because
  /// a push is the clock. On a tensor of bounded staleness it waits until the servers know the
  /// pushes and the clock, and then requests the next values. Throws `CommException` if a request
  /// fails.
  public void clock() throws InterruptedException {
    List<ServedTensor> bounded =
        variables.stream().map(Variable::tensor).filter(ServedTensor::isBounded).toList();
    List<Handle<Void>> clocks = new ArrayList<>();
    for (Variable each : variables) {
      if (!each.tensor().isSynchronous()) {
        clocks.add(each.tensor().clock());
      }
    }
    if (!bounded.isEmpty()) {
      waits.begin();
    }
    try {
      for (Handle<Void> each : clocks) {
        var unused = each.await();
      }
    } finally {
      if (!bounded.isEmpty()) {
        waits.end();
      }
    }
    for (ServedTensor each : bounded) {
      each.pull();
    }
  }

  /// Waits until all requests have ended, for at most the deadline of each. Throws the
  /// `CommException` of a failed request.
  public void flush() throws InterruptedException {
    for (Variable each : variables) {
      var unused = each.tensor().value().handle().await();
      each.tensor().requireSound();
    }
  }

  /// Returns the cause of the first failed request; empty without one.
  public Optional<CommException> failure() {
    return variables.stream()
        .map(each -> Optional.ofNullable(each.tensor().failure()))
        .flatMap(Optional::stream)
        .findFirst();
  }

  /// Returns the time for which ops waited for their values and `clock` for the servers:
  /// communication that no computation hid, and the wait for slower workers.
  public long exposedNanos() {
    return waits.nanos();
  }

  /// Returns the value of each variable, in their order; borrowed until the next request. Throws
  /// `IllegalStateException` if a value has not arrived; `flush` waits for all.
  public List<TensorView> values() {
    List<TensorView> values = new ArrayList<>();
    for (Variable each : variables) {
      PulledValue value = each.tensor().value();
      if (!value.handle().isDone()) {
        throw new IllegalStateException("the value of " + each.tensor() + " has not arrived");
      }
      values.add(value.view());
    }
    return List.copyOf(values);
  }

  /// Frees the memory. Sessions of graphs with these ops must be closed first.
  @Override
  public void close() {
    for (Variable each : variables) {
      ops.remove(each.number());
      each.tensor().close();
    }
    variables.clear();
  }
}
