// SPDX-License-Identifier: Apache-2.0
package io.weft.shm;

import io.weft.transport.region.RegionTable;
import java.io.IOException;

/// The memory that one opening of the transport shares with its peers.
final class ShmMemory implements AutoCloseable {

  private final ProcessDomain host;
  private final RegionTable table;
  private final ControlFile control;
  private final AccessTracker accessTracker = new AccessTracker();
  private final ExtentPool pool;
  private int links;

  /// Creates the memory for the regions of `table`. Throws `IOException` if memory cannot be
  /// allocated.
  ShmMemory(ProcessDomain host, RegionTable table) throws IOException {
    this.host = host;
    this.table = table;
    control = new ControlFile(prefix(table.incarnation()));
    pool = new ExtentPool(prefix(table.incarnation()), control, accessTracker);
  }

  /// Returns the prefix of the names of a transport's memory files.
  static String prefix(long incarnation) {
    return "weft-" + Long.toHexString(incarnation) + "-";
  }

  String prefix() {
    return prefix(incarnation());
  }

  ProcessDomain host() {
    return host;
  }

  long incarnation() {
    return table.incarnation();
  }

  RegionTable table() {
    return table;
  }

  ControlFile control() {
    return control;
  }

  AccessTracker accessTracker() {
    return accessTracker;
  }

  ExtentPool pool() {
    return pool;
  }

  int nextLink() {
    return links++;
  }

  @Override
  public void close() {
    control.close();
    pool.close();
  }
}
