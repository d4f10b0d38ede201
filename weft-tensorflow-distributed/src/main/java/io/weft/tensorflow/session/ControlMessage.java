// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.session;

import io.weft.tensorflow.partition.GraphCall;
import io.weft.tensorflow.transfer.ReceiveBatch;
import java.util.List;

/// The messages between sessions and servers. A ticket is the number that an answer repeats; for a
/// step, it is the step's number.
sealed interface ControlMessage {

  /// The request that a server hold this part of a graph. Answered.
  ///
  /// @param session number of the session on the client's rank
  /// @param graph a `GraphDef`
  record Host(long ticket, int session, byte[] graph) implements ControlMessage {}

  /// The definition of a call, which later steps identify by its number. Not answered.
  ///
  /// @param together the part's receives that share a request
  record Prepare(int session, int call, GraphCall names, List<ReceiveBatch> together)
      implements ControlMessage {}

  /// The request that a server run a step. Answered.
  ///
  /// @param nanos the time limit
  record Run(long ticket, int session, int call, long nanos) implements ControlMessage {}

  /// The notice to a server that a step has failed elsewhere or was cancelled. Not answered.
  record Abort(long step, String why) implements ControlMessage {}

  /// The notice to a server that a step has ended on all tasks. Not answered.
  record End(long step) implements ControlMessage {}

  /// The notice to a server that the session is closed. Not answered.
  record Drop(int session) implements ControlMessage {}

  /// The answer to a client that its request is complete.
  record Done(long ticket) implements ControlMessage {}

  /// The answer to a client that its request has failed.
  record Failed(long ticket, Failure failure) implements ControlMessage {}
}
