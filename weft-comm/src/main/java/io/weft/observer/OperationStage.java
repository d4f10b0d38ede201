// SPDX-License-Identifier: Apache-2.0
package io.weft.observer;

/// How far an operation is, between its submission and its end. Which of these an operation passes,
/// and in which order behind the first, depends on how it runs.
public enum OperationStage {
  /// The progress thread has taken it from the queue.
  STARTED,
  /// One of its exchanges begins, 0 for the first.
  EXCHANGE,
  /// Those whom it needs have agreed: all members of a communicator have published it in their
  /// mailboxes, or the source of a rendezvous has told type and shape.
  NEGOTIATED,
  /// All that this rank sends in an exchange has left its memory: on the wire or into a mailbox, or
  /// read by those who take it from mapped memory; of an allreduce on mapped memory, its slice of
  /// the result stands in all outputs. A request has left, or a published tensor.
  SENT,
  /// All that this rank receives in an exchange is there, and combined where it is to be.
  REDUCED
}
