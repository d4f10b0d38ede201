// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.grpc;

import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/// A server process of unary calls, which run on the event loop that has read them.
public final class CallServer {
  private static final int END_SECONDS = 10;

  private CallServer() {}

  /// The work of one method.
  @FunctionalInterface
  public interface Method {
    /// Receives a request and passes its answer on, now or later. Throws `IllegalArgumentException`
    /// for a wrong request, which fails the call.
    void serve(byte[] request, Consumer<byte[]> answer);
  }

  /// Prints the server's port and serves until standard input is closed. Exits with 0, with 1 if
  /// calls did not end in time.
  public static void exit(String service, Map<MethodDescriptor<byte[], byte[]>, Method> methods)
      throws IOException, InterruptedException {
    ServerServiceDefinition.Builder definition = ServerServiceDefinition.builder(service);
    methods.forEach(
        (name, method) -> definition.addMethod(name, (call, headers) -> new Request(call, method)));
    Server server =
        NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
            .directExecutor()
            .maxInboundMessageSize(Integer.MAX_VALUE)
            .maxConcurrentCallsPerConnection(Integer.MAX_VALUE)
            .addService(definition.build())
            .build()
            .start();
    System.out.println(server.getPort());
    System.out.flush();
    while (System.in.read() >= 0) {
      // Input is ignored. Its end means that the client has ended.
    }
    System.exit(server.shutdownNow().awaitTermination(END_SECONDS, TimeUnit.SECONDS) ? 0 : 1);
  }

  /// One call, on the event loop.
  private static final class Request extends ServerCall.Listener<byte[]> {
    private final ServerCall<byte[], byte[]> call;
    private final Method method;
    private byte[] request = {};

    Request(ServerCall<byte[], byte[]> call, Method method) {
      this.call = call;
      this.method = method;
      call.request(2); // The message, and the end of the stream.
    }

    @Override
    public void onMessage(byte[] message) {
      request = message;
    }

    @Override
    public void onHalfClose() {
      try {
        method.serve(request, this::answer);
      } catch (IllegalArgumentException e) {
        call.close(Status.DATA_LOSS.withDescription(e.getMessage()), new Metadata());
      }
    }

    private void answer(byte[] message) {
      call.sendHeaders(new Metadata());
      call.sendMessage(message);
      call.close(Status.OK, new Metadata());
    }
  }
}
