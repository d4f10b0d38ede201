// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.session;

import io.weft.tensorflow.partition.GraphCall;
import io.weft.tensorflow.transfer.ReceiveBatch;
import java.util.List;

/// What sessions and servers tell each other. A ticket is the number by which an answer comes back:
/// for a step, its number.
sealed interface ControlMessage {

  /// To a server: hold this part of a graph. Answered.
  ///
  /// @param session number of the session on the client's rank
  /// @param graph a `GraphDef`
  record Host(long ticket, int session, byte[] graph) implements ControlMessage {}

  /// To a server: what later steps will ask for by a number. Not answered.
  ///
  /// @param together which of the part's receives travel in one request
  record Prepare(int session, int call, GraphCall names, List<ReceiveBatch> together)
      implements ControlMessage {}

  /// To a server: run a step. Answered.
  ///
  /// @param nanos how long it may take
  record Run(long ticket, int session, int call, long nanos) implements ControlMessage {}

  /// To a server: a step has failed elsewhere or was given up. Not answered.
  record Abort(long step, String why) implements ControlMessage {}

  /// To a server: a step is over on all tasks. Not answered.
  record End(long step) implements ControlMessage {}

  /// To a server: the session is closed. Not answered.
  record Drop(int session) implements ControlMessage {}

  /// To a client: what was asked for is done.
  record Done(long ticket) implements ControlMessage {}

  /// To a client: it has failed.
  record Failed(long ticket, Failure failure) implements ControlMessage {}
}
