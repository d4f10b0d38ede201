// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import io.weft.transport.Completion;
import io.weft.transport.Endpoint;
import io.weft.transport.PostResult;
import io.weft.transport.RemoteSlice;
import io.weft.transport.Slice;
import java.lang.foreign.MemorySegment;

/// The endpoint to a rank that is not connected yet. It never has room.
///
/// @param node the rank
record UnconnectedEndpoint(int node) implements Endpoint {

  @Override
  public PostResult trySend(MemorySegment message) {
    return PostResult.BACK_PRESSURED;
  }

  @Override
  public PostResult tryRead(Slice into, RemoteSlice from, Completion done) {
    return PostResult.BACK_PRESSURED;
  }

  @Override
  public PostResult tryWrite(Slice from, RemoteSlice into, int immediate, Completion done) {
    return PostResult.BACK_PRESSURED;
  }

  @Override
  public long bytesReceived() {
    return 0;
  }

  @Override
  public long bytesSent() {
    return 0;
  }

  /// No effect, because the mesh owns the connection.
  @Override
  public void close() {}
}
