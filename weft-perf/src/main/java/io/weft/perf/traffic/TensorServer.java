// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.traffic;

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
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/// A parameter server of the peer `grpc`. It provides a worker's next tensors when all gradients of
/// the worker have arrived. Calls run on the event loop. The program prints its port and ends when
/// its standard input is closed.
public final class TensorServer {

  private static final int END_SECONDS = 10;

  private final int tensors;
  private final int bytes;
  private final Map<Integer, Worker> workers = new ConcurrentHashMap<>();

  private TensorServer(int tensors, int bytes) {
    this.tensors = tensors;
    this.bytes = bytes;
  }

  /// Exits with 0, with 1 if calls did not end in time.
  ///
  /// @param arguments number of tensors and size of each in bytes
  public static void main(String[] arguments) throws IOException, InterruptedException {
    TensorServer server =
        new TensorServer(Integer.parseInt(arguments[0]), Integer.parseInt(arguments[1]));
    System.exit(server.run(System.in, System.out));
  }

  private int run(InputStream end, PrintStream out) throws IOException, InterruptedException {
    Server server =
        NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
            .directExecutor()
            .maxInboundMessageSize(Integer.MAX_VALUE)
            .maxConcurrentCallsPerConnection(Integer.MAX_VALUE)
            .addService(
                ServerServiceDefinition.builder(Tensors.SERVICE)
                    .addMethod(Tensors.FETCH, (call, headers) -> new Request(call, this::fetch))
                    .addMethod(Tensors.BRING, (call, headers) -> new Request(call, this::bring))
                    .build())
            .build()
            .start();
    out.println(server.getPort());
    out.flush();
    while (end.read() >= 0) {
      // Input is ignored. Its end means that the client has ended.
    }
    return server.shutdownNow().awaitTermination(END_SECONDS, TimeUnit.SECONDS) ? 0 : 1;
  }

  private void fetch(ServerCall<byte[], byte[]> call, byte[] request) {
    Tensors.TensorKey key = Tensors.TensorKey.of(request);
    worker(key).when(key.before(), () -> answer(call, key.tensor(bytes)));
  }

  private void bring(ServerCall<byte[], byte[]> call, byte[] request) {
    Tensors.TensorKey key = Tensors.TensorKey.of(request);
    if (!key.hasTensor(request, bytes)) {
      throw new IllegalArgumentException("a gradient does not match its key");
    }
    worker(key).brought(key.step());
    answer(call, new byte[0]);
  }

  private Worker worker(Tensors.TensorKey key) {
    return workers.computeIfAbsent(key.worker(), fresh -> new Worker(tensors));
  }

  private static void answer(ServerCall<byte[], byte[]> call, byte[] message) {
    call.sendHeaders(new Metadata());
    call.sendMessage(message);
    call.close(Status.OK, new Metadata());
  }

  /// The action of a call on its request.
  private interface Work {
    void run(ServerCall<byte[], byte[]> call, byte[] request);
  }

  /// One call, on the event loop.
  private static final class Request extends ServerCall.Listener<byte[]> {
    private final ServerCall<byte[], byte[]> call;
    private final Work work;
    private byte[] request = {};

    Request(ServerCall<byte[], byte[]> call, Work work) {
      this.call = call;
      this.work = work;
      call.request(2); // The message, and the end of the stream.
    }

    @Override
    public void onMessage(byte[] message) {
      request = message;
    }

    @Override
    public void onHalfClose() {
      try {
        work.run(call, request);
      } catch (IllegalArgumentException e) {
        call.close(Status.DATA_LOSS.withDescription(e.getMessage()), new Metadata());
      }
    }
  }

  /// The state of a worker's gradients.
  private static final class Worker {
    private final int tensors;
    private final List<Runnable> early = new ArrayList<>();
    private int step = Tensors.NONE;
    private int here;
    private int complete = Tensors.NONE;

    Worker(int tensors) {
      this.tensors = tensors;
    }

    synchronized void brought(int ofStep) {
      here = ofStep == step ? here + 1 : 1;
      step = ofStep;
      if (here == tensors) {
        complete = ofStep;
        early.forEach(Runnable::run);
        early.clear();
      }
    }

    /// Runs `then` when the gradients of step `before` have arrived.
    synchronized void when(int before, Runnable then) {
      if (before == Tensors.NONE || before == complete) {
        then.run();
      } else {
        early.add(then);
      }
    }
  }
}
