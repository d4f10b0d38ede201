// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import io.weft.Weft;
import io.weft.collective.Communicator;
import io.weft.dataparallel.DataParallel;
import io.weft.dataparallel.LayerFactory;
import io.weft.dataparallel.Reducer;
import io.weft.gradient.GradientReducer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.tensorflow.Graph;
import org.tensorflow.Operand;
import org.tensorflow.Operation;
import org.tensorflow.Output;
import org.tensorflow.framework.optimizers.Optimizer;
import org.tensorflow.op.Op;
import org.tensorflow.op.Ops;
import org.tensorflow.op.Scope;
import org.tensorflow.op.core.Identity;
import org.tensorflow.op.core.NoOp;
import org.tensorflow.op.core.Variable;
import org.tensorflow.types.family.TType;

/// An optimizer that averages the gradients over all ranks and gives them to another [HVD18 §4].
/// All ranks then take the same step, so their weights stay equal if they start equal: see
/// `WeftVariables.broadcast`.
///
/// The average of ranks' mean losses is the mean loss of the joint batch when all ranks' batches
/// are equally large.
public final class DistributedOptimizer extends Optimizer {

  /// Each gradient by itself, as the options say.
  private static final GradientReducer.Factory DIRECT = Reducer::direct;

  /// Gradients of so many bytes in all are averaged at the end of the backward pass.
  private static final long LITTLE_BYTES = 1 << 20;

  private final Communicator communicator;
  private final GradientReducer.Factory reducers;
  private final Optimizer local;
  private final GradientOptions options;
  private @Nullable GradientAccumulation accumulation;
  private @Nullable OptimizerShares shares;

  /// When a variable takes its part of a step, and where.
  public enum Updates {
    /// As soon as its own gradient is averaged: communication and computation overlap. A step that
    /// fails may have changed some variables.
    AS_THEY_COME,
    /// When all gradients are averaged: a step that fails has changed no variable, and can be taken
    /// again.
    ALL_OR_NONE,
    /// On one rank: gradients are reduce-scattered, each rank updates its share of the weights, and
    /// the new weights are allgathered [RRRH20 §5.1]. A rank has 1/n of the optimizer's state and
    /// of its work. The bits are those of `AS_THEY_COME` over a `DataParallel` where all hosts have
    /// the same number of consecutive ranks, a power of two; `AdaGrad` differs by rounding, since
    /// TensorFlow's kernel treats the last elements of a tensor in another way. For optimizers that
    /// treat each element by itself, as all of TensorFlow Java do. A step that fails may have
    /// changed some variables; a rank that has joined is refused.
    IN_SHARES
  }

  /// A rank's share of variables that lie one after the other, flat.
  ///
  /// @param variable name of the variable that holds the share's weights in a step; the optimizer's
  ///   slots of it hold their share of its state
  /// @param of names of the variables, in their order
  /// @param first of the share's elements
  /// @param elements of the share
  /// @param whole elements of all ranks' shares
  public record Share(String variable, List<String> of, long first, long elements, long whole) {

    /// Copies the list.
    public Share {
      of = List.copyOf(of);
    }

    /// Returns the optimizer's name of the state that a variable of the graph holds for this share,
    /// such as "momentum"; empty for another variable.
    public Optional<String> slot(String name) {
      String prefix = variable + "-";
      return name.startsWith(prefix)
          ? Optional.of(name.substring(prefix.length()))
          : Optional.empty();
    }
  }

  /// Averages over all ranks of the job what `local` then applies, as it comes. Gradients travel by
  /// `DataParallel.of(weft)`: those that are ready on all ranks share buffers as the setting
  /// `fusion` says. A step that fails for one gradient fails on all ranks, and the next one can be
  /// taken. Throws `IllegalArgumentException` if `local` does not belong to a graph.
  public DistributedOptimizer(Weft weft, Optimizer local) {
    this(weft, local, GradientOptions.DEFAULT);
  }

  /// Averages over all ranks of the job, as the options say.
  public DistributedOptimizer(Weft weft, Optimizer local, GradientOptions options) {
    this(weft.communicator(), DataParallel.of(weft), local, options);
  }

  /// Averages over `communicator` what `local` then applies, as it comes: each gradient by an
  /// allreduce of its own, which ranks match by its name. A gradient that fails aborts the
  /// communicator. Throws `IllegalArgumentException` if `local` does not belong to a graph.
  public DistributedOptimizer(Communicator communicator, Optimizer local) {
    this(communicator, local, Updates.AS_THEY_COME);
  }

  /// The same with a choice of when variables change.
  public DistributedOptimizer(Communicator communicator, Optimizer local, Updates updates) {
    this(communicator, GradientReducer.ALLREDUCE, local, updates);
  }

  /// The same with a choice of how gradients travel.
  ///
  /// @param reducers makes what averages them; holds no communicator
  public DistributedOptimizer(
      Communicator communicator,
      GradientReducer.Factory reducers,
      Optimizer local,
      Updates updates) {
    this(communicator, reducers, local, GradientOptions.DEFAULT.with(updates));
  }

  /// The same with groups, accumulation, local variables, sums and compression. Sums, predivision
  /// and compression need reducers of a `DataParallel`, or `GradientReducer.ALLREDUCE`; with others
  /// the first step fails.
  ///
  /// @param reducers makes what averages them; holds no communicator
  public DistributedOptimizer(
      Communicator communicator,
      GradientReducer.Factory reducers,
      Optimizer local,
      GradientOptions options) {
    super(graphOf(local), "Distributed" + local.getOptimizerName());
    this.communicator = communicator;
    this.reducers =
        reducers == GradientReducer.ALLREDUCE
                && !(options.isPlainMean() && options.updates() != Updates.IN_SHARES)
            ? DIRECT
            : reducers;
    this.local = local;
    this.options = options;
  }

  /// The gradients of all variables, averaged over all ranks, as the options say. One that does not
  /// depend on the loss has a closed gradient, as in every optimizer. On a single rank nothing is
  /// added to the graph but an accumulation. Throws `IllegalArgumentException` if a local variable
  /// is not there.
  @Override
  public <T extends TType> List<GradAndVar<?>> computeGradients(Operand<?> loss) {
    List<GradAndVar<?>> gradients = local.computeGradients(loss);
    requireLocal(gradients);
    if (options.accumulation().passes() > 1) {
      GradientAccumulation added = new GradientAccumulation(graph, options.accumulation());
      accumulation = added;
      gradients = added.totals(gradients);
    }
    if (communicator.size() == 1) {
      return gradients;
    }
    List<GradAndVar<?>> averaged = averaged(gradients);
    return options.updates() == Updates.ALL_OR_NONE ? together(averaged) : averaged;
  }

  private void requireLocal(List<GradAndVar<?>> gradients) {
    Set<String> missing = new TreeSet<>(options.localVariables());
    gradients.forEach(gradient -> missing.remove(name(gradient)));
    if (!missing.isEmpty()) {
      throw new IllegalArgumentException(
          "local variables "
              + missing
              + " are none of those that are trained: "
              + gradients.stream().map(DistributedOptimizer::name).toList());
    }
  }

  private static String name(GradAndVar<?> gradient) {
    return gradient.getVariable().op().name();
  }

  /// Returns this rank's shares, in the order of the variables; empty without `Updates.IN_SHARES`,
  /// on a single rank, and before `computeGradients`. A checkpoint gathers their slots.
  public List<Share> shares() {
    OptimizerShares made = shares;
    return made == null ? List.of() : made.places();
  }

  private List<GradAndVar<?>> averaged(List<GradAndVar<?>> gradients) {
    Map<String, GradAndVar<?>> shared = new LinkedHashMap<>();
    for (GradAndVar<?> gradient : gradients) {
      if (!gradient.getGradient().isClosed()
          && !options.localVariables().contains(name(gradient))) {
        shared.put(name(gradient), gradient);
      }
    }
    if (reducers instanceof LayerFactory factory) {
      var unused = factory.layer().over(communicator); // by the thread whose order all ranks share
    }
    WeftOps weft =
        new WeftOps(graph.baseScope(), OpLibrary.load().numberOf(communicator, reducers));
    if (options.updates() == Updates.IN_SHARES) {
      return inShares(weft, gradients, shared);
    }
    List<String> variables = List.copyOf(shared.keySet());
    List<List<String>> groups =
        reducers instanceof LayerFactory
                && options.grouping() == Grouping.SINGLE
                && isLittle(shared.values())
            ? List.of(variables)
            : options.grouping().cut(variables);
    for (List<String> group : groups) {
      average(weft, group, priority(group, variables), groups.size() == 1, shared);
    }
    List<GradAndVar<?>> averaged = new ArrayList<>();
    for (GradAndVar<?> gradient : gradients) {
      GradAndVar<?> average = shared.get(name(gradient));
      averaged.add(average != null ? average : kept(gradient));
    }
    return averaged;
  }

  private List<GradAndVar<?>> inShares(
      WeftOps weft, List<GradAndVar<?>> gradients, Map<String, GradAndVar<?>> shared) {
    OptimizerShares made =
        new OptimizerShares(graph, weft, options, communicator.rank(), communicator.size());
    shares = made;
    List<GradAndVar<?>> all = new ArrayList<>(made.of(shared));
    gradients.stream()
        .filter(gradient -> !shared.containsKey(name(gradient)))
        .forEach(gradient -> all.add(kept(gradient)));
    return all;
  }

  /// Whether averaging takes so much less time than computing that there is little to hide: then
  /// one op averages all gradients at the end of the backward pass.
  private static boolean isLittle(Collection<GradAndVar<?>> gradients) {
    long bytes = 0;
    for (GradAndVar<?> gradient : gradients) {
      Output<?> value = gradient.getGradient();
      long elements = value.shape().size();
      if (elements < 0) {
        return false;
      }
      bytes += elements * DataTypes.of(value.dataType()).bytes();
    }
    return gradients.size() > 1 && bytes <= LITTLE_BYTES;
  }

  /// Variables are made in the order of the layers. The next step's forward pass begins with the
  /// first, whose gradient comes last: so it goes first.
  private static int priority(List<String> group, List<String> variables) {
    return variables.size() - variables.indexOf(group.getFirst());
  }

  /// Puts averages in place of a group's gradients.
  private void average(
      WeftOps weft,
      List<String> group,
      int priority,
      boolean awaited,
      Map<String, GradAndVar<?>> gradients) {
    List<Operand<?>> own = new ArrayList<>();
    for (String variable : group) {
      own.add(of(variable, gradients).getGradient());
    }
    List<Operand<?>> averages =
        weft.gradients(own, "weft/gradient/" + group.getFirst(), priority, options, awaited);
    for (int i = 0; i < group.size(); i++) {
      gradients.put(
          group.get(i), replaced(of(group.get(i), gradients), averages.get(i).asOutput()));
    }
  }

  /// Returns the gradient of a variable that a group names. Throws `IllegalArgumentException` where
  /// there is none.
  static GradAndVar<?> of(String variable, Map<String, GradAndVar<?>> gradients) {
    GradAndVar<?> gradient = gradients.get(variable);
    if (gradient == null) {
      throw new IllegalArgumentException(
          "a group names variable '" + variable + "', which has no gradient that is averaged");
    }
    return gradient;
  }

  private static <T extends TType> GradAndVar<T> replaced(GradAndVar<T> of, Output<?> by) {
    return new GradAndVar<>(by.expect(of.getGradient().type()), of.getVariable());
  }

  /// What a rank keeps for itself.
  private GradAndVar<?> kept(GradAndVar<?> gradient) {
    return gradient.getGradient().isClosed() || options.localFactor() == 1
        ? gradient
        : multiplied(gradient);
  }

  private <T extends TType> GradAndVar<T> multiplied(GradAndVar<T> gradient) {
    Output<T> value = gradient.getGradient();
    Operand<T> factor = tf.dtypes.cast(tf.constant(options.localFactor()), value.type());
    return new GradAndVar<>(tf.math.mul(value, factor).asOutput(), gradient.getVariable());
  }

  /// The same gradients, none of which is there before all are.
  private List<GradAndVar<?>> together(List<GradAndVar<?>> gradients) {
    List<Operation> all =
        gradients.stream()
            .map(GradAndVar::getGradient)
            .filter(gradient -> !gradient.isClosed())
            .<Operation>map(Output::op)
            .toList();
    Scope scope = graph.baseScope();
    Op complete =
        NoOp.create(scope.withName("weft_gradients_complete").withControlDependencyOps(all));
    Scope after = scope.withName("weft_gradient").withControlDependencies(List.of(complete));
    return gradients.stream()
        .<GradAndVar<?>>map(
            gradient -> gradient.getGradient().isClosed() ? gradient : passed(after, gradient))
        .toList();
  }

  private static <T extends TType> GradAndVar<T> passed(Scope scope, GradAndVar<T> gradient) {
    return new GradAndVar<>(
        Identity.create(scope, gradient.getGradient()).output(), gradient.getVariable());
  }

  /// Applies gradients that `computeGradients` returned. Run the op that this returns: it also puts
  /// the parts of the local optimizer's step into an order that does not depend on timing.
  @Override
  public Op applyGradients(List<GradAndVar<? extends TType>> gradients, String name) {
    Op step = UpdateOrder.stateLast(graph, local.applyGradients(gradients, name));
    OptimizerShares made = shares;
    if (made != null) {
      step = made.writtenBack(step);
    }
    GradientAccumulation added = accumulation;
    return added == null ? step : added.thenBegin(step, gradients);
  }

  @Override
  public <T extends TType> Optional<Variable<T>> getSlot(Output<T> variable, String slotName) {
    return local.getSlot(variable, slotName);
  }

  @Override
  public String getOptimizerName() {
    return local.getOptimizerName();
  }

  @Override
  public String toString() {
    return "DistributedOptimizer{" + local + ", ranks=" + communicator.size() + "}";
  }

  /// Never called: `applyGradients`, its only caller, goes to the local optimizer.
  @Override
  protected <T extends TType> Op applyDense(Ops tf, Output<T> gradient, Output<T> variable) {
    throw new IllegalStateException("applyGradients of " + local + " applies gradients");
  }

  private static Graph graphOf(Optimizer optimizer) {
    if (optimizer.getTF().scope().env() instanceof Graph graph) {
      return graph;
    }
    throw new IllegalArgumentException(optimizer + " does not belong to a graph");
  }
}
