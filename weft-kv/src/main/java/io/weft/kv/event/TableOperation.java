// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.event;

import io.weft.cluster.channel.ChannelEvents;
import io.weft.comm.CommException;
import io.weft.observer.ObservedOperation;
import io.weft.observer.OperationStage;
import org.jspecify.annotations.Nullable;

/// One operation of a worker or server, from its submission, which is its creation, to its end. It
/// notifies the observers of its rank. Any thread, but one at a time.
public final class TableOperation implements ObservedOperation {

  /// The subject of an operation.
  ///
  /// @param side `KV_WORKER` or `KV_SERVER`
  /// @param name of the operation, with that of its table
  /// @param table name of the table; empty = none
  /// @param rows number of the rows concerned
  /// @param bytes of the values that are sent or requested, as far as known
  public record Subject(Service side, String name, String table, long rows, long bytes) {}

  /// The peer of an operation that no other rank has requested or answered.
  public static final int NO_PEER = -1;

  private final ChannelEvents events;
  private final Subject subject;
  private final long id;
  private final long submittedNanos;
  private volatile int peer;
  private long answeredBytes;

  /// Submits the operation.
  ///
  /// @param peer the rank that has requested it; `NO_PEER` = this rank
  public TableOperation(ChannelEvents events, Subject subject, int peer) {
    this.events = events;
    this.subject = subject;
    this.peer = peer;
    this.id = events.next();
    this.submittedNanos = events.nanos();
    events.submitted(this);
  }

  /// Reports that its execution begins.
  public void begun() {
    events.reached(this, OperationStage.STARTED);
  }

  /// Records that this rank has answered a part of the operation.
  public void heard(int rank) {
    peer = rank;
  }

  /// Adds the bytes of an answer that were not known at the submission.
  public void answers(long bytes) {
    answeredBytes += bytes;
  }

  /// Reports the end. Called once.
  ///
  /// @param failure null if the operation has succeeded
  public void ended(@Nullable CommException failure) {
    events.ended(this, failure);
  }

  @Override
  public Service service() {
    return subject.side();
  }

  @Override
  public long id() {
    return id;
  }

  @Override
  public String name() {
    return subject.name();
  }

  @Override
  public String words() {
    return subject.side() == Service.KV_WORKER ? "worker" : "server";
  }

  @Override
  public String table() {
    return subject.table();
  }

  @Override
  public long rows() {
    return subject.rows();
  }

  @Override
  public long bytes() {
    return subject.bytes() + answeredBytes;
  }

  @Override
  public long submittedNanos() {
    return submittedNanos;
  }

  /// Returns the worker for which a server runs the operation, or the server that has answered a
  /// worker last; -1 = none.
  @Override
  public int lastHeard() {
    return peer;
  }
}
