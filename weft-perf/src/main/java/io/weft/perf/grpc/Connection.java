// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.grpc;

import io.grpc.ManagedChannel;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.netty.channel.epoll.Epoll;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/// A connection with a server of this host: no encryption, no retries, and what is heard is heard
/// on the event loop.
///
/// @param channel for calls
public record Connection(ManagedChannel channel) implements AutoCloseable {

  /// With the server at this port.
  public static Connection to(int port) {
    return new Connection(
        NettyChannelBuilder.forAddress(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), port))
            .usePlaintext()
            .directExecutor()
            .disableRetry()
            .maxTraceEvents(0)
            .maxInboundMessageSize(Integer.MAX_VALUE)
            .build());
  }

  /// Who this is, for reports: `grpc-java 1.2.3 epoll`.
  public static String peer() {
    String version = ManagedChannel.class.getPackage().getImplementationVersion();
    return "grpc-java "
        + (version == null ? "of unknown version" : version)
        + (Epoll.isAvailable() ? " epoll" : " nio");
  }

  /// The event loop, a daemon, may go on for a moment.
  @Override
  public void close() {
    channel.shutdownNow();
  }
}
