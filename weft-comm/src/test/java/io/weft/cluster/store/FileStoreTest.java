// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.store;

import io.weft.cluster.Store;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

class FileStoreTest extends StoreContract {

  @TempDir Path directory;

  @Override
  Store open() {
    return new FileStore(directory);
  }
}
