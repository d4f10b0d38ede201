// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.cluster.Store;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FileStoreTest extends StoreContract {

  @TempDir Path directory;

  @Override
  Store open() {
    return new FileStore(directory);
  }

  /// The lock file has the number of entries and that of bytes.
  @Test
  void keysCountWithTheirBytesInUtf8() throws IOException {
    String key = "ü".repeat(100);
    try (Store store = open()) {
      store.put(key, new byte[10]);
      assertThat(counts()).containsExactly(1, 210);
      store.put(key, new byte[20]);
      assertThat(counts()).containsExactly(1, 220);
      store.remove(key);
      assertThat(counts()).containsExactly(0, 0);
    }
  }

  private long[] counts() throws IOException {
    ByteBuffer counts = ByteBuffer.wrap(Files.readAllBytes(directory.resolve("lock")));
    return new long[] {counts.getLong(), counts.getLong()};
  }
}
