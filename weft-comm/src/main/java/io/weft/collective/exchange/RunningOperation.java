// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.exchange;

import io.weft.collective.group.Group;
import io.weft.collective.group.OperationSignature;
import io.weft.observer.OperationStage;
import io.weft.transport.TransportException;

/// An operation that runs, as its exchanges see it. Confined to the progress thread.
public interface RunningOperation {

  /// Of whose members.
  Group group();

  /// The hash of communicator and name.
  long key();

  /// How often the name was used on the communicator before.
  int sequence();

  /// What all ranks must agree on.
  OperationSignature signature();

  /// A peer broke the protocol: nothing it says can be trusted.
  ///
  /// @param what to be read behind "sent"
  void brokenBy(int member, String what);

  /// There is no memory for the result.
  void noRoom(OutOfMemoryError cause);

  /// Something was thrown that ends this operation, and nothing else: a tensor is gone, or there is
  /// a defect.
  void broken(Throwable thrown);

  /// It has come so far with the exchange that runs.
  void reached(OperationStage stage);

  /// Something of this member has come for it.
  void heard(int member);

  /// A write to this member was not done.
  void writeFailed(int member, TransportException cause);
}
