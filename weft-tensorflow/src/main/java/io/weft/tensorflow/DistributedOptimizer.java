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
import org.tensorflow.types.TFloat64;
import org.tensorflow.types.family.TType;

/// An optimizer that averages gradients over all ranks for a local optimizer [HVD18 §4]. All ranks
/// then take the same step, so weights that start equal stay equal (see `WeftVariables.broadcast`).
///
/// The average of ranks' mean losses is the mean loss of the joint batch when all ranks' batches
/// are equally large.
public final class DistributedOptimizer extends Optimizer {

  /// The factory of reducers that reduce each gradient alone, according to the options.
  private static final GradientReducer.Factory DIRECT = Reducer::direct;

  /// The total size up to which gradients are averaged at the end of the backward pass.
  private static final long LITTLE_BYTES = 1 << 20;

  private final Communicator communicator;
  private final GradientReducer.Factory reducers;
  private final Optimizer local;
  private final GradientOptions options;
  private @Nullable GradientAccumulation accumulation;
  private @Nullable OptimizerShares shares;

  /// The time and place at which a step updates a variable.
  public enum Updates {
    /// As soon as its own gradient is averaged, so communication and computation overlap. A failed
    /// step may have changed some variables.
    AS_THEY_COME,
    /// When all gradients are averaged. A failed step has changed no variable and can be repeated.
    ALL_OR_NONE,
    /// On one rank. Gradients are reduce-scattered, each rank updates its share of the weights, and
    /// the new weights are allgathered [RRRH20 §5.1]. A rank holds 1/n of the optimizer's state and
    /// does 1/n of its work. The bits equal those of `AS_THEY_COME` over a `DataParallel` if all
    /// hosts have an equal number of consecutive ranks that is a power of two. `AdaGrad` differs by
    /// rounding, because TensorFlow's kernel treats the last elements of a tensor differently.
    /// Requires an optimizer that treats each element independently, as all optimizers of
    /// TensorFlow Java do. `Reducer.join` is not supported. A failed step may have changed some
    /// variables.
    IN_SHARES
  }

  /// A rank's share of flattened, concatenated variables.
  ///
  /// @param variable name of the variable that holds the share's weights during a step; its
  ///   optimizer slots hold the share of the optimizer's state
  /// @param of names of the variables in their order
  /// @param first index of the share's first element
  /// @param elements number of elements of the share
  /// @param whole number of elements of all ranks' shares
  public record Share(String variable, List<String> of, long first, long elements, long whole) {

    /// Copies the list.
    public Share {
      of = List.copyOf(of);
    }

    /// Returns the optimizer's name of the state that a variable of the graph holds for this share,
    /// such as "momentum", or empty for another variable.
    public Optional<String> slot(String name) {
      String prefix = variable + "-";
      return name.startsWith(prefix)
          ? Optional.of(name.substring(prefix.length()))
          : Optional.empty();
    }
  }

  /// Creates an optimizer that averages gradients over all ranks of the job and lets `local` apply
  /// each one as it becomes ready. `DataParallel.of(weft)` sends them, and fuses gradients that are
  /// ready on all ranks according to the setting `fusion`. A step that fails for one gradient fails
  /// on all ranks, and the next step can run. Throws `IllegalArgumentException` if `local` does not
  /// belong to a graph.
  public DistributedOptimizer(Weft weft, Optimizer local) {
    this(weft, local, GradientOptions.DEFAULT);
  }

  /// Creates an optimizer that averages gradients over all ranks of the job, according to the
  /// options.
  public DistributedOptimizer(Weft weft, Optimizer local, GradientOptions options) {
    this(weft.communicator(), DataParallel.of(weft), local, options);
  }

  /// Creates an optimizer that averages gradients over `communicator` and lets `local` apply each
  /// one as it becomes ready. Each gradient uses a separate allreduce, which ranks match by its
  /// name. A failed gradient aborts the communicator. Throws `IllegalArgumentException` if `local`
  /// does not belong to a graph.
  public DistributedOptimizer(Communicator communicator, Optimizer local) {
    this(communicator, local, Updates.AS_THEY_COME);
  }

  /// Creates an optimizer that averages gradients over `communicator`, with a choice of the time of
  /// updates.
  public DistributedOptimizer(Communicator communicator, Optimizer local, Updates updates) {
    this(communicator, GradientReducer.ALLREDUCE, local, updates);
  }

  /// Creates an optimizer that averages gradients over `communicator` through custom reducers.
  ///
  /// @param reducers creates the reducer of a communicator; must not hold a communicator
  public DistributedOptimizer(
      Communicator communicator,
      GradientReducer.Factory reducers,
      Optimizer local,
      Updates updates) {
    this(communicator, reducers, local, GradientOptions.DEFAULT.with(updates));
  }

  /// Creates an optimizer that averages gradients over `communicator` through custom reducers, with
  /// all options. Sums, predivision and compression need reducers of a `DataParallel`, or
  /// `GradientReducer.ALLREDUCE`; with others the first step fails.
  ///
  /// @param reducers creates the reducer of a communicator; must not hold a communicator
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

  /// Returns the gradients of all variables, averaged over all ranks according to the options. The
  /// gradient of a variable on which the loss does not depend is a closed output, as in every
  /// optimizer. On a single rank only an accumulation is added to the graph. Throws
  /// `IllegalArgumentException` if a local variable is not trained.
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

  /// Returns this rank's shares in the order of the variables. The list is empty without
  /// `Updates.IN_SHARES`, on a single rank, and before `computeGradients`. A checkpoint gathers the
  /// shares' slots.
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
      var unused =
          factory.layer().reducer(communicator); // created in the order that all ranks share
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

  /// Returns whether the gradients are too small to overlap with computation. One op then averages
  /// all of them at the end of the backward pass.
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

  /// Returns the priority of a group. Variables are in the order of the layers. The first
  /// variable's gradient is ready last but needed first in the next forward pass, so it is sent
  /// first.
  private static int priority(List<String> group, List<String> variables) {
    return variables.size() - variables.indexOf(group.getFirst());
  }

  /// Replaces a group's gradients by their averages.
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

  /// Returns the gradient of a variable that a group names. Throws `IllegalArgumentException` if it
  /// does not exist.
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

  /// Returns a gradient that a rank does not share, multiplied by the local factor.
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

  /// Returns gradients that `computeGradients` returned, scaled to a largest norm of all together.
  /// The norm is that of the averages, and therefore equal on all ranks. No variable is updated
  /// before all gradients are averaged. Throws `IllegalStateException` for updates in shares, in
  /// which no rank has all averages.
  ///
  /// @param largestNorm a positive scalar
  public List<GradAndVar<?>> clip(List<GradAndVar<?>> gradients, Operand<TFloat64> largestNorm) {
    if (options.updates() == Updates.IN_SHARES) {
      throw new IllegalStateException(
          "gradients of updates in shares cannot be clipped to the norm of all together, because"
              + " no rank has all averages; choose other updates");
    }
    return new NormClipping(tf, largestNorm).clipped(gradients);
  }

  /// Returns whether a variable of this name belongs to an accumulation. It is zero after each
  /// step, so that a checkpoint may leave it out.
  public static boolean isAccumulator(String variable) {
    return GradientAccumulation.owns(variable);
  }

  /// Returns the gradients behind a barrier: none is available before all are.
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

  /// Applies gradients that `computeGradients` returned. Callers must run the returned op, which
  /// also fixes the order of the local optimizer's step.
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

  /// Never called, because the local optimizer implements `applyGradients`, the only caller.
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
