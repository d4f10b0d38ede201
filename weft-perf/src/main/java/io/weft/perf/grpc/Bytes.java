// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.grpc;

import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/// Methods of bytes there and bytes back, without code that somebody generated.
public final class Bytes {

  /// Hot path, but for the copies of gRPC's own making.
  private static final MethodDescriptor.Marshaller<byte[]> MARSHALLER =
      new MethodDescriptor.Marshaller<>() {
        /// gRPC asks a stream of this type how long it is and copies it once.
        @Override
        public InputStream stream(byte[] message) {
          return new ByteArrayInputStream(message);
        }

        /// What arrived knows its length.
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

  /// The method of this name.
  public static MethodDescriptor<byte[], byte[]> method(String service, String name) {
    return MethodDescriptor.<byte[], byte[]>newBuilder()
        .setType(MethodType.UNARY)
        .setFullMethodName(MethodDescriptor.generateFullMethodName(service, name))
        .setRequestMarshaller(MARSHALLER)
        .setResponseMarshaller(MARSHALLER)
        .build();
  }
}
