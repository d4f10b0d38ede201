// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.peer;

import com.hazelcast.map.EntryProcessor;
import com.hazelcast.nio.ObjectDataInput;
import com.hazelcast.nio.ObjectDataOutput;
import com.hazelcast.nio.serialization.DataSerializableFactory;
import com.hazelcast.nio.serialization.IdentifiedDataSerializable;
import java.io.IOException;
import java.io.Serial;
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// The entry processor that Hazelcast runs for each key on the owner of the rows. It adds its row
/// to the stored row. Rows are stored as objects, which avoids serialization.
final class AddRows
    implements EntryProcessor<Long, float[], @Nullable Object>, IdentifiedDataSerializable {

  @Serial private static final long serialVersionUID = 1L;

  /// The identifier of `FACTORY`.
  static final int FACTORY_ID = 1;

  /// The factory that creates the receiver's object.
  static final DataSerializableFactory FACTORY = type -> new AddRows();

  private long[] keys = {};
  private float[] values = {};

  /// For deserialization.
  AddRows() {}

  /// @param keys the keys in ascending order
  AddRows(long[] keys, float[] values) {
    this.keys = keys;
    this.values = values;
  }

  @Override
  public @Nullable Object process(Map.Entry<Long, float[]> entry) {
    int width = values.length / keys.length;
    int from = Arrays.binarySearch(keys, entry.getKey()) * width;
    float[] row = entry.getValue();
    if (row == null) {
      entry.setValue(Arrays.copyOfRange(values, from, from + width));
      return null;
    }
    for (int i = 0; i < width; i++) {
      row[i] += values[from + i];
    }
    entry.setValue(row);
    return null;
  }

  @Override
  public @Nullable EntryProcessor<Long, float[], @Nullable Object> getBackupProcessor() {
    return null;
  }

  @Override
  public int getFactoryId() {
    return FACTORY_ID;
  }

  @Override
  public int getClassId() {
    return 1;
  }

  @Override
  public void writeData(ObjectDataOutput out) throws IOException {
    out.writeLongArray(keys);
    out.writeFloatArray(values);
  }

  @Override
  public void readData(ObjectDataInput in) throws IOException {
    keys = Objects.requireNonNull(in.readLongArray());
    values = Objects.requireNonNull(in.readFloatArray());
  }
}
