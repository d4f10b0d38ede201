// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.reproduce;

import io.weft.perf.gradients.GradientModel;
import io.weft.perf.gradients.GradientModel.ModelVariable;
import io.weft.perf.plan.PlanLink;
import io.weft.perf.plan.PlanRanks;
import io.weft.perf.plan.StepSimulation;
import io.weft.perf.plan.WorkloadVariables;
import io.weft.transport.limit.ClampedDuration;
import io.weft.workloads.model.Workload;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/// The networks of the documents, for the simulator of steps. Confined to one thread.
final class DocumentNetworks {

  /// The buffer of HVD18 p. 7.
  static final long FUSION_BYTES = 64L << 20;

  private final Map<Workload, List<ModelVariable>> known = new EnumMap<>(Workload.class);

  DocumentNetworks() {}

  /// Returns a workload's network.
  ///
  /// @param batch examples of a rank in a step
  /// @param step duration of a step on one rank
  GradientModel of(Workload workload, int batch, Duration step) {
    return GradientModel.of(workload.title(), variables(workload, batch), step);
  }

  private List<ModelVariable> variables(Workload workload, int batch) {
    double ops = WorkloadVariables.work(0, 1, 1);
    return known.computeIfAbsent(workload, each -> WorkloadVariables.of(each, 1)).stream()
        .map(
            each ->
                new ModelVariable(
                    each.name(),
                    each.elements(),
                    (each.work() - ops) * batch + ops,
                    each.servedBytes()))
        .toList();
  }

  /// Returns a network of dense layers with biases.
  ///
  /// @param widths units of each layer, beginning with the input
  static GradientModel dense(String name, List<Integer> widths, int batch, Duration step) {
    List<ModelVariable> variables = new ArrayList<>();
    for (int layer = 1; layer < widths.size(); layer++) {
      long in = widths.get(layer - 1);
      long out = widths.get(layer);
      variables.add(variable("kernel" + layer, in * out, batch));
      variables.add(variable("bias" + layer, out, batch));
    }
    return GradientModel.of(name, variables, step);
  }

  private static ModelVariable variable(String name, long elements, int batch) {
    return ModelVariable.dense(name, elements, WorkloadVariables.work(elements, 1, batch));
  }

  /// Returns tensors that need no computation.
  static GradientModel tensors(int count, long bytes, Duration step) {
    List<ModelVariable> variables = new ArrayList<>();
    for (int k = 0; k < count; k++) {
      variables.add(ModelVariable.dense("tensor" + k, bytes / Float.BYTES, 1));
    }
    return GradientModel.of(count + " tensors", variables, step);
  }

  /// Returns the speed-up over one rank of ranks that share each batch, with fused gradients or
  /// single ones, whichever is faster. A rank's computation is divided as the multiplications are,
  /// but the ops of each variable take equal time for every batch. Hosts of 16 ranks are connected
  /// by RDMA of 40 Gbit/s.
  ///
  /// @param batch examples of all ranks together in a step
  /// @param step duration of a step of `measured` examples on one rank
  List<Double> shared(
      Workload workload, int batch, int measured, Duration step, List<Integer> ranks) {
    PlanLink link = PlanLink.named("rdma-40g");
    double unit = ClampedDuration.nanos(step) / work(workload, measured);
    double alone = unit * work(workload, batch);
    List<Double> speeds = new ArrayList<>();
    for (int count : ranks) {
      int share = Math.max(1, batch / count);
      Duration own = Duration.ofNanos(Math.round(unit * work(workload, share)));
      var simulation =
          new StepSimulation(of(workload, share, own), link, new PlanRanks(count, 16, 1));
      speeds.add(alone / Math.min(simulation.fused(FUSION_BYTES), simulation.single()));
    }
    return speeds;
  }

  private double work(Workload workload, int batch) {
    return variables(workload, batch).stream().mapToDouble(ModelVariable::work).sum();
  }
}
