// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.tensorflow;

import static org.tensorflow.internal.c_api.global.tensorflow.TF_DEADLINE_EXCEEDED;
import static org.tensorflow.internal.c_api.global.tensorflow.TF_GetCode;
import static org.tensorflow.internal.c_api.global.tensorflow.TF_Message;
import static org.tensorflow.internal.c_api.global.tensorflow.TF_OK;

import io.weft.workloads.parameterserver.GraphException;
import org.tensorflow.internal.c_api.TF_Status;

/// What TensorFlow says of a call.
final class Statuses {

  private Statuses() {}

  /// Throws `GraphException` with TensorFlow's words unless it says OK.
  static void require(TF_Status status, String what) {
    int code = TF_GetCode(status);
    if (code != TF_OK) {
      throw new GraphException(
          what
              + (code == TF_DEADLINE_EXCEEDED ? " was not over in time: " : " failed: ")
              + TF_Message(status).getString());
    }
  }
}
