// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.grpc;

import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;

/// The program of rank 1. It answers each request with a message of equal number and length on the
/// event loop that read it. It prints its port and ends when its standard input is closed.
public final class EchoServer {

  private static final int END_SECONDS = 10;

  private EchoServer() {}

  /// Takes no arguments. Exits with 0, with 1 if calls did not end in time.
  public static void main(String[] none) throws IOException, InterruptedException {
    System.exit(run(System.in, System.out));
  }

  private static int run(InputStream end, PrintStream out)
      throws IOException, InterruptedException {
    Server server =
        NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
            .directExecutor()
            .maxInboundMessageSize(Integer.MAX_VALUE)
            .addService(
                ServerServiceDefinition.builder(Echo.SERVICE)
                    .addMethod(Echo.METHOD, (call, headers) -> answering(call))
                    .build())
            .build()
            .start();
    out.println(server.getPort());
    out.flush();
    while (end.read() >= 0) {
      // Input is ignored. Its end means that rank 0 has ended.
    }
    return server.shutdownNow().awaitTermination(END_SECONDS, TimeUnit.SECONDS) ? 0 : 1;
  }

  private static ServerCall.Listener<byte[]> answering(ServerCall<byte[], byte[]> call) {
    call.request(2); // The message, and the end of the stream.
    return new ServerCall.Listener<>() {
      private byte[] request = {};

      @Override
      public void onMessage(byte[] message) {
        request = message;
      }

      @Override
      public void onHalfClose() {
        int bytes = request.length;
        if (bytes < Numbered.FEWEST_BYTES
            || !Numbered.isRight(request, bytes, Numbered.number(request), Numbered.REQUEST)) {
          call.close(
              Status.DATA_LOSS.withDescription("a request does not match its number"),
              new Metadata());
          return;
        }
        call.sendHeaders(new Metadata());
        call.sendMessage(Numbered.message(bytes, Numbered.number(request), Numbered.ANSWER));
        call.close(Status.OK, new Metadata());
      }
    };
  }
}
