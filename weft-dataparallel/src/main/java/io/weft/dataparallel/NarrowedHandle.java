// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import static java.lang.foreign.ValueLayout.JAVA_DOUBLE_UNALIGNED;

import io.weft.comm.CommException;
import io.weft.comm.CompletableHandle;
import io.weft.comm.Handle;
import io.weft.dataparallel.worker.Worker;
import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The handle of a narrowed tensor. If the sum is not finite, all ranks detect it. They then
/// exchange their contributions, and the handle fails on all ranks with the same message. Any
/// thread.
final class NarrowedHandle extends CompletableHandle<TensorView> {

  /// The fields of a rank's report: its number in the job, the index of its first element that is
  /// not finite on the wire or -1, that element, and its element at the place where the sum is not
  /// finite.
  private static final int FIELDS = 4;

  private final Reducer reducer;
  private final Handle<TensorView> reduced;
  private final NarrowedTensor tensor;

  /// @param reduced completes when the output is written, or when `tensor.badIndex` names the
  ///   element that prevents it
  /// @param worker submits the exchange of reports
  NarrowedHandle(
      Reducer reducer, Handle<TensorView> reduced, NarrowedTensor tensor, Worker worker) {
    this.reducer = reducer;
    this.reduced = reduced;
    this.tensor = tensor;
    reduced.whenDone(
        (result, cause) -> {
          if (cause != null) {
            fail(cause);
          } else if (tensor.badIndex() < 0) {
            complete(result);
          } else {
            worker.run(this::tell);
          }
        });
  }

  private void tell() {
    try {
      MemorySegment row = Arena.ofAuto().allocate(FIELDS * 8L, 64);
      long bad = tensor.firstBadInput();
      TensorView input = tensor.request().input();
      double[] fields = {
        world(reducer.rank()),
        bad,
        bad < 0 ? 0 : NarrowedTensor.element(input, bad),
        NarrowedTensor.element(input, tensor.badIndex())
      };
      MemorySegment.copy(fields, 0, row, JAVA_DOUBLE_UNALIGNED, 0, FIELDS);
      reducer
          .submit(
              new CollectiveRequest.Allgather(
                  tensor.request().name() + ReductionRequest.VALUES,
                  new TensorView(DType.FLOAT64, Shape.of(1, FIELDS), row),
                  tensor.request().deadline()))
          .whenDone(this::told);
    } catch (RuntimeException | Error thrown) { // for example, this rank has joined
      fail(unexplained(thrown));
    }
  }

  private void told(@Nullable TensorLease rows, @Nullable CommException cause) {
    if (rows == null) {
      fail(unexplained(cause));
      return;
    }
    try (rows) {
      List<double[]> all = new ArrayList<>();
      MemorySegment data = rows.view().data();
      for (long at = 0; at < data.byteSize(); at += FIELDS * 8L) {
        double[] fields = new double[FIELDS];
        MemorySegment.copy(data, JAVA_DOUBLE_UNALIGNED, at, fields, 0, FIELDS);
        all.add(fields);
      }
      fail(failure(all));
    } catch (RuntimeException | Error thrown) {
      fail(unexplained(thrown));
    }
  }

  private CommException failure(List<double[]> rows) {
    for (double[] row : rows) {
      if (row[1] >= 0) {
        int culprit = (int) row[0];
        String words =
            "rank %d: tensor '%s' has %s at index %d%s"
                .formatted(culprit, name(), (float) row[2], (long) row[1], beyond((float) row[2]));
        return broken(words, culprit, null);
      }
    }
    List<String> values = new ArrayList<>();
    double[] most = rows.getFirst();
    for (double[] row : rows) {
      values.add((float) row[3] + " of rank " + (int) row[0]);
      most = Math.abs(row[3]) > Math.abs(most[3]) ? row : most;
    }
    return broken(sum() + ", of " + String.join(", ", values), (int) most[0], null);
  }

  private String beyond(float value) {
    return Float.isFinite(value) ? ", which is infinite as " + tensor.request().wire() : "";
  }

  private String sum() {
    return "the sum of tensor '%s' has %s at index %d as %s"
        .formatted(name(), tensor.badSum(), tensor.badIndex(), tensor.request().wire());
  }

  private CommException unexplained(@Nullable Throwable cause) {
    int self = world(reducer.rank());
    return broken(sum() + "; which rank's value that is was not found out: " + cause, self, cause);
  }

  private CommException broken(String what, int culprit, @Nullable Throwable cause) {
    return new CommException.Broken(
        what
            + "; the exchange is undone on all ranks, inputs and outputs are as before; lower the"
            + " learning rate, clip gradients, predivide them, or leave out compression",
        culprit,
        cause);
  }

  private String name() {
    return tensor.request().name();
  }

  private int world(int rank) {
    return reducer.members().get(rank);
  }

  @Override
  protected String description() {
    return "allreduce '" + name() + "'";
  }

  @Override
  protected boolean isCompletedHere() {
    return NegotiationThread.isTurning();
  }

  @Override
  public TensorView await(Duration timeout) throws InterruptedException {
    var unused = reduced.await(timeout); // drives its agent, if it has one
    return super.await(timeout);
  }
}
