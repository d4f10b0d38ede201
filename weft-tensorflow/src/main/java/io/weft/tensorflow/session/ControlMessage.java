// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.session;

import io.weft.tensorflow.partition.GraphCall;
import io.weft.tensorflow.transfer.ReceiveBatch;
import java.util.List;

/// The messages between sessions and servers. A ticket is the number that an answer repeats; for a
/// step, it is the step's number.
sealed interface ControlMessage {

  /// Tells a server to hold this part of a graph. Answered.
  ///
  /// @param session number of the session on the client's rank
  /// @param graph a `GraphDef`
  record Host(long ticket, int session, byte[] graph) implements ControlMessage {}

  /// Tells a server the names that later steps request by a number. Not answered.
  ///
  /// @param together the part's receives that share a request
  record Prepare(int session, int call, GraphCall names, List<ReceiveBatch> together)
      implements ControlMessage {}

  /// Tells a server to run a step. Answered.
  ///
  /// @param nanos the time limit
  record Run(long ticket, int session, int call, long nanos) implements ControlMessage {}

  /// Tells a server that a step has failed elsewhere or was cancelled. Not answered.
  record Abort(long step, String why) implements ControlMessage {}

  /// Tells a server that a step has ended on all tasks. Not answered.
  record End(long step) implements ControlMessage {}

  /// Tells a server that the session is closed. Not answered.
  record Drop(int session) implements ControlMessage {}

  /// Tells a client that its request is complete.
  record Done(long ticket) implements ControlMessage {}

  /// Tells a client that its request has failed.
  record Failed(long ticket, Failure failure) implements ControlMessage {}
}
