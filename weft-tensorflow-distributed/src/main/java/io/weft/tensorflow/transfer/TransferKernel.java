// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.transfer;

import io.weft.tensorflow.ffm.NodeKernels;

/// One end of one or several transfers, in one session.
sealed interface TransferKernel extends NodeKernels.NodeKernel permits SendKernel, ReceiveKernel {}
