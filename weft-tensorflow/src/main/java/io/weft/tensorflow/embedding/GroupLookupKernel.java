// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.embedding;

import io.weft.comm.CommException;
import io.weft.kv.KvTable;
import io.weft.kv.TablePull;
import io.weft.kv.key.KeyList;
import io.weft.tensor.DType;
import io.weft.tensor.TensorView;
import io.weft.tensorflow.AsyncKernel;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/// The kernel of a `WeftLookupAll`. It pulls the rows of all tables into the outputs by one request
/// for each shard, without blocking a thread.
final class GroupLookupKernel extends AsyncKernel
    implements BiConsumer<@Nullable Void, @Nullable CommException> {

  private final List<EmbeddingRows> tables;

  /// @param tables a table for each input
  GroupLookupKernel(List<EmbeddingRows> tables) {
    super(Collections.nCopies(tables.size(), DType.INT64));
    this.tables = List.copyOf(tables);
  }

  @Override
  protected void requireSound() {
    tables.forEach(EmbeddingRows::requireSound);
  }

  @Override
  protected void run() throws InterruptedException {
    List<TablePull> pulls = new ArrayList<>(tables.size());
    for (int i = 0; i < tables.size(); i++) {
      EmbeddingRows rows = tables.get(i);
      TensorView ids = tensors().input(i);
      KeyList keys = rows.keys(EmbeddingKernel.numbers(ids));
      TensorView output = tensors().output(i, DType.FLOAT32, rows.shape(ids.shape()));
      pulls.add(rows.pullOf(keys, output.data()));
    }
    KvTable.pullAll(pulls).whenDone(this);
  }

  /// Ends the run when the rows have arrived, on the progress thread or immediately.
  @Override
  public void accept(@Nullable Void nothing, @Nullable CommException failure) {
    finish(failure);
  }

  @Override
  protected String words() {
    return "lookup in " + tables.size() + " tables, the first of which is " + tables.getFirst();
  }
}
