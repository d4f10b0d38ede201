// SPDX-License-Identifier: Apache-2.0
/// The networks of `weft train --engine djl`, computed by DJL with PyTorch.
@NullMarked
package io.weft.workloads.djl;

import org.jspecify.annotations.NullMarked;
