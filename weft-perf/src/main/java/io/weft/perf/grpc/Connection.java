// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.grpc;

import io.grpc.ManagedChannel;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.netty.channel.epoll.Epoll;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/// A connection to a server of this host without encryption and retries. Callbacks run on the event
/// loop.
///
/// @param channel the channel for calls
public record Connection(ManagedChannel channel) implements AutoCloseable {

  /// Connects to the server at this port.
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

  /// Returns this program's name for reports: `grpc-java 1.2.3 epoll`.
  public static String peer() {
    String version = ManagedChannel.class.getPackage().getImplementationVersion();
    return "grpc-java "
        + (version == null ? "of unknown version" : version)
        + (Epoll.isAvailable() ? " epoll" : " nio");
  }

  /// Closes the channel. The event loop is a daemon and may run for a moment longer.
  @Override
  public void close() {
    channel.shutdownNow();
  }
}
