// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.parameterserver;

import io.weft.tensorflow.TensorViews;
import io.weft.tensorflow.partition.GraphCall;
import io.weft.tensorflow.session.Fetched;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.tensorflow.Tensor;
import org.tensorflow.ndarray.Shape;
import org.tensorflow.ndarray.buffer.DataBuffers;
import org.tensorflow.op.Ops;
import org.tensorflow.op.core.Placeholder;
import org.tensorflow.types.TFloat64;
import org.tensorflow.types.TInt32;

/// The results of the workers, in a variable on the first server with a row for each worker. This
/// needs no connection between workers, and the results outlive them.
///
/// @param steps whose losses fit into a row
record WorkerResults(int steps) {

  private static final String VALUES = "tally";

  private int width() {
    return WorkerRow.width(steps);
  }

  /// Adds the variable to the graph.
  ///
  /// @param server ops that are placed on the first server's device
  void addTo(Ops server, int workers) {
    var values = server.withName(VALUES).variable(Shape.of(workers, width()), TFloat64.class);
    Ops init = server.withInitScope();
    var ignored =
        init.assign(
            values, init.zeros(init.constant(new int[] {workers, width()}), TFloat64.class));
    var row =
        server
            .withName(VALUES + "_row")
            .placeholder(TFloat64.class, Placeholder.shape(Shape.of(1, width())));
    var at =
        server.withName(VALUES + "_at").placeholder(TInt32.class, Placeholder.shape(Shape.of(1)));
    var unused = server.withName(VALUES + "_write").scatterUpdate(values, at, row);
    var read = server.withName(VALUES + "_read").identity(values);
    assert read.asOutput().shape().get(0) == workers;
  }

  /// Writes the result of worker `index`, which is then done.
  void write(GraphSession session, int index, WorkerRow row, Duration limit)
      throws InterruptedException {
    var call =
        new GraphCall(
            List.of(VALUES + "_row", VALUES + "_at"), List.of(), List.of(VALUES + "_write"));
    try (var values = TFloat64.tensorOf(Shape.of(1, width()), DataBuffers.of(row.numbers()));
        var at = TInt32.vectorOf(index)) {
      Map<String, Tensor> feeds = Map.of(VALUES + "_row", values, VALUES + "_at", at);
      session.run(call, feeds, limit).close();
    }
  }

  /// Reads the rows of all workers, by worker.
  List<WorkerRow> read(GraphSession session, Duration limit) throws InterruptedException {
    var call = new GraphCall(List.of(), List.of(VALUES + "_read:0"), List.of());
    try (Fetched fetched = session.run(call, Map.of(), limit)) {
      MemorySegment data = TensorViews.of(fetched.get(0)).data();
      double[] all = data.toArray(ValueLayout.JAVA_DOUBLE_UNALIGNED);
      List<WorkerRow> rows = new ArrayList<>();
      for (int first = 0; first < all.length; first += width()) {
        rows.add(WorkerRow.of(Arrays.copyOfRange(all, first, first + width())));
      }
      return rows;
    }
  }
}
