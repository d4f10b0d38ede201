// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.exchange;

import io.weft.collective.group.Group;
import io.weft.collective.group.OperationSignature;
import io.weft.observer.OperationStage;
import io.weft.transport.TransportException;

/// A running operation as its exchanges see it. Confined to the progress thread.
public interface RunningOperation {

  /// Returns the group whose members execute it.
  Group group();

  /// Returns the hash of communicator and name.
  long key();

  /// Returns the number of earlier uses of the name on the communicator.
  int sequence();

  /// Returns the properties on which all ranks must agree.
  OperationSignature signature();

  /// Reports that a peer violated the protocol, so that its messages cannot be trusted.
  ///
  /// @param what description that follows the word "sent"
  void brokenBy(int member, String what);

  /// Reports a lack of memory for the result.
  void noRoom(OutOfMemoryError cause);

  /// Reports an exception that ends only this operation: a tensor is gone, or there is a defect.
  void broken(Throwable thrown);

  /// Reports the stage that the current exchange has reached.
  void reached(OperationStage stage);

  /// Reports that a frame of this member has arrived.
  void heard(int member);

  /// Reports that a write to this member failed.
  void writeFailed(int member, TransportException cause);
}
