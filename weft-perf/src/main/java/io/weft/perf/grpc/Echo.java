// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.grpc;

import io.grpc.MethodDescriptor;

/// The only method of `messages`. It answers bytes with a message of equal length.
final class Echo {

  static final String SERVICE = "weft.Echo";

  static final MethodDescriptor<byte[], byte[]> METHOD = Bytes.method(SERVICE, "Answer");

  private Echo() {}
}
