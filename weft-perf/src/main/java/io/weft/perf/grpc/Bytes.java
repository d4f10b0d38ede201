// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.grpc;

import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/// The gRPC methods with bytes as request and response, without generated code.
public final class Bytes {

  /// Hot path, except for the copies that gRPC makes.
  private static final MethodDescriptor.Marshaller<byte[]> MARSHALLER =
      new MethodDescriptor.Marshaller<>() {
        /// Returns a stream of this type because gRPC takes its length and copies it once.
        @Override
        public InputStream stream(byte[] message) {
          return new ByteArrayInputStream(message);
        }

        /// Reads the whole message, whose stream knows its length.
        @Override
        public byte[] parse(InputStream stream) {
          try {
            return stream.readNBytes(stream.available());
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        }
      };

  private Bytes() {}

  /// Returns the method `name` of `service`.
  public static MethodDescriptor<byte[], byte[]> method(String service, String name) {
    return MethodDescriptor.<byte[], byte[]>newBuilder()
        .setType(MethodType.UNARY)
        .setFullMethodName(MethodDescriptor.generateFullMethodName(service, name))
        .setRequestMarshaller(MARSHALLER)
        .setResponseMarshaller(MARSHALLER)
        .build();
  }
}
