// SPDX-License-Identifier: Apache-2.0
package io.weft.observer;

/// The stages of an operation between its submission and its end. The stages that an operation
/// passes, and their order after the first one, depend on the way in which it runs.
public enum OperationStage {
  /// The progress thread has taken it from the queue.
  STARTED,
  /// One of its exchanges has begun, 0 for the first.
  EXCHANGE,
  /// The participants have agreed: all members of a communicator have published the operation in
  /// their mailboxes, or the source of a rendezvous has sent type and shape.
  NEGOTIATED,
  /// All data that this rank sends in an exchange has left its memory: it is on the wire or in a
  /// mailbox, or the receivers have read it from mapped memory. In an allreduce on mapped memory,
  /// this rank's slice of the result is in all outputs. For the other services, a request or a
  /// published tensor has been sent.
  SENT,
  /// All data that this rank receives in an exchange has arrived and, where required, has been
  /// combined.
  REDUCED
}
