// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.tensorflow;

import static org.tensorflow.internal.c_api.global.tensorflow.TF_DEADLINE_EXCEEDED;
import static org.tensorflow.internal.c_api.global.tensorflow.TF_GetCode;
import static org.tensorflow.internal.c_api.global.tensorflow.TF_Message;
import static org.tensorflow.internal.c_api.global.tensorflow.TF_OK;

import io.weft.workloads.parameterserver.GraphException;
import org.tensorflow.internal.c_api.TF_Status;

/// The check of the status of a call of TensorFlow.
final class Statuses {

  private Statuses() {}

  /// Throws `GraphException` with TensorFlow's message unless the status is OK.
  static void require(TF_Status status, String what) {
    int code = TF_GetCode(status);
    if (code != TF_OK) {
      throw new GraphException(
          what
              + (code == TF_DEADLINE_EXCEEDED ? " did not end in time: " : " failed: ")
              + TF_Message(status).getString());
    }
  }
}
