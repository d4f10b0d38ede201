// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.grpc;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;

/// One unary call of a client. It runs on the event loop.
public final class UnaryCall extends ClientCall.Listener<byte[]> {
  private static final byte[] NOTHING = {};

  private final Ended ended;
  private byte[] answer = NOTHING;

  private UnaryCall(Ended ended) {
    this.ended = ended;
  }

  /// The receiver of the result.
  @FunctionalInterface
  public interface Ended {
    /// Receives the call's status and its answer, which is empty after a failure.
    void accept(Status status, byte[] answer);
  }

  /// Sends a request.
  public static void start(
      Channel channel, MethodDescriptor<byte[], byte[]> method, byte[] request, Ended ended) {
    ClientCall<byte[], byte[]> call = channel.newCall(method, CallOptions.DEFAULT);
    call.start(new UnaryCall(ended), new Metadata());
    call.request(2); // The message, and the end of the stream.
    call.sendMessage(request);
    call.halfClose();
  }

  @Override
  public void onMessage(byte[] message) {
    answer = message;
  }

  @Override
  public void onClose(Status status, Metadata trailers) {
    ended.accept(status, answer);
  }
}
