// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.forward;

import io.weft.transport.Completion;
import io.weft.transport.Endpoint;
import io.weft.transport.PeerMemory;
import io.weft.transport.PostResult;
import io.weft.transport.RemoteRegion;
import io.weft.transport.RemoteSlice;
import io.weft.transport.Slice;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// An endpoint that forwards all calls to another.
public class ForwardingEndpoint implements Endpoint {

  private final Endpoint real;

  /// Creates a wrapper of `real`.
  public ForwardingEndpoint(Endpoint real) {
    this.real = real;
  }

  @Override
  public int node() {
    return real.node();
  }

  @Override
  public PostResult trySend(MemorySegment message) {
    return real.trySend(message);
  }

  @Override
  public PostResult tryRead(Slice into, RemoteSlice from, Completion done) {
    return real.tryRead(into, from, done);
  }

  @Override
  public PostResult tryWrite(Slice from, RemoteSlice into, int immediate, Completion done) {
    return real.tryWrite(from, into, immediate, done);
  }

  @Override
  public @Nullable PeerMemory map(RemoteRegion region) {
    return real.map(region);
  }

  @Override
  public long bytesReceived() {
    return real.bytesReceived();
  }

  @Override
  public long bytesSent() {
    return real.bytesSent();
  }

  @Override
  public void close() {
    real.close();
  }
}
