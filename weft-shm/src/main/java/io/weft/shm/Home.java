// SPDX-License-Identifier: Apache-2.0
package io.weft.shm;

import io.weft.transport.region.RegionTable;
import java.io.IOException;

/// What one opening of the transport shows to its peers, and what it knows of its own regions.
final class Home implements AutoCloseable {

  private final Host host;
  private final RegionTable table;
  private final ControlFile control;
  private final Visitors visitors = new Visitors();
  private final ExtentPool pool;
  private final String lack;
  private int links;

  /// For the regions of `table`. With a `lack` it shows nothing, and needs no native functions.
  /// Throws `IOException` with the reason when memory cannot be had.
  ///
  /// @param lack why there is no memory to share; empty where there is
  Home(Host host, RegionTable table, String lack) throws IOException {
    this.host = host;
    this.table = table;
    this.lack = lack;
    String prefix = prefix(table.incarnation());
    control = lack.isEmpty() ? new ControlFile(prefix) : ControlFile.unseen();
    pool = new ExtentPool(prefix, control, visitors);
  }

  /// Why there is no memory to share; empty where there is.
  String lack() {
    return lack;
  }

  /// How the names of a transport's memory files begin.
  static String prefix(long incarnation) {
    return "weft-" + Long.toHexString(incarnation) + "-";
  }

  String prefix() {
    return prefix(incarnation());
  }

  Host host() {
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

  Visitors visitors() {
    return visitors;
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
