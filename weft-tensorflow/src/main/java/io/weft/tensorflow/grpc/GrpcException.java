// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.grpc;

import java.io.Serial;

/// What TensorFlow's own runtime refused or did not do in time, in its words.
public final class GrpcException extends IllegalStateException {

  @Serial private static final long serialVersionUID = 1L;

  GrpcException(String message) {
    super(message);
  }
}
