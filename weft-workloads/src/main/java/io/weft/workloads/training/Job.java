// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import io.weft.collective.Communicator;

/// The ranks that train together, seen from one of them.
public interface Job {

  /// This rank.
  int rank();

  /// All ranks.
  int size();

  /// Ranks on this host, which share its cores.
  int localSize();

  /// The communicator of all ranks. A job of one rank is never asked.
  Communicator communicator();

  /// Scheme of the transport; "none" for one rank.
  String transport();

  /// Bytes that this rank has sent to others so far.
  long bytesSent();
}
