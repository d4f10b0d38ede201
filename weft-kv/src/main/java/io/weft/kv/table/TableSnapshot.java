// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.table;

import java.util.Arrays;

/// The content of a table as of one moment. It is emitted in parts while the table changes: content
/// that is about to change is emitted first. Takes one bit per place of the table, and 8 to 32
/// bytes per row in memory that a store also has. Owned; confined to the table's thread.
public final class TableSnapshot implements AutoCloseable {

  private final Open among;
  private final int end;
  private final int placesAtOnce;
  private final Source source;
  private final long[] passed;
  private int next;

  private TableSnapshot(Open among, int end, int placesAtOnce, Source source) {
    this.among = among;
    this.end = end;
    this.placesAtOnce = placesAtOnce;
    this.source = source;
    this.passed = new long[(end >>> 6) + 1];
  }

  /// The content of a table by places.
  interface Source {

    /// Emits the content at a place, if there is any.
    void emit(int place);

    /// Emits some of the content that is at no place. Called after all places were visited. Returns
    /// whether that was all.
    default boolean emitRest(int most) {
      return true;
    }

    /// Ends the use of the source.
    default void close() {}
  }

  /// The open snapshots of a table. One thread.
  static final class Open {
    private TableSnapshot[] all = {};

    /// Begins a snapshot of the places below `end`.
    ///
    /// @param placesAtOnce the number of places that `advance` visits
    TableSnapshot begin(int end, int placesAtOnce, Source source) {
      var begun = new TableSnapshot(this, end, placesAtOnce, source);
      all = Arrays.copyOf(all, all.length + 1);
      all[all.length - 1] = begun;
      return begun;
    }

    /// Emits content that is about to change or to be removed. -1 stands for no place.
    ///
    /// Hot path.
    void before(int place) {
      for (TableSnapshot each : all) {
        each.before(place);
      }
    }

    /// Emits content that is about to change. -1 stands for no place.
    ///
    /// Hot path.
    void before(int[] places, int first, int count) {
      for (TableSnapshot each : all) {
        for (int i = first; i < first + count; i++) {
          each.before(places[i]);
        }
      }
    }

    /// Records that content was created, possibly at the place of removed content.
    void made(int place) {
      for (TableSnapshot each : all) {
        boolean unused = place < each.end && each.pass(place);
      }
    }

    boolean isEmpty() {
      return all.length == 0;
    }
  }

  /// Emits some content. Returns whether all content has been emitted. Throws `RowStoreException`
  /// if rows on disk cannot be read.
  public boolean advance() {
    return advance(placesAtOnce);
  }

  /// Emits the content at the next places. Returns whether all content has been emitted. Throws
  /// `RowStoreException` if rows on disk cannot be read.
  ///
  /// @param places the maximum number of places to visit
  public boolean advance(int places) {
    int stop = (int) Math.min(end, (long) next + places);
    for (; next < stop; next++) {
      before(next);
    }
    return next == end && source.emitRest(places);
  }

  private void before(int place) {
    if (place >= 0 && place < end && pass(place)) {
      source.emit(place);
    }
  }

  /// Marks a place as visited and returns whether it was not marked before.
  private boolean pass(int place) {
    long bit = 1L << place;
    if ((passed[place >>> 6] & bit) != 0) {
      return false;
    }
    passed[place >>> 6] |= bit;
    return true;
  }

  /// Ends the snapshot. Content that has not been emitted is not part of it.
  @Override
  public void close() {
    source.close();
    among.all =
        Arrays.stream(among.all).filter(it -> !it.equals(this)).toArray(TableSnapshot[]::new);
  }
}
