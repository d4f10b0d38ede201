// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import io.weft.file.ScratchDirectory;
import io.weft.kv.spill.RowStore;
import io.weft.kv.spill.RowStoreException;
import io.weft.kv.spill.RowStoreProvider;
import io.weft.kv.spill.RowStores;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The stores of a server's tables that may be larger than memory. They are in a private directory,
/// which is created with the first store and deleted at the end. Any thread.
public final class Spills implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(Spills.class);
  private static final String PREFIX = "weft-kv";

  private final @Nullable Path parent;
  private final long cacheBytes;
  private final int rank;
  private @Nullable Opened opened;
  private int tables;

  private record Opened(ScratchDirectory directory, RowStores stores) {}

  /// @param parent of the directory; null if tables are in memory only
  /// @param cacheBytes of all stores together
  /// @param rank of the server
  public Spills(@Nullable Path parent, long cacheBytes, int rank) {
    this.parent = parent;
    this.cacheBytes = cacheBytes;
    this.rank = rank;
  }

  /// Opens an empty store for the calling thread.
  synchronized RowStore open(String table, int rowBytes) throws Refusal {
    try {
      Opened there = opened();
      Path own = there.directory().path().resolve("table-" + tables++);
      return there.stores().open(Files.createDirectory(own), rowBytes);
    } catch (IOException | RowStoreException refused) {
      throw new Refusal(
          "rows of table '%s' cannot lie below %s of rank %d: %s"
              .formatted(table, parent, rank, refused));
    }
  }

  private Opened opened() throws Refusal, IOException {
    Opened there = opened;
    if (there != null) {
      return there;
    }
    if (parent == null) {
      throw new Refusal(
          "its rows may lie on the disk, but rank %d has no kv-spill-directory; set it to a directory on a local disk"
              .formatted(rank));
    }
    Optional<RowStoreProvider> provider = RowStoreProvider.find();
    if (provider.isEmpty()) {
      throw new Refusal(
          "its rows may lie on the disk, but rank %d has no store for them; add %s to the class path of the servers"
              .formatted(rank, RowStoreProvider.ARTIFACT));
    }
    ScratchDirectory directory = ScratchDirectory.create(parent, PREFIX);
    try {
      there = new Opened(directory, provider.get().stores(cacheBytes));
    } catch (RowStoreException refused) {
      directory.close();
      throw refused;
    }
    opened = there;
    return there;
  }

  /// Closes the stores and deletes the directory.
  @Override
  public synchronized void close() {
    Opened there = opened;
    opened = null;
    if (there == null) {
      return;
    }
    try {
      there.stores().close();
      there.directory().close();
    } catch (IllegalStateException | IOException left) {
      LOG.warn(
          "rank {} leaves {}, which the next server with the same kv-spill-directory deletes: {}",
          rank,
          there.directory().path(),
          left.toString());
    }
  }
}
